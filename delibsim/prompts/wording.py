"""The texts of a wording: which are needed, which fields are filled in, and how one is said."""

import functools
from collections.abc import Mapping, Sequence
from string import Template

from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.treatment import Wording

FIELDS = {
    "setting": ("group",),
    "speak": ("round", "rounds"),
    "words": ("words",),
    "reask": ("fault",),
    "left_out": ("omitted", "heard"),
}
"""The fields that are filled into the texts of a deliberation's wording, by text."""
TEXTS = (
    "setting",
    "persona",
    "you",
    "transcript",
    "survey_pre",
    "survey_post",
    "answers",
    "recall",
    "considerations",
    "preferences",
    "speak",
    "reask",
)
"""The texts that the wording of a deliberation needs."""
OPTIONAL_TEXTS = ("left_out", "words")
"""The texts that it may have."""
DEBATE_FIELDS = {
    "setting": ("least", "most"),
    "opening": ("least", "most"),
    "rebuttal": ("least", "most"),
    "closing": ("least", "most"),
    "reask": ("fault",),
}
"""The fields that are filled into the texts of a debate's wording, by text."""
DEBATE_TEXTS = (
    "setting",
    "persona",
    "you",
    "proposition",
    "opposition",
    "audience",
    "transcript",
    "preparation",
    "notes",
    "opening",
    "rebuttal",
    "closing",
    "survey_pre",
    "survey_post",
    "answers",
    "considerations",
    "reask",
)
"""The texts that the wording of a debate needs."""
LEFT_OUT = "Earlier statements are left out here: $omitted of the $heard that you have heard."
"""The text `left_out` of a wording that has none."""


def say(session: Session, name: str, **fields: object) -> str:
    """One text of the session's wording, filled in once.

    The values of fields are never read as templates themselves.
    """
    texts = session.wording.texts
    text = LEFT_OUT if name == "left_out" and name not in texts else texts[name]
    return _filled(text, *((field, str(value)) for field, value in fields.items()))


@functools.lru_cache(maxsize=1024)  # the same few sentences stand in every prompt
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()


def rehearse(session: Session) -> None:
    """Refuse a session whose wording lacks a text or has one that cannot be filled in;
    WrongInput.
    """
    wording = session.wording
    if session.format == "debate":
        rules = session.procedure.rules
        demands = () if rules is None else rules.demands()
        for name in demands:
            if name not in wording.texts:
                raise WrongInput(
                    f"procedure.rules.{name} is on, and wording '{wording.id}' has no text '{name}'"
                    f" to say it with; write that text into conf/wording/{wording.id}.yaml, or"
                    " leave the rule off"
                )
        refuse_unfilled(wording, (*DEBATE_TEXTS, *demands), DEBATE_FIELDS)
        return
    if session.procedure.words is not None and "words" not in wording.texts:
        raise WrongInput(
            f"wording '{wording.id}' lacks the text 'words', in which $words is filled in, and"
            f" procedure.words is {session.procedure.words}: add the text, or set"
            " procedure.words=null, and the wording alone says how long a speech is to be"
        )
    optional = [name for name in OPTIONAL_TEXTS if name in wording.texts]
    refuse_unfilled(wording, (*TEXTS, *optional), FIELDS)


def refuse_unfilled(
    wording: Wording, texts: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a wording that lacks a text, or has one that cannot be filled in with these fields;
    WrongInput.
    """
    for name in texts:
        if name not in wording.texts:
            raise WrongInput(
                f"wording '{wording.id}' lacks the text '{name}'; it needs: {', '.join(texts)}"
            )
        known = fields.get(name, ())
        where = f"wording '{wording.id}', text '{name}'"
        try:
            Template(wording.texts[name]).substitute(dict.fromkeys(known, ""))
        except KeyError as error:
            listed = ", ".join(f"${field}" for field in known) or "none"
            raise WrongInput(
                f"{where}: ${error.args[0]} is not filled in there; fields are: {listed}"
            ) from None
        except ValueError as error:
            raise WrongInput(f"{where}: {error}; a dollar sign is written $$") from None
