"""The nouns of asking about finished text: a question, a round of questions, a plan, a kind.

Everything that can be asked about a text that is there is a kind: which of two texts is stronger
(`kinds/pair.py`, the exemplar), how far a summary carries an opinion, which level a text has. A
kind says what is planned and asked; `road.py` asks, resumes, replays and estimates any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from delibsim.domain.annotation import Annotation
from delibsim.domain.reason import Reason, in_words
from delibsim.domain.text import counted
from delibsim.models.base import LanguageModel
from delibsim.models.limits import Limits
from delibsim.planning.load import Load
from delibsim.prompts.prompt import Prompt
from delibsim.store.runs import Runs

NOT_MISSING = "not_applicable"
"""The reason for a missing value that says something of the text and not of a fault."""
Key = Any
"""What tells an answer from all others of its task."""


class Answer(Protocol):
    """What a coder says about a unit of text: a key that no other answer has."""

    @property
    def key(self) -> Key:
        """What tells it from all others of its task."""
        ...


def nothing(reply: Annotation) -> Sequence[Answer]:
    """What is kept of a reply that is a step on the way to an answer."""
    return ()


@dataclass(frozen=True)
class Question:
    """One question to one coder about a `unit` of text.

    `prompt` makes the first prompt, `seed` gives the seed of a prompt (from names, so that a call
    is found again in the record), `again` what is said to an unreadable reply with this fault, at
    most `reasks` times. `keys` are those of the answers that the reply gives; `read` makes them.
    """

    unit: str
    prompt: Callable[[], Prompt]
    seed: Callable[[Prompt], int]
    again: Callable[[str], str]
    reasks: int
    keys: tuple[Key, ...] = ()
    read: Callable[[Annotation], Sequence[Answer]] = nothing


@dataclass(frozen=True)
class Round:
    """Questions to one coder that do not wait for one another. `changed` settings replace those of
    the coder, where it has them. `population` is the seed of the persons of a model that simulates
    persons; without it that of the task.
    """

    questions: Iterable[Question]
    changed: Mapping[str, Any] = field(default_factory=dict)
    population: int | None = None


@dataclass(frozen=True)
class Growth:
    """How what a study keeps of a task may grow: settings that never change (`fixed`), those of
    which more may come under other names (`named`), lists and tables to which more is added
    (`joined`), numbers that may only rise (`larger`), and what stays as it was begun (`kept`).

    `texts` names the table of texts that were asked about, by SHA-256; `come` and `go` say whether
    some may be new, and whether some may no longer be there.
    """

    fixed: tuple[str, ...]
    named: tuple[str, ...] = ("models",)
    joined: tuple[str, ...] = ()
    larger: tuple[str, ...] = ()
    kept: tuple[str, ...] = ("study",)
    texts: str = "texts"
    come: bool = False
    go: bool = False


@dataclass(frozen=True)
class Plan:
    """Who is to be asked what about the texts of a study.

    `answers` is the store of the kind, `models` are the settings of the coders by name, `task` what
    the study keeps, `about` what the kind needs to ask (texts as coders see them, designs,
    wordings). `notes` must be known, `warnings` say which coders may favour their own hand,
    `faults` name runs that cannot be read. `most_usd` is what the task may cost in all, None
    without such a rule.
    """

    kind: "Kind"
    runs: Runs
    answers: Any
    settings: Any
    models: Mapping[str, Mapping[str, Any]]
    limits: Limits
    addresses: Mapping[str, str]
    task: Mapping[str, Any]
    about: Any
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    most_usd: float | None = None

    @property
    def coders(self) -> list[str]:
        """Everybody who is asked."""
        return self.kind.coders(self)

    def answer_keys(self) -> dict[Key, str]:
        """The keys of all answers that are to be given, each with its coder."""
        found: dict[Key, str] = {}
        for coder in self.coders:
            found |= dict.fromkeys(self.kind.keys(self, coder), coder)
        return found


@dataclass(frozen=True)
class Outcome:
    """What came of asking: answers that are new and that were there before, calls that were made,
    answers without a value by reason, and why others could not be asked for.
    """

    new: int
    before: int
    asked: int
    missing: Mapping[str, int]
    faults: tuple[str, ...]
    usable: int

    @property
    def whole(self) -> bool:
        """Whether every answer has a value, or the question does not apply to its text."""
        return not self.faults and not set(self.missing) - {NOT_MISSING}

    def told(self, noun: str, head: str, label: str = "Missing") -> list[str]:
        """How many answers there are, behind what was asked (`head`), and which are missing and
        why.
        """
        new, calls = counted(self.new, noun), counted(self.asked, "call")
        lines = [f"{head}: {new} now, {self.before:,} before ({calls})"]
        return lines + [missing_in_words(n, noun, code, label) for code, n in self.missing.items()]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "new": self.new,
            "before": self.before,
            "calls": self.asked,
            "usable": self.usable,
            "missing": dict(self.missing),
        }


def missing_in_words(n: int, noun: str, code: str, label: str = "Missing") -> str:
    """How many answers are missing, and why, in one line."""
    return f"{label:<10} {counted(n, noun)}: {in_words(code)}"


def changed_since(kept: Mapping[str, str], now: Mapping[str, str], told: str) -> list[str]:
    """What is told of each text whose SHA-256 is not the one that was kept, or that is gone."""
    return [f"{id}: {told}" for id, sha256 in kept.items() if now.get(id) != sha256]


class Kind(ABC):
    """A kind of asking. `noun` is what one answer is called, `called` a task in words."""

    noun: ClassVar[str]
    called: ClassVar[str]
    growth: ClassVar[Growth]

    def coders(self, plan: Plan) -> list[str]:
        """Everybody who is asked, by name."""
        return list(plan.models)

    def model(self, plan: Plan, coder: str) -> str:
        """The name of the model that speaks for a coder."""
        return coder

    @abstractmethod
    def kept(self, runs: Runs, name: str) -> Plan:
        """The whole task as it was kept, for a replay; WrongInput where it has no record."""

    def as_kept(self, runs: Runs, answers: Any, about: Any) -> Plan:
        """A plan as the study kept it, whose models are asked nothing."""
        task = answers.files.task()
        return Plan(self, runs, answers, None, task["models"], Limits(), {}, task, about)

    @abstractmethod
    def keys(self, plan: Plan, coder: str) -> Iterable[Key]:
        """The keys of all answers that a coder is to give."""

    @abstractmethod
    def rounds(
        self, plan: Plan, coder: str, keys: set[Key], done: Mapping[Key, Any], faults: list[str]
    ) -> Iterator[Round]:
        """What is asked of a coder for these answers, one round after another.

        After each round `done` holds what its replies gave, so that the next may build on it. Why
        some of it cannot be asked is added to `faults`.
        """

    @abstractmethod
    def longest(self, plan: Plan) -> Prompt:
        """The longest prompt of a plan."""

    @abstractmethod
    def load(self, plan: Plan, coder: str, waiting: set[Key]) -> Load:
        """What a coder is asked for these answers; `Load.sessions` counts them."""

    @abstractmethod
    def named(self, answer: Any) -> str:
        """What an answer is about and by whom, in brief."""

    @abstractmethod
    def said(self, answer: Any) -> str:
        """What an answer says, in brief."""

    def plain(self, plan: Plan, outcome: Outcome) -> Mapping[str, Any]:
        """What came of asking, as plain values."""
        return outcome.plain()

    @abstractmethod
    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """The same in sentences."""

    def notes(self, plan: Plan) -> list[str]:
        """What must be known of those who answered."""
        return []

    def missing(self, answer: Any) -> Reason | None:
        """Why an answer has no value, or not all of it; None where it has."""
        return answer.missing

    def usable(self, answer: Any) -> bool:
        """Whether anything can be read from an answer, or the question does not apply to its
        text.
        """
        reason = self.missing(answer)
        return reason is None or reason.code == NOT_MISSING

    def unfit(self, plan: Plan) -> list[str]:
        """Why a plan cannot be asked at all, in sentences; nothing where it can."""
        return []

    def lost(self, plan: Plan) -> list[str]:
        """The texts that are not those that were asked about, in sentences."""
        return []

    def differs(self, plan: Plan, answers: Sequence[Any]) -> list[str]:
        """What else does not follow from the answers, given in the order in which they came."""
        return []

    def occasion(self, key: Key) -> str | None:
        """The occasion at which an answer is asked for, where each has one: then only that part of
        a long record is read.
        """
        return None

    def voice(self, coder: str) -> LanguageModel | None:
        """Who answers in the place of a coder that is no language model; None where it is one."""
        return None

    def at_most(self, plan: Plan) -> Plan:
        """The plan with all that may yet be asked for, for an estimate."""
        return plan

    def now(self, plan: Plan) -> Plan:
        """The plan with what was chosen while it was carried out."""
        return plan

    def waits(self, plan: Plan, done: Mapping[Key, Any]) -> bool:
        """Whether anything is still to be asked for."""
        return any(key not in done for key in plan.answer_keys())

    def ended(self, plan: Plan, done: Mapping[Key, Any]) -> None:  # noqa: B027 - most keep nothing
        """Keep why nothing is to be asked for, where a task keeps that."""

    async def course(self, asking: Any) -> list[str]:
        """Have everything asked that is waiting, by a `road.Asking`; why some could not be."""
        return await asking.all()
