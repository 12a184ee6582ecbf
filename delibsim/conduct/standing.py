"""How many sessions of a study are planned, begun and held, looked at again and again."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Standing:
    """How many sessions of a study are planned, begun and held; `process` holds it now, "" if none
    does; `pace` is how many runs a minute were added since the standing was first taken.
    """

    planned: int
    begun: int
    held: int
    process: str = ""
    pace: float = 0.0

    @property
    def minutes_left(self) -> float | None:
        """An estimate of the minutes until all sessions are held; None without a pace."""
        return (self.planned - self.held) / self.pace if self.pace else None

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "held": self.held,
            "begun": self.begun,
            "planned": self.planned,
            "process": self.process,
            "a_minute": round(self.pace, 2),
            "minutes_left": self.minutes_left,
        }


class Watch:
    """Takes the standing of a study again and again, with the pace since the first time."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.started, self.first = time.monotonic(), standing(runs).held

    def look(self) -> Standing:
        """The standing of the study now."""
        seconds = time.monotonic() - self.started
        now = standing(self.runs)
        pace = (now.held - self.first) / seconds * 60 if seconds > 1 else 0.0
        return Standing(now.planned, now.begun, now.held, now.process, pace)


def standing(runs: Runs) -> Standing:
    """How many sessions of a study are planned, begun and held, and which process holds it."""
    begun, manifest = runs.sessions(), runs.manifest()
    planned = len(manifest.sessions) if manifest else 0
    return Standing(planned, len(begun), sum(map(runs.held, begun)), runs.holder())


def studies_in(root: Path) -> list[Runs]:
    """All studies of a folder, in order of name."""
    return [Runs.at(path.parent.resolve()) for path in sorted(root.glob("*/study.json"))]
