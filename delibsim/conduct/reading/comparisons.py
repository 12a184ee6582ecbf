"""Which runs of a study belong beside each other: forks and their parents, and the runs of one
replicate under different treatments.
"""

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations

from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.overview import HELD
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.store.branch_folders import FORKS
from delibsim.store.branches import branches_of
from delibsim.store.files import json_text
from delibsim.store.runs import Runs

FORK = "a fork with its run"
TREATMENTS = "one replicate under two treatments"


@dataclass(frozen=True)
class Pair:
    """Two runs that were held: `a` is one of the study, `b` another of it, or (`forked`) a fork of
    `a`. `treatments` are those of `a` and `b`.
    """

    a: str
    b: str
    treatments: tuple[str, str]
    forked: bool = False


@dataclass(frozen=True)
class Comparisons:
    """The pairs of a study, and the kinds of which there are too many, with how many there are."""

    pairs: tuple[Pair, ...] = ()
    too_many: Mapping[str, int] = field(default_factory=dict)


def comparisons_of(runs: Runs, most: int) -> Comparisons:
    """The pairs of runs of a study; none of a kind of which there are more than `most`."""
    plans = {name: plan for name, plan in runs.plans_by_name().items() if runs.held(name)}
    found: list[Pair] = []
    too_many = {}
    for kind, pairs in ((FORK, _forks(runs, plans)), (TREATMENTS, _treatments(plans))):
        if len(pairs) > most:
            too_many[kind] = len(pairs)
        else:
            found += pairs
    return Comparisons(tuple(found), too_many)


def twins_of(index: StudyIndex, plan: Session) -> list[tuple[str, str]]:
    """The runs of one replicate with a run under other treatments, each with its treatment."""
    if not index.size():
        return []
    same = "topic = ? AND survey = ? AND model = ? AND replicate = ? AND seed = ?"
    values = [plan.topic.id, plan.survey.id, "+".join(plan.models), plan.replicate, str(plan.seed)]
    rows = index.rows(
        f"SELECT session FROM design WHERE {same} AND treatment <> ? AND status IN (?, ?)"
        " ORDER BY place",
        [*values, plan.treatment.name, *HELD],
    )
    found = []
    for (name,) in rows:
        with suppress(WrongInput):
            other = index.runs.planned(name)
            if _all_but_treatment(other) == _all_but_treatment(plan) and _spoken_alike(plan, other):
                found.append((name, other.treatment.name))
    return found


def _forks(runs: Runs, plans: Mapping[str, Session]) -> list[Pair]:
    folder = branches_of(runs, FORKS)
    found = []
    for name, fork in ({} if folder is None else folder.plans_by_name()).items():
        parent = "" if fork.parentage is None else fork.parentage.session
        if folder is not None and parent in plans and folder.held(name):
            treatments = plans[parent].treatment.name, fork.treatment.name
            found.append(Pair(parent, name, treatments, forked=True))
    return found


def _treatments(plans: Mapping[str, Session]) -> list[Pair]:
    """The pairs of runs that differ in their treatment and in nothing else that was chosen."""
    alike: dict[Hashable, list[tuple[str, Session]]] = {}
    for name, plan in plans.items():
        if plan.parentage is None:
            alike.setdefault(_all_but_treatment(plan), []).append((name, plan))
    return [pair for group in alike.values() for pair in _pairs(group)]


def _pairs(group: Iterable[tuple[str, Session]]) -> list[Pair]:
    found = []
    for (first, one), (second, other) in combinations(group, 2):
        if one.treatment.name != other.treatment.name and _spoken_alike(one, other):
            found.append(Pair(first, second, (one.treatment.name, other.treatment.name)))
    return found


def _all_but_treatment(plan: Session) -> Hashable:
    """What two runs must share to be one replicate: who takes part, what is asked, and the seed."""
    people = tuple((one.id, one.persona, one.model) for one in plan.participants)
    drawn = (plan.seed, plan.replicate, plan.topic.id, plan.survey.id, plan.wording.id)
    models = {name: dict(settings) for name, settings in plan.models.items()}
    return type(plan), drawn, people, plan.format, json_text(models)


def _spoken_alike(one: Session, other: Session) -> bool:
    """Whether two runs speak by the same rules. These mean nothing to a run in which nobody speaks,
    which is the control of all.
    """
    if not (one.treatment.interaction and other.treatment.interaction):
        return True
    rules = [(plan.procedure, plan.treatment.rounds, plan.consensus) for plan in (one, other)]
    return rules[0] == rules[1]
