"""Replaying: a session held again with its recorded exchanges in the place of its models."""

from typing import Any, Literal

from delibsim.domain.run import Run
from delibsim.models.replay import Diverged, Exchange, Replay, exchanges_in
from delibsim.store.codec import Damaged, differences, run_to_plain
from delibsim.store.runs import Runs

Verdict = Literal["equal", "different", "diverged", "damaged"]
NOT_COMPARED = ("provenance", "dropped")
"""Fields of a run that say how it was held, not what was asked and answered."""


async def replay(runs: Runs, session: str) -> Run:
    """Hold a session again from its recorded exchanges; Diverged if it asks anything else."""
    from delibsim.engine.hold import hold  # Mesa takes half a second to import

    planned = runs.planned(session)
    exchanges, _ = exchanges_of(runs, session)
    return await hold(planned, {name: Replay(name, exchanges) for name in planned.models})


async def compare(runs: Runs, session: str) -> tuple[Verdict, list[str]]:
    """Whether a session that is held again from its record gives the run on disk, and what differs.

    "diverged" where another prompt was made than the recorded one, "damaged" where a file cannot be
    read.
    """
    try:
        again = await replay(runs, session)
        recorded = runs.run(session)
    except Diverged as error:
        return "diverged", str(error).splitlines()
    except Damaged as error:
        return "damaged", [str(error)]
    if again == recorded:
        return "equal", []
    changed = differences(_compared(recorded), _compared(again))
    return ("different", changed) if changed else ("equal", [])


def _compared(run: Run) -> dict[str, Any]:
    plain = run_to_plain(run)
    return {name: value for name, value in plain.items() if name not in NOT_COMPARED}


def exchanges_of(runs: Runs, session: str) -> tuple[list[Exchange], int]:
    """The readable exchanges of a session, in the order in which they were made, and how many lines
    of its log are not.
    """
    records, damaged = runs.exchanges(session)
    exchanges, unread = exchanges_in(records)
    return exchanges, damaged + unread
