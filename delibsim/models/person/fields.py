"""What a page asks of a person, as nouns that travel as JSON: what is told, and the fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.rules import Rules
from delibsim.domain.scheme import LevelValue

Kind = Literal["scale", "rank", "slider", "number", "choice", "words"]
Asking = Literal[
    "survey", "vote", "speech", "words", "stance", "ballot", "pair", "code", "verdict", "label"
]
Given = Mapping[str, list[str]]
"""The fields of a form as a browser sends them."""
Faults = Mapping[str, tuple[str, Mapping[str, object]]]
"""What is wrong, by field: the key of a text of pages, and the values that are put into it."""
TEXT = "text"
"""The name of the field that holds a speech or a statement."""
LONGEST = 2_000
"""Words of a text for which a form sets no limit."""


@dataclass(frozen=True)
class Block:
    """A part of what is told.

    `quoted` where it is what somebody has said or written, with the `speaker` where one is named;
    `tag` is the mark under which language models are told it.
    """

    text: str
    quoted: bool = False
    tag: str = ""
    speaker: str = ""
    round: int = 0


@dataclass(frozen=True)
class Option:
    """One thing that can be chosen: what a reply says for it, and what the prompt says of it."""

    value: LevelValue
    text: str = ""


@dataclass(frozen=True)
class Field:
    """One thing that is asked: a number from `low` to `high` (on a scale, on a slider, or any), a
    rank, one of the `options`, or words.

    `name` is the label of the reply, which no page shows; `label` is what people call it, and
    `speaker` the letter of whom it is about. `text` are words of the prompt; where it says nothing
    of the field alone, `asked` is the key of a text of pages. `ends` are the words of the prompt
    for the two ends of a slider. `before` is what the person answered in the first survey, where
    the prompt shows it, or the speech that is asked for again. `unless` names a field and the value
    of it with which nothing is asked here.
    """

    name: str
    kind: Kind
    text: str = ""
    low: int = 0
    high: int = 0
    before: str = ""
    asked: str = ""
    options: tuple[Option, ...] = ()
    unless: tuple[str, str] | None = None
    label: str = ""
    speaker: str = ""
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Questionnaire:
    """One request as a page shows it.

    `lead` is what is told right before the fields. `ends` names the two ends of the scale;
    `headings` are those of kinds of fields; `counts` says how often each number of a forced
    distribution is to be given. A text has `least` to `most`
    words, and one of more than `longest` is not taken. A speech that breaks one of the `rules` is
    taken, and asked for again as models are asked for theirs.
    """

    asking: Asking
    occasion: str
    blocks: tuple[Block, ...]
    fields: tuple[Field, ...]
    ends: tuple[str, str] = ("", "")
    counts: tuple[tuple[int, int], ...] = ()
    least: int = 0
    most: int = LONGEST
    longest: int = LONGEST
    rules: Rules | None = None
    headings: tuple[tuple[Kind, str], ...] = ()
    lead: str = ""

    def heading(self, field: Field) -> str:
        """The heading of the fields of this kind, in the words of the prompt; "" without one."""
        return dict(self.headings).get(field.kind, "")

    def of(self, kind: Kind) -> tuple[Field, ...]:
        """The fields of a kind, in order."""
        return tuple(field for field in self.fields if field.kind == kind)


class Incomplete(ValueError):
    """A form with something missing or wrong."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults
