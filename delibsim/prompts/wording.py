"""The texts of a wording: which are needed, which fields are filled in, and how one is said."""

import functools
from collections.abc import Mapping, Sequence
from string import Template

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.treatment import Wording

TEXTS = read_data("wording_texts.yaml")
"""The texts of a wording that coders, raters and judges read, by who reads them."""
USUAL: Mapping[str, str] = read_data("prompts.yaml")["session"]
"""Texts of sessions that a wording need not have."""


def worded(wording: Wording, name: str, **fields: str) -> str:
    """One text of a wording, filled in once; people read the same as language models."""
    return _filled(wording.texts[name], *fields.items())


def say(session: Session, name: str, **fields: object) -> str:
    """One text of the session's wording, filled in once.

    The values of fields are never read as templates themselves.
    """
    text = session.wording.texts.get(name) or USUAL[name]
    return _filled(text, *((field, str(value)) for field, value in fields.items()))


@functools.lru_cache(maxsize=1024)  # the same few sentences stand in every prompt
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()


def rehearse(session: Session) -> None:
    """Refuse a wording that lacks a text or has one that cannot be filled in; WrongInput."""
    wording, format = session.wording, session.kind
    demands = _demands(session)
    for name in demands:
        if name not in wording.texts:
            raise WrongInput(
                f"procedure.rules.{name} is on, and wording '{wording.id}' has no text '{name}' to"
                f" say it with; write that text into conf/wording/{wording.id}.yaml, or leave the"
                " rule off"
            )
    if session.procedure.words is not None and "words" not in wording.texts:
        raise WrongInput(
            f"wording '{wording.id}' lacks the text 'words', in which $words is filled in, and"
            f" procedure.words is {session.procedure.words}: add the text, or set"
            " procedure.words=null, and the wording alone says how long a speech is to be"
        )
    optional = [name for name in format.optional_texts if name in wording.texts]
    refuse_unfilled(wording, (*format.texts, *optional, *demands), format.fields)


def _demands(session: Session) -> tuple[str, ...]:
    """The demands of the rules on speeches; there are none without sides."""
    rules = session.procedure.rules
    return rules.demands() if session.kind.sides and rules is not None else ()


def refuse_unfilled(
    wording: Wording, texts: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a wording without these texts, or with other fields in one; WrongInput."""
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
