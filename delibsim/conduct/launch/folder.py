"""How limits, budget and sessions are divided among workers."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delibsim.conduct.cost import account_of
from delibsim.conduct.outcome import SessionOutcome
from delibsim.domain.run import Session
from delibsim.models.limits import Limits, Overruns
from delibsim.store import codec
from delibsim.store.files import json_text, read_lines, write_atomically
from delibsim.store.runs import LAUNCHER, Runs

COUNTS = ("concurrency", "requests_per_minute", "tokens_per_minute", "budget_tokens")
"""The limits that are whole numbers and are divided."""


def most_workers(
    limits: Limits,
    wanted: int,
    largest: int = 1,
    usd: float | None = None,
    dearest: float = 0.0,
) -> int:
    """Among how many workers, at most `wanted`, limits can be divided so that the share of each
    lets a call of `largest` tokens through, and one that costs the `dearest` US dollars; `usd` are
    left.

    A gate lets a call that is larger than its limit through when nothing else was, so smaller
    shares would add up to too much.
    """
    most = [wanted]
    for calls in (limits.concurrency, limits.requests_per_minute):
        if calls is not None:
            most.append(calls)
    for tokens in (limits.tokens_per_minute, limits.budget_tokens):
        if tokens is not None:
            most.append(tokens // max(1, largest))
    if usd is not None and dearest > 0:
        most.append(int(min(usd / dearest, wanted)))
    return max(1, min(most))


def shares(limits: Limits, workers: int) -> list[Limits]:
    """What each of so many workers may use. The shares add up to the limits and never to more; no
    limit stays none.
    """
    usd = limits.budget_usd
    if usd is not None and workers > 1:
        usd = math.nextafter(usd / workers, 0.0)  # a quotient may have been rounded up
    divided = []
    for k in range(workers):
        counts = {name: _part(getattr(limits, name), workers, k) for name in COUNTS}
        divided.append(replace(limits, budget_usd=usd, **counts))
    return divided


def _part(whole: int | None, workers: int, k: int) -> int | None:
    """The share of worker `k`; the first workers take one more each until nothing remains."""
    return None if whole is None else whole // workers + (k < whole % workers)


def batches(sessions: Sequence[Session], workers: int) -> list[list[Session]]:
    """Sessions dealt out to workers like cards, so that every worker has its part of every
    combination of models and every topic.
    """
    dealt = sorted(sessions, key=lambda session: (sorted(session.models), session.topic.id))
    return [dealt[k::workers] for k in range(workers)]


REPORTED = ("status", "fault", "recorded", "asked", "damaged_lines", "unchecked")
"""The fields of an outcome that a worker reports."""


@dataclass(frozen=True)
class Launch:
    """One start of workers: the study, the name under which its folder is shared with them, what
    each of them may use, and by how much calls have exceeded their worst case before, by model.
    """

    folder: Path
    name: str
    limits: tuple[Limits, ...]
    overruns: Mapping[str, Overruns] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        """Where the batches lie, and what the workers, Hydra and the launcher write."""
        return self.folder / LAUNCHER / self.name

    def stop(self) -> None:
        """Ask all workers to stop in order: what is in flight is given up and recorded, and no
        session begun.
        """
        (self.place / "stop").touch()

    @property
    def stopped(self) -> bool:
        """Whether the workers were asked to stop."""
        return (self.place / "stop").exists()

    def batch(self, worker: int) -> list[Session]:
        """The sessions of one worker."""
        plans = (self.place / f"{worker}.batch.jsonl").read_bytes().splitlines()
        return [codec.session_from_json(plan) for plan in plans]

    def log(self, worker: int) -> Path:
        """The file in which one worker reports."""
        return self.place / f"{worker}.told.jsonl"

    def reported(self) -> dict[str, dict[str, Any]]:
        """What the workers have reported of the sessions that are over, by name; of a session that
        a second worker held again, the better outcome.
        """
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(self.place.glob("*.told.jsonl")):
            for line in read_lines(path)[0]:
                name = line.get("session")
                if name is not None and not found.get(name, {}).get("status"):
                    found[name] = line
        return found

    def outcomes(self, sessions: Sequence[Session], fault: str) -> list[SessionOutcome]:
        """What came of sessions: as reported, else as it lies on disk, else `fault`."""
        runs, reported = Runs.at(self.folder), self.reported()
        outcomes = []
        for session in sessions:
            if session.id in reported:
                outcomes.append(outcome_from_line(session, reported[session.id]))
            else:
                outcomes.append(SessionOutcome(session, None, runs.status(session.id), fault))
        return outcomes


def outcome_to_line(outcome: SessionOutcome) -> dict[str, Any]:
    """What a worker reports of a session that is over."""
    fields = {name: getattr(outcome, name) for name in REPORTED}
    return {"session": outcome.session.id, **fields}


def outcome_from_line(session: Session, line: Mapping[str, Any]) -> SessionOutcome:
    """What came of a session, from the line that a worker wrote."""
    return SessionOutcome(session, None, **{name: line[name] for name in REPORTED})


def write_batches(
    runs: Runs,
    sessions: Sequence[Session],
    limits: Limits,
    left: tuple[float | None, int | None],
    workers: int,
    overruns: Mapping[str, Overruns] | None = None,
) -> Launch:
    """Cut sessions into batches, written into the folder of the study, with a share of the limits
    for each; `left` is what may still be spent, in US dollars and tokens, and `overruns` by how
    much calls have exceeded their worst case before.
    """
    known = dict(overruns or {})
    dealt = batches(sessions, workers)
    remaining = replace(limits, budget_usd=left[0], budget_tokens=left[1])
    given = []
    for batch, share in zip(dealt, shares(remaining, workers), strict=True):
        given.append(share if left == (None, None) else _with_cost(share, runs, batch, known))
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    launch = Launch(runs.folder.resolve(), name, tuple(given), known)
    for worker, batch in enumerate(dealt):
        lines = []
        for session in batch:
            plain = {"schema": codec.SCHEMA, **codec.session_to_plain(session)}
            lines.append(f"{json_text(plain)}\n")
        write_atomically(launch.place / f"{worker}.batch.jsonl", "".join(lines))
    return launch


def _with_cost(
    share: Limits, runs: Runs, batch: Sequence[Session], overruns: Mapping[str, Overruns]
) -> Limits:
    """A share of the budget with what its batch has cost before added to it.

    A worker that is started anew counts everything its batch has cost.
    """
    account = account_of(runs, [session.id for session in batch], overruns)
    usd, tokens = account.spent_usd, account.spent_tokens
    return replace(
        share,
        budget_usd=None if share.budget_usd is None else share.budget_usd + usd,
        budget_tokens=None if share.budget_tokens is None else share.budget_tokens + tokens,
    )
