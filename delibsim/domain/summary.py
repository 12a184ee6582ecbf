"""Summaries on paper: one statement for many opinions, and which are planned."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal, get_args

from delibsim.domain.errors import WrongInput
from delibsim.domain.language import language
from delibsim.domain.reason import Reason

Grouping = Literal["none", "stance", "themes"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
FLOORS = ("extractive", "themes")
"""The summarisers that copy sentences: offline, without a model, in every comparison."""
PEOPLE = r"people|persons?|comments?|opinions?|respondents?|participants?|individuals?|citizens?"
COUNT = re.compile(
    rf"\b(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|a dozen|dozens of)\s+(?:of the"
    rf"\s+)?(?:{PEOPLE})\b|\b\d+\s+(?:out\s+)?of\s+(?:the\s+)?\d+\b",
    re.IGNORECASE,
)
"""A number of people or opinions, which summarisers are told not to mention."""
DECLINED = re.compile(
    r"^\W*(?:I(?:'m| am) sorry|I can(?:no|')t\b|I am unable|as an AI\b|unfortunately, I)",
    re.IGNORECASE,
)


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
    """What a summariser wrote; `text` is "" where it is missing, and then `reason` says why.

    Raises WrongInput for a summary with neither or both.
    """

    slot: Slot
    text: str = ""
    reason: Reason | None = None

    def __post_init__(self) -> None:
        """Refuse summaries that are missing without a reason."""
        if bool(self.text.strip()) == (self.reason is not None):
            raise WrongInput(f"summary {self.slot.id} needs either a text or a reason")

    @property
    def key(self) -> Slot:
        """What tells it from all other summaries of its task."""
        return self.slot

    @property
    def missing(self) -> Reason | None:
        """Why it is missing, as other answers about texts say it; None where it is not."""
        return self.reason

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
