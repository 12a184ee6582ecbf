"""Opinions and summaries on paper: questions, what their texts say of stance and minority, one
statement for many opinions, which summaries are planned, how they are judged, and what a judge is
trained on.
"""

import hashlib
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from delibsim.domain.annotation import Text
from delibsim.domain.data import patterns
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.reason import Reason
from delibsim.domain.seed import seed_of
from delibsim.domain.text import in_short, language, one_name

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


VOTED = {"agrees": 1, "disagrees": -1, "passes": 0}
"""What somebody may vote on an opinion, in words and as a number."""


@dataclass(frozen=True)
class Voter:
    """Somebody who voted on opinions: the opinion group that the source assigned ("" without one),
    and the votes in order: opinion, vote, and when, in seconds since 1970 as the source writes it
    ("" where that is not known). Of two votes on one opinion the later one holds.
    """

    id: str
    group: str = ""
    votes: tuple[tuple[str, int, str], ...] = ()

    @property
    def last(self) -> dict[str, int]:
        """The vote that holds on each opinion."""
        return {opinion: vote for opinion, vote, _ in self.votes}

    @property
    def holding(self) -> list[bool]:
        """Of each vote whether it holds."""
        places = {opinion: n for n, (opinion, _, _) in enumerate(self.votes)}
        return [places[opinion] == n for n, (opinion, _, _) in enumerate(self.votes)]


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


DIMENSIONS = ("rep", "inf", "neu", "pol")
"""Representativeness, informativeness, neutrality, use for policy."""
LABELS = {
    "rep": "representativeness",
    "inf": "informativeness",
    "neu": "neutrality",
    "pol": "policy approval",
}
SCALE = (1, 5)
"""The ends of a rating, and of a comparison: 1 the first is much better, 5 the second."""
_NAMES, _LEVELS = frozenset(DIMENSIONS), frozenset(range(SCALE[0], SCALE[1] + 1))
Asked = Literal["rating", "comparison", "both"]
ASKED: tuple[Asked, ...] = get_args(Asked)
Role = Literal["reader", "author"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Whether a judge is shown an opinion, or told that it is the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """What a judge sees at once: an opinion and a summary or, where `other` is not "", two of them,
    the first as A.

    `control` marks a summary that was written from other opinions: a placebo.
    """

    summary: str
    opinion: str
    other: str = ""
    control: bool = False

    @property
    def id(self) -> str:
        """The name of the sitting among those of its study.

        >>> Sitting("citizen 10.1.1", "o003").id
        'citizen 10.1.1 | o003'
        """
        both = (self.summary, self.other) if self.other else (self.summary,)
        return one_name(*both, self.opinion)


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge says at a sitting: whole numbers from 1 to 5 by dimension.

    `values` lack what is missing; where nothing was given they are empty, and `missing` says why.
    `first` says of people which of two summaries they had rated before, "" elsewhere.
    """

    sitting: Sitting
    judge: str
    values: Mapping[str, int] = field(default_factory=dict)
    missing: Reason | None = None
    first: str = ""

    def __post_init__(self) -> None:
        """Refuse values that are none, and judgments that are missing without a reason."""
        if not _LEVELS.issuperset(self.values.values()) or not _NAMES.issuperset(self.values):
            listed = ", ".join(f"{name} {value}" for name, value in self.values.items())
            raise WrongInput(f"{self._place}: {listed}: each must be a whole number from 1 to 5")
        if not self.values and self.missing is None:
            raise WrongInput(f"{self._place} needs either values or a reason why they are missing")

    @property
    def _place(self) -> str:
        return f"the judgment of '{self.judge}' on '{self.sitting.id}'"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others of its task."""
        return self.judge, self.sitting.id


Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
SHARES: Mapping[Part, float] = {"train": 0.7, "validation": 0.1, "test": 0.2}


@dataclass(frozen=True)
class Triple:
    """What a trained judge reads."""

    question: str
    opinion: str
    summary: str


@dataclass(frozen=True)
class Record:
    """What one rater gave a summary beside an opinion: y from 0 to 1 by dimension, without what is
    missing.

    `instance` is shared by the two summaries that a rater compared; `derived` marks the one whose
    scores come from the comparison.
    """

    triple: Triple
    rater: str
    instance: str
    scores: Mapping[str, float]
    derived: bool = False


@dataclass(frozen=True)
class TrainedScore:
    """What a trained judge gave a summary beside an opinion: y by dimension, as the network gave
    it. `key` is the hash of the texts and of the checkpoint.
    """

    summary: str
    opinion: str
    key: str
    values: Mapping[str, float]


def parts_by_rater(records: Sequence[Record], seed: int) -> dict[Part, list[Record]]:
    """Records in three parts, 70, 10 and 20% of the raters, drawn by the seed: no rater is in two.

    WrongInput where there are fewer raters than parts.
    """
    raters = sorted({one.rater for one in records})
    if len(raters) < len(PARTS):
        raise refused("too_few_raters", raters=len(raters), needed=len(PARTS))
    random.Random(seed).shuffle(raters)
    n = len(raters)
    test = max(1, round(SHARES["test"] * n))
    validation = max(1, round(SHARES["validation"] * n))
    part: dict[str, Part] = {}
    for place, rater in enumerate(raters):
        early: Part = "validation" if place < test + validation else "train"
        part[rater] = "test" if place < test else early
    return _divided(records, part)


def parts_without(records: Sequence[Record], question: str, seed: int) -> dict[Part, list[Record]]:
    """Records in parts with one question as the test: nothing is learnt from it, nor from those who
    judged it, and no rater is in two parts.

    WrongInput where there is no such question, or no other with raters of its own.
    """
    questions = sorted({one.triple.question for one in records})
    if question not in questions or len(questions) < 2:
        raise WrongInput(f"there are no records on '{question}' to leave out beside others")
    test = [one for one in records if one.triple.question == question]
    theirs = {one.rater for one in test}
    rest = [one for one in records if one.rater not in theirs]
    raters = sorted({one.rater for one in rest})
    if len(raters) < 2:
        raise WrongInput(
            f"without '{question}', and without the raters who judged it, {len(raters)} of"
            f" {len(raters) + len(theirs)} raters are left; two are needed"
        )
    random.Random(seed).shuffle(raters)
    validation = set(raters[: max(1, round(len(raters) / 8))])  # 10 of the 80%
    part: dict[str, Part] = {}
    for rater in raters:
        part[rater] = "validation" if rater in validation else "train"
    return _divided(rest, part) | {"test": test}


def seed_of_parts(name: str, seed: int) -> int:
    """The seed by which the raters of a training are drawn."""
    return seed_of("parts of a trained judge", name, seed)


def questions_of(records: Iterable[Record]) -> list[str]:
    """The questions of records, in order."""
    return sorted({one.triple.question for one in records})


def _divided(records: Iterable[Record], part: Mapping[str, Part]) -> dict[Part, list[Record]]:
    found: dict[Part, list[Record]] = {name: [] for name in PARTS}
    for one in records:
        found[part[one.rater]].append(one)
    return found
