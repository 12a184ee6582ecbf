"""Opinions and summaries on paper: questions, what their texts say of stance and minority, one
statement for many opinions, and which summaries are planned.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from delibsim.domain.annotation import Text
from delibsim.domain.data import patterns
from delibsim.domain.errors import WrongInput
from delibsim.domain.language import language
from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short

Kind = Literal["open", "stance"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STANCES = ("positive", "negative", "not sure")
MINORITIES = ("yes", "no", "not sure")
"""Whether one's view differs from that of most people, by one's own word."""
_WORDS = patterns("summaries")
OF_STANCE: Mapping[str, tuple[str, ...]] = _WORDS["of_stance"]
OF_MINORITY: Mapping[str, tuple[str, ...]] = _WORDS["of_minority"]


@dataclass(frozen=True)
class OpinionSet:
    """The opinions of a study on one question, in the order in which they came.

    Empty and wordless ones are among them; `spoken` leaves them out.
    """

    study: str
    question: str
    kind: Kind
    texts: tuple[Text, ...]

    __repr__ = in_short

    @property
    def spoken(self) -> tuple[Text, ...]:
        """The opinions that have a word: those that are summarised."""
        return tuple(text for text in self.texts if spoken(text.text))


def spoken(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def alike(text: str) -> str:
    """What two texts share that are the same but for case, white space and forms of characters
    (Unicode NFKC).

    >>> alike("We  PAY.") == alike("we pay.")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def stance_of(cell: str) -> str:
    """The stance in a cell, "" in an empty one; WrongInput for any other word.

    >>> stance_of("Against"), stance_of("")
    ('negative', '')
    """
    return _named(cell, OF_STANCE, "stance", STANCES)


def minority_of(cell: str) -> str:
    """What a cell says of minority, "" in an empty one; WrongInput for any other word.

    >>> minority_of("TRUE")
    'yes'
    """
    return _named(cell, OF_MINORITY, "minority", MINORITIES)


def stance_at(answer: int, low: int, high: int) -> str:
    """The stance of an answer on a scale cut at its midpoint.

    >>> [stance_at(answer, 1, 7) for answer in (3, 4, 5)]
    ['negative', 'not sure', 'positive']
    """
    twice = 2 * answer - low - high
    if twice == 0:
        return "not sure"
    return "positive" if twice > 0 else "negative"


def _named(cell: str, words: Mapping[str, tuple[str, ...]], what: str, known: Sequence[str]) -> str:
    said = " ".join(cell.casefold().split())
    if not said:
        return ""
    for name, others in words.items():
        if said in others:
            return name
    raise WrongInput(f"{what} '{cell.strip()}'; write {', '.join(known)}, or leave the cell empty")


Grouping = Literal["none", "stance", "themes"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
FLOORS = ("extractive", "themes")
"""The summarisers that copy sentences: offline, without a model, in every comparison."""
PEOPLE: str = _WORDS["people"]
COUNT = re.compile(
    rf"\b(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|a dozen|dozens of)\s+(?:of the"
    rf"\s+)?(?:{PEOPLE})\b|\b\d+\s+(?:out\s+)?of\s+(?:the\s+)?\d+\b",
    re.IGNORECASE,
)
"""A number of people or opinions, which summarisers are told not to mention."""
DECLINED = re.compile(rf"^\W*(?:{_WORDS['declined']})", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Slot:
    """One summary that is planned: by whom, of how many opinions, and which of its repetitions.

    `draw` counts the drawn subsets of a size and `run` the orders of its opinions, from 1; `group`
    is "" for the whole, else a stance or a theme.
    """

    model: str
    size: int
    draw: int = 1
    run: int = 1
    group: str = ""

    @property
    def id(self) -> str:
        """The name of the summary among those of its study.

        >>> Slot("citizen", 50, run=2, group="stance positive").id
        'citizen 50.1.2 stance positive'
        """
        named = f"{self.model} {self.size}.{self.draw}.{self.run}"
        return f"{named} {self.group}" if self.group else named

    @property
    def cell(self) -> tuple[int, int, int, str]:
        """What all summarisers are asked for alike."""
        return self.size, self.draw, self.run, self.group


@dataclass(frozen=True)
class Summary:
    """What a summariser wrote; `text` is "" where it is `missing`, which says why.

    Raises WrongInput for a summary with neither or both.
    """

    slot: Slot
    text: str = ""
    missing: Reason | None = None

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse summaries that are missing without a reason."""
        if bool(self.text.strip()) == (self.missing is not None):
            raise WrongInput(f"summary {self.slot.id} needs either a text or a reason")

    @property
    def key(self) -> Slot:
        """What tells it from all other summaries of its task."""
        return self.slot

    @property
    def id(self) -> str:
        """The name of its slot."""
        return self.slot.id

    @property
    def sha256(self) -> str:
        """SHA-256 of the text, word for word."""
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()

    @property
    def words(self) -> int:
        """Words between blanks."""
        return len(self.text.split())


def flags_of(text: str, spoken: str) -> list[str]:
    """What is odd about a summary of opinions in this language: "counts" (it names how many people
    or opinions there are), "declined" (it reads like a refusal), "other_language".

    >>> flags_of("Three people want a tram, and they say why they would like it.", "english")
    ['counts']
    """
    found = []
    if COUNT.search(text):
        found.append("counts")
    if DECLINED.search(text):
        found.append("declined")
    said = language(text)
    if spoken != "unknown" and said is not None and said != spoken:
        found.append("other_language")
    return found
