"""Where a run branches off another, which branches it has itself, and its course over probes."""

from collections.abc import Sequence
from dataclasses import dataclass

from delibsim.conduct.probes import Course, course_of
from delibsim.domain.branching import in_short
from delibsim.domain.run import Session
from delibsim.domain.study import natural
from delibsim.store.branch_folders import FORKS, PROBES
from delibsim.store.branches import branches_of
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs

OF_SUMMARY = ("dri", "diversity", "consideration_agreement", "preference_agreement")
"""The measures whose course is drawn; the table has all."""


@dataclass(frozen=True)
class Fork:
    """A fork of a run: its name, the first turn that may differ, what differs in short, and whether
    it was held.
    """

    session: str
    at: int
    differs: str
    held: bool


def forks_of(runs: Runs, session: str) -> list[Fork]:
    """The forks of a run, by the turn at which they branch off."""
    folder = branches_of(runs, FORKS)
    found = []
    for name, plan in ({} if folder is None else folder.plans_by_name()).items():
        if folder is None or plan.parentage is None or plan.parentage.session != session:
            continue
        found.append(Fork(name, plan.parentage.at, in_short(plan), folder.held(name)))
    return sorted(found, key=lambda fork: (fork.at, natural(fork.session)))


def by_turn(forks: Sequence[Fork]) -> list[tuple[int, list[Fork]]]:
    """The forks as a tree: the turns at which a run branches, and the forks of each."""
    found: dict[int, list[Fork]] = {}
    for fork in forks:
        found.setdefault(fork.at, []).append(fork)
    return list(found.items())


def course(runs: Runs, session: str) -> Course | None:
    """The measures of a run from survey to survey over its probes; None where it has none, or where
    one of them cannot be read.
    """
    folder = branches_of(runs, PROBES)
    plans: Sequence[Session] = () if folder is None else folder.plans()
    parents = {plan.parentage.session for plan in plans if plan.parentage is not None}
    if session not in parents:
        return None
    try:
        return course_of(runs, session)
    except Damaged:
        return None
