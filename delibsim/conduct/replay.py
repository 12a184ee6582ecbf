"""Replaying: a session held again with its recorded exchanges as every voice."""

from delibsim.domain.run import Run
from delibsim.engine.hold import hold
from delibsim.models.replay import Exchange, Replay, exchanges_in
from delibsim.store.runs import Runs


async def replay(runs: Runs, session: str) -> Run:
    """Hold a session again with its recorded exchanges as every voice; Diverged if it asks anything
    else.
    """
    planned = runs.planned(session)
    exchanges, _ = exchanges_of(runs, session)
    return await hold(planned, {name: Replay(name, exchanges) for name in planned.models})


def exchanges_of(runs: Runs, session: str) -> tuple[list[Exchange], int]:
    """The readable exchanges of a session, in the order in which they were made, and how many lines
    of its log are not.
    """
    records, damaged = runs.exchanges(session)
    exchanges, unread = exchanges_in(records)
    return exchanges, damaged + unread
