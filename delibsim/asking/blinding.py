"""Blinding: a debate as its raters read it, without a trace of who debates.

Speakers become A and B. What a speech says of the sides is put in those letters; names of models
and of those who make them, and words of being an AI, are taken out. What stays is the argument:
which side a speaker is on can be read, who it is cannot.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from delibsim.domain.annotation import Text, speeches_of
from delibsim.domain.data import patterns
from delibsim.domain.model_family import model_families
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import DISCLOSURE

REMOVED = "[removed]"
SOMEBODY = "[a participant]"
_WORDS = patterns("blinding")
_NUMBER = r"\d\w*(?:\.\d\w*)*"
VERSION = (
    rf"(?:{_NUMBER})?"
    rf"(?:[-_ ]v?{_NUMBER}|[-_.][a-z]?\d+\w*|[-_ ](?:{_WORDS['kinds']})\b(?:[-_]?{_NUMBER})?)*"
    r"\+?(?!\w)"
)
"""A regular expression of the version and the size that may follow the name of a model."""


def _any_of(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


_MASKED = _any_of(pattern for family in model_families() for pattern in family.masked)
_AS_NAMES = _any_of(name for family in model_families() for name in family.masked_as_names)
_EXACT = _any_of(pattern for family in model_families() for pattern in family.exact)
FAMILIES = re.compile(rf"\b(?:{_MASKED}){VERSION}", re.IGNORECASE)
"""Names of language models, and of their makers where these are known for nothing else: Google,
Meta and their like are also what debates are about.
"""
WORDS = re.compile(
    r"(?<!the )(?<!The )(?<!Magnum )\b"
    rf"(?:(?:{_AS_NAMES})(?! Scotia){VERSION}|(?:{_EXACT})\b)"
)
"""Names of models that are also words: taken out where they are written as names are."""
ORDINARY = frozenset(_WORDS["ordinary"].split("|"))
"""Words that any speech may hold.

They are not taken out for being a part, or the whole, of a debater's name.
"""
_MACHINES = rf"(?:{_WORDS['machines']})(?!\w)"
_TUNED = r"(?:fine[- ]?tuned|instruction[- ]tuned|pre[- ]?trained)"
_SOMEBODY_IS = (
    r"\b(?:(?:I|we|you|(?:my|our|the) (?:opponents?|other side)) (?:am|are|is)"
    r"|I['’]m|(?:we|you)['’]re)(?: (?:just|only|merely|also|both|not))?"
)
SELF = re.compile(
    rf"\b(?:as|being|like) (?:me, |just |merely |only )?(?:an?|one|another) (?:[\w-]+ )?{_MACHINES}"
    rf"|{_SOMEBODY_IS} (?:an? )?(?:[\w-]+ )?{_MACHINES}"
    rf"|\b(?:an? )?{_MACHINES} (?:like|such as) (?:me|us|you|myself|ourselves)\b"
    rf"|\b(?:we|us) {_MACHINES}"
    rf"|\bI(?:['’]ve| have| had)? (?:was|am|been|were) (?:\w+ly )?{_TUNED}\b"
    r"|\bmy (?:own )?(?:fine[- ]?tuning|pre[- ]?training|system prompt)\b",
    re.IGNORECASE,
)
"""Words of being a machine, or of the opponent's being one.

Those that break the rules of a debate (DISCLOSURE) are taken out besides.
"""
STUMP = re.compile(
    r"(?:\bchat[- ]?)?\[removed\](?:[-_.]?\d\w*(?:\.\d\w*)*|[-_]\w+|\+)*(?:[ -]\[removed\])*",
    re.IGNORECASE,
)
_EVERYDAY = r"(?!\s*\(?(?:that|to|of|on|part(?:y|ies)|leaders?|MPs?)\b|\s+\d|\s+in\s+parliament)"
"""What follows a proposition that is a sentence, and an opposition that is no side."""


def blinded(run: Run, first: Side) -> tuple[Statement, ...]:
    """The six speeches, scrubbed, under the names Speaker A and Speaker B; notes are left out.

    Speaker A is on the side `first`.
    """
    names = {side: f"Speaker {'A' if side == first else 'B'}" for side in SIDES}
    sides = {person.id: person.role for person in run.session.participants if person.role in SIDES}
    models = names_in(run.session)
    found = []
    for i, said in enumerate(speeches_of(run), 1):
        speaker = names[sides[said.turn.speaker]]
        text = scrubbed(said.text, names, models)
        found.append(Statement(Turn(i, said.turn.round, speaker), text))
    return tuple(found)


def scrubbed(text: str, names: dict[Side, str], models: Iterable[str] = ()) -> str:
    """A text in which the sides go by these names, and models and self-disclosure are removed.

    >>> names = {"proposition": "Speaker A", "opposition": "Speaker B"}
    >>> scrubbed("As an AI I say: the opposition is wrong.", names)
    '[removed] I say: Speaker B is wrong.'
    """
    text = without_models(text, models)
    for side, name in names.items():
        for pattern in SIDE_NAMES[side]:
            text = pattern.sub(name, text)
    return text


def without_models(text: str, models: Iterable[str] = ()) -> str:
    """A text without names of models, and without words of being one.

    >>> without_models("As an AI I agree with GPT-5.")
    '[removed] I agree with [removed].'
    """
    text = SELF.sub(REMOVED, DISCLOSURE.sub(REMOVED, text))
    for model in sorted(set(models), key=len, reverse=True):
        text = _own(model).sub(REMOVED, text)
    return STUMP.sub(REMOVED, WORDS.sub(REMOVED, FAMILIES.sub(REMOVED, text)))


def blinded_text(text: Text, session: Session) -> Text:
    """A statement of a session, and its context, without names of models and of participants.

    Participants are called `SOMEBODY`: who speaks to whom would tell who speaks.
    """
    models = names_in(session)
    present = (*session.participants, *session.invited)
    people = sorted((person.id for person in present), key=len, reverse=True)
    called = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in people))

    def blind(said: str) -> str:
        return without_models(called.sub(SOMEBODY, said), models)

    return replace(text, text=blind(text.text), context=tuple(map(blind, text.context)))


def _side_names(side: Side) -> tuple[re.Pattern[str], ...]:
    """What a side is clearly called: "this proposition" and "our opposition" may be any, "this
    proposition side" is not.
    """
    called = side.capitalize()
    bench = rf"\b(?:(?:the|our|this) )?{side} (?:side|team|bench(?:es)?)\b|\bside {side}\b"
    if side == "proposition":
        bench += (
            r"|\b(?:the |our |this )?(?:proposing (?:side|team|bench)|government"
            r" bench(?:es)?)\b|\bside government\b"
        )
    return (
        re.compile(bench, re.IGNORECASE),
        re.compile(rf"\bthe {side}\b{_EVERYDAY}", re.IGNORECASE),
        re.compile(rf"\b(?:[Tt]his |[Oo]ur )?{called}\b{_EVERYDAY}"),
    )


SIDE_NAMES = {side: _side_names(side) for side in SIDES}


def _own(name: str) -> re.Pattern[str]:
    """The name of a model however its parts are joined, with whatever version follows it."""
    whole = r"[\W_]{0,2}".join(re.findall(r"[^\W\d_]+|\d+", name))
    return re.compile(rf"(?<!\w){whole}{VERSION}", re.IGNORECASE)


def names_in(session: Session) -> list[str]:
    """The names under which a session's models are known, whole and without their numbers.

    Ordinary words are no names.
    """
    found = set()
    for name, settings in session.voices.items():
        model = str(settings.get("model", ""))
        last = model.rpartition("/")[2]
        house = re.match(r"[^\W\d_]{5,}", last)
        for known in (name, model, last, house[0] if house else ""):
            words = re.findall(r"[^\W\d_]{2,}", known)
            telling = [word for word in words if word not in ("reasoning", "preview")]
            found |= {known, " ".join(words), " ".join(telling)}
    return sorted(filter(_is_name, found))


def _is_name(name: str) -> bool:
    """Whether this is a name, and no ordinary word and no stump of a name."""
    ordinary = " " not in name and name.lower() in ORDINARY
    return not ordinary and re.search(r"[^\W_]{2}", name) is not None
