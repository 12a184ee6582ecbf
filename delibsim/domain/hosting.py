"""Hosting: what a researcher declares before people come, and what every page then goes by."""

import hashlib
from dataclasses import dataclass
from typing import Literal

QuestionKind = Literal["choice", "several", "number", "scale", "text"]
NobodyComes = Literal["wait", "stand_in", "cancel"]
DropOut = Literal["silent", "stand_in"]
Withdrawal = Literal["delete", "pseudonymise"]


@dataclass(frozen=True)
class Question:
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
class Reception:
    """What people of one role read and agree to, what they are asked before they begin, and what
    they read at the end. Texts are Markdown.
    """

    consent: str = ""
    information: str = ""
    debriefing: str = ""
    checks: tuple[Question, ...] = ()
    questions: tuple[Question, ...] = ()

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
    people may learn which seats are models. `keep_days` is how long identities are kept. `panel` is
    the parameter in which a panel sends the id of a person, without whom an open link lets nobody
    in. `address` is that of the server, as people reach it. `raters` is
    what raters and coders are told instead; None: a text of the language of their pages.
    """

    language: str = "en"
    consent: str = ""
    information: str = ""
    debriefing: str = ""
    checks: tuple[Question, ...] = ()
    attempts: int = 2
    questions: tuple[Question, ...] = ()
    nobody_comes: NobodyComes = "wait"
    lobby: Limit = Limit()
    drop_out: DropOut = "silent"
    away: Limit = Limit()
    survey: Limit = Limit()
    turn: Limit = Limit()
    stand_in: str = "citizen"
    typing: float | None = 40.0
    models_known: bool = False
    withdrawal: Withdrawal = "delete"
    keep_days: int = 180
    expires_days: int = 30
    completion_code: str = ""
    completion_url: str = ""
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
    def consent_version(self) -> str:
        """The version of the consent of participants."""
        return self.participants.consent_version
