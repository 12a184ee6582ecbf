"""How many sessions of a study are planned, begun and held, looked at again and again."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.study import natural
from delibsim.store.account import Account, account_of
from delibsim.store.branch_folders import BRANCHES
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts


@dataclass(frozen=True)
class StudyStanding:
    """The account of a study at one time.

    `process` is the number of the process that holds it, "" if none does; `pace` is how many runs
    a minute were added since it was first looked at.
    """

    account: Account
    process: str = ""
    pace: float = 0.0

    @property
    def minutes_left(self) -> float | None:
        """An estimate of the minutes until all sessions are held; None without a pace."""
        over = len(self.account.held) + len(self.account.withdrawn)
        left = len(self.account.planned) - over
        return left / self.pace if self.pace else None

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "held": len(self.account.held),
            "begun": len(self.account.begun),
            "planned": len(self.account.planned),
            "process": self.process,
            "a_minute": round(self.pace, 2),
            "minutes_left": self.minutes_left,
        }

    def line(self) -> str:
        """In one line."""
        held, planned = len(self.account.held), len(self.account.planned)
        begun = len(self.account.begun) - held - len(self.account.withdrawn)
        left = f", about {self.minutes_left:.0f} min left" if self.minutes_left else ""
        who = f"process {self.process} holds it" if self.process else "no process holds it now"
        return (
            f"{held}/{planned} sessions held, {begun} begun, {self.pace:.1f} a minute{left}; {who}"
        )


class Watch:
    """Looks at a study again and again, and measures the pace since it first did."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.started, self.first = time.monotonic(), len(account_of(runs).held)

    def look(self) -> StudyStanding:
        """The standing of the study now."""
        process, account = self.runs.holder(), account_of(self.runs)
        seconds = time.monotonic() - self.started
        pace = (len(account.held) - self.first) / seconds * 60 if seconds > 1 else 0.0
        return StudyStanding(account, process, pace)


def studies_in(root: Path) -> list[Runs]:
    """All studies of a folder, in order of name; forks and probes of one are a study too."""
    files = [*root.glob("*/study.json")]
    for kind in BRANCHES:
        files += root.glob(f"*/{kind}/study.json")
    return [Runs.at(path.parent.resolve()) for path in sorted(files)]


def counts_of_studies(root: Path) -> list[dict[str, Any]]:
    """All studies of a folder, with how many sessions of each are planned and held, and
    how many texts those of texts have.
    """
    rows = []
    for runs in sorted(studies_in(root), key=lambda runs: natural(runs.study)):
        account = account_of(runs)
        counts = {"sessions": len(account.planned), "held": len(account.held)}
        imported = StudyTexts(runs)
        texts = {"texts": imported.count()} if imported.held() else {}
        rows.append({"study": runs.study, **counts, **texts})
    return rows
