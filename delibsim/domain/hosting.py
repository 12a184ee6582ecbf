"""Presence: who gave a reply in a seat for people, as records call them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

PERSON = "person"
"""The kind of a model that is a person in a browser."""
A_PERSON = "a person"
STOPPED = "the person stopped here, to go on another time"
"""The reason of a call that a person at a terminal ended."""
"""What records call who answered, where it was a person."""
STAND_IN = "stand-in: "
"""What begins the name of a model that answered for a person."""
STOOD_IN = "stood_in"
"""The reason code of answers that a stand-in gave to a survey after a person."""


def named_stand_in(model: str) -> str:
    """What records call a model that answers for a person.

    >>> named_stand_in("citizen")
    'stand-in: citizen'
    """
    return f"{STAND_IN}{model}"


def stand_in_of(given_by: str | None) -> str:
    """The model that answered for a person; "" where none did.

    >>> stand_in_of("stand-in: citizen"), stand_in_of("a person"), stand_in_of(None)
    ('citizen', '', '')
    """
    given_by = given_by or ""
    return given_by.removeprefix(STAND_IN) if given_by.startswith(STAND_IN) else ""


QuestionKind = Literal["choice", "several", "number", "scale", "text"]
NobodyComes = Literal["wait", "stand_in", "cancel"]
DropOut = Literal["silent", "stand_in"]
Withdrawal = Literal["delete", "pseudonymise"]
Instructions = Literal["fold", "open"]
DONE, ENDED, SCREENED_OUT, TIMED_OUT, LEFT = "done", "ended", "screened_out", "timed_out", "left"
"""How a person's part ends: at the end; as the researcher ended it; by failed checks or a full
quota; because the lobby waited in vain; because she left or was away for too long.
"""


@dataclass(frozen=True)
class HostingQuestion:
    """One question of the researcher's own: who a person is, or whether she read what was told.

    `right` holds the answers that pass, by which a check differs from a question; `low` and `high`
    bound a number or a scale.
    """

    id: str
    text: str
    kind: QuestionKind = "choice"
    options: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    required: bool = True


@dataclass(frozen=True)
class Limit:
    """How long something may take, in minutes; None: as long as it takes.

    A limit that `binds` ends what it limits, and what was not handed in is missing; any other only
    informs.
    """

    minutes: float | None = None
    binds: bool = False


@dataclass(frozen=True)
class CompletionCode:
    """What a person takes back to a panel: a code, and the address that takes it."""

    code: str = ""
    url: str = ""


@dataclass(frozen=True)
class Quota:
    """How many people of a kind may enter: `most` of those who give this answer to a question of
    the researcher's own, or a number from `low` to `high`.
    """

    question: str
    most: int
    answer: str = ""
    low: int | None = None
    high: int | None = None

    def is_of(self, values: Mapping[str, str]) -> bool:
        """Whether somebody with these answers is of this kind; several are joined by "; ".

        >>> Quota("age", 5, low=16, high=29).is_of({"age": "29"})
        True
        >>> Quota("use", 5, answer="Bus").is_of({"use": "Train; Bus"})
        True
        """
        given = values.get(self.question, "")
        if self.answer:
            return self.answer in given.split("; ")
        if not given.removeprefix("-").isdecimal():
            return False
        above = self.low is None or int(given) >= self.low
        return above and (self.high is None or int(given) <= self.high)


@dataclass(frozen=True)
class Reception:
    """What people of one role read and agree to, what they are asked before they begin, and what
    they read at the end. Texts are Markdown.
    """

    consent: str = ""
    information: str = ""
    debriefing: str = ""
    checks: tuple[HostingQuestion, ...] = ()
    questions: tuple[HostingQuestion, ...] = ()

    @property
    def consent_version(self) -> str:
        """SHA-256 of the consent text, word for word; its first twelve digits.

        >>> Reception(consent="I take part.").consent_version
        '80f31313fba7'
        """
        return hashlib.sha256(self.consent.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Hosting:
    """How people are received and what becomes of a seat that is empty, all declared beforehand.

    Texts are Markdown. `nobody_comes` says what happens when a lobby has waited `lobby` minutes,
    `drop_out` what becomes of the seat of a person who was away for `away` minutes when it was her
    turn. `stand_in` names the model that takes an empty seat. `typing` is the words a minute at
    which the words of models appear; None: as soon as they are there. `models_known` says whether
    people may learn which seats are models. `instructions` says whether those of the treatment,
    where they are long and stood in full on a page before, are folded below a line that names them,
    or stand open on every page. `keep_days` is how long identities are kept. `panel` is the
    parameter in which a panel sends the id of a person, without whom an open link lets nobody in.
    `address` is that of the server, as people reach it. `completion_code` and `completion_url` are
    for who was there to the end, `codes` for other endings, by name; `quotas` bound how many of a
    kind may enter; `bonus` says what is earned by an ending, a `statement`, a `sheet` of a rater
    and a `waiting_minute`. `raters` is what raters and coders are told instead; None: a text of the
    language of their pages.
    """

    language: str = "en"
    consent: str = ""
    information: str = ""
    debriefing: str = ""
    checks: tuple[HostingQuestion, ...] = ()
    attempts: int = 2
    questions: tuple[HostingQuestion, ...] = ()
    nobody_comes: NobodyComes = "wait"
    lobby: Limit = Limit()
    drop_out: DropOut = "silent"
    away: Limit = Limit()
    survey: Limit = Limit()
    turn: Limit = Limit()
    stand_in: str = "citizen"
    typing: float | None = 40.0
    models_known: bool = False
    instructions: Instructions = "fold"
    withdrawal: Withdrawal = "delete"
    keep_days: int = 180
    expires_days: int = 30
    completion_code: str = ""
    completion_url: str = ""
    codes: Mapping[str, CompletionCode] = field(default_factory=dict)
    quotas: tuple[Quota, ...] = ()
    bonus: Mapping[str, Decimal] = field(default_factory=dict)
    contact: str = ""
    panel: str = ""
    address: str = ""
    raters: Reception | None = None

    @property
    def participants(self) -> Reception:
        """What participants are told and asked."""
        parts = self.consent, self.information, self.debriefing
        return Reception(*parts, self.checks, self.questions)

    @property
    def follows(self) -> str:
        """The model that follows who leaves; "" where the seat is silent from then on."""
        return self.stand_in if self.drop_out == "stand_in" else ""

    def limit(self, occasion: str) -> Limit:
        """The time that a person has on an occasion: a turn, or anything else."""
        return self.turn if occasion.startswith("turn ") else self.survey

    def completion(self, ending: str) -> CompletionCode:
        """What somebody whose part has this ending takes back to a panel.

        Who waited in vain, or whose group the researcher ended, was there: without a code of its
        own this is the one of the end.

        >>> Hosting(completion_code="C1").completion("timed_out").code
        'C1'
        >>> Hosting(completion_code="C1").completion("left").code
        ''
        """
        if ending in self.codes:
            return self.codes[ending]
        there = ending in (DONE, ENDED, TIMED_OUT)
        return (
            CompletionCode(self.completion_code, self.completion_url) if there else CompletionCode()
        )

    @property
    def consent_version(self) -> str:
        """The version of the consent of participants."""
        return self.participants.consent_version
