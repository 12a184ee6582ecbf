"""What a preregistration is made of: the plan of a study, its size, and how far it has come."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.score import Scorer
from delibsim.domain.text import counted
from delibsim.models.limits import Limits
from delibsim.planning.compose import Plan
from delibsim.planning.estimate import Estimate, estimate
from delibsim.plugins import load, names
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

BLANK = "**[FILL IN: {}]**"
"""What only the author of a study can write."""


@dataclass(frozen=True)
class Plans:
    """What the document is made of.

    `sessions` are the plans at hand, of all or some of those the manifest names; `scorers` what
    will be measured; `size` lines on the size of the sample by what they count; `begun` says how
    far the study has come, "" if nothing was asked yet; `power` is the analysis of power, "" where
    there is none.
    """

    manifest: Manifest
    sessions: Sequence[Session]
    scorers: Sequence[Scorer]
    size: Mapping[str, str]
    limits: Limits | None = None
    begun: str = ""
    power: str = ""


async def plans_of(planned: Plan, frozen: Manifest, runs: Runs) -> Plans:
    """What overrides plan, with its frozen manifest.

    WrongInput, as for the run itself, where the study has other settings.
    """
    runs.compare(frozen, planned.sessions)
    for session in planned.sessions:
        runs.compare_plan(session)
    begun, size = progress(runs), _size(planned.sessions)
    if not begun:
        found = await estimate(planned.sessions, runs, planned.limits, planned.addresses)
        size |= _expected(found)
    old = runs.manifest()
    return Plans(
        manifest=frozen if old is None else old.amended(frozen),
        sessions=planned.sessions,
        scorers=_scorers(),
        size=size,
        limits=planned.limits,
        begun=begun,
    )


def plans_of_study(runs: Runs) -> Plans:
    """What is frozen in a study that exists; its sessions as far as they are planned on disk."""
    manifest = runs.manifest()
    if manifest is None:
        raise WrongInput(f"{runs.folder} has no study.json")
    sessions = [runs.planned(name) for name in runs.sessions()]
    return Plans(manifest, sessions, _scorers(), _size(sessions), None, progress(runs))


def progress(runs: Runs) -> str:
    """How far a study has come; "" if nothing was asked yet."""
    paths = [runs.path(name) / "exchanges.jsonl" for name in runs.sessions()]
    logs = [path for path in paths if path.is_file() and path.stat().st_size]
    held = sum(map(runs.held, runs.sessions()))
    gone = sum(map(runs.withdrawn, runs.sessions()))
    if not logs and not held and not gone:
        return ""
    manifest = runs.manifest()
    since = manifest.begun.get("at", "an unknown time") if manifest else "an unknown time"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = counted(len(logs) + gone, "session")
    over = f"{held} of them over" + (f", {gone} withdrawn" if gone else "")
    return f"It began at {since}. At {now}, {asked} had been asked something; {over}."


def _size(sessions: Sequence[Session]) -> dict[str, str]:
    """The size of the sample."""
    seats = sum(len(session.participants) for session in sessions)
    return {
        "sessions": f"{len(sessions):,}",
        "participants, over all sessions": f"{seats:,}",
        "surveys answered": f"{2 * seats:,}",
    }


def _expected(found: Estimate) -> dict[str, str]:
    """The calls and the cost that are expected."""
    cost = f"{found.usd.low:,.2f} to {found.usd.high:,.2f} USD"
    if found.unpriced:
        cost = "unknown: a price is unknown"
    return {
        "calls to models, re-asks not counted": f"{found.total.calls:,}",
        "estimated cost": cost,
    }


def _scorers() -> list[Scorer]:
    return [load("delibsim.scorers", name) for name in names("delibsim.scorers")]


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table.

    >>> print(table(["topic", "n"], [("a|b", 2)]))
    | topic | n |
    | --- | --- |
    | a\|b | 2 |
    """
    lines = []
    for line in [heads, ["---"] * len(heads), *rows]:
        cells = [plain(str(cell)) for cell in line]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that stays in its cell and is no markup of its own."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def settings(content: Any) -> str:
    """Settings word for word, in a block that nothing in them can close."""
    lines = json.dumps(content, ensure_ascii=False, indent=1, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
