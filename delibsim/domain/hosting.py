"""Hosting: what a researcher declares before people come, and what every page then goes by."""

import hashlib
from dataclasses import dataclass
from typing import Literal

QuestionKind = Literal["choice", "several", "number", "scale", "text"]
NobodyComes = Literal["wait", "stand_in", "cancel"]
DropOut = Literal["silent", "stand_in"]
Withdrawal = Literal["delete", "pseudonymise"]
Instructions = Literal["fold", "open"]


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
    `address` is that of the server, as people reach it.
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
    instructions: Instructions = "fold"
    withdrawal: Withdrawal = "delete"
    keep_days: int = 180
    expires_days: int = 30
    completion_code: str = ""
    completion_url: str = ""
    contact: str = ""
    panel: str = ""
    address: str = ""

    @property
    def consent_version(self) -> str:
        """SHA-256 of the consent text, word for word; its first twelve digits.

        >>> Hosting(consent="I take part.").consent_version
        '80f31313fba7'
        """
        return hashlib.sha256(self.consent.encode()).hexdigest()[:12]
