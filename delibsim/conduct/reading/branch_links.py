"""Which runs belong together: where a run branches off another, which branches it has and its
course over probes; which runs are compared.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations

from delibsim.analysis.forks import (
    ITEM,
    ForkEffect,
    notes_on_effects,
    notes_over_runs,
    shown,
    tables_of_effects,
    tables_over_runs,
    unmeasured,
)
from delibsim.analysis.table import DisplayTable
from delibsim.conduct.forks import RunCourse, course_of
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.listing import HELD
from delibsim.domain.branching import SEED_ALONE, told_apart
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.study import natural
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text
from delibsim.store.places import branches_of
from delibsim.store.runs import Runs
from delibsim.store.session_files import FORKS, PROBES

OF_SUMMARY = ("dri", "diversity", "consideration_agreement", "preference_agreement")
"""The measures whose course is drawn; the table has all."""


@dataclass(frozen=True)
class Fork:
    """A fork: its name, its number among those that are alike, and whether it was held."""

    session: str
    number: int
    held: bool


@dataclass(frozen=True)
class Change:
    """What forks that are alike have otherwise, in words, and these forks in their order."""

    differs: str
    forks: Sequence[Fork]


@dataclass(frozen=True)
class Branching:
    """A run that was forked: its study and name, and by turn the changes that forks begin there
    with, controls last.
    """

    study: str
    session: str
    turns: Sequence[tuple[int, Sequence[Change]]]

    @property
    def place(self) -> str:
        """The run as it is named."""
        return f"{self.study}/{self.session}"


def tree_of(forks: Runs) -> list[Branching]:
    """The forks of a study as a tree: by run, by the turn at which they branch off, and by what
    differs; where forks of a run at a turn have several seeds, by these too.
    """
    plans = {name: plan for name, plan in forks.plans_by_name().items() if plan.parentage}
    told = told_apart(plans.values())
    seeds: dict[tuple[str, int], set[int]] = {}
    for plan in plans.values():
        seeds.setdefault(_place(plan), set()).add(plan.seed)
    found: dict[str, dict[int, dict[str, list[Fork]]]] = {}
    for name in sorted(plans, key=natural):
        plan = plans[name]
        place, at = _place(plan)
        differs = told[plan.id]
        if len(seeds[place, at]) > 1:
            differs += f" (seed {plan.seed})"
        same = found.setdefault(place, {}).setdefault(at, {}).setdefault(differs, [])
        same.append(Fork(name, plan.replicate, forks.held(name)))
    trees = []
    for place, by_turn in found.items():
        turns = []
        for at in sorted(by_turn):
            changes = [Change(differs, own) for differs, own in by_turn[at].items()]
            turns.append((at, sorted(changes, key=lambda one: one.differs.startswith(SEED_ALONE))))
        study, _, session = place.rpartition("/")
        trees.append(Branching(study, session, turns))
    return trees


def _place(plan: Session) -> tuple[str, int]:
    """The run that a fork branches off, and the turn."""
    assert plan.parentage is not None
    return plan.parentage.place, plan.parentage.at


def labels_of(trees: Sequence[Branching]) -> dict[str, str]:
    """What stands for the name of a fork where people read it: the turn, what differs, its number;
    before it the run, where several were forked, or the fork that was forked again.
    """
    own, parents = {}, {}
    for tree in trees:
        for at, changes in tree.turns:
            for change in changes:
                for fork in change.forks:
                    own[fork.session] = f"at {at}: {change.differs}, fork {fork.number}"
                    parents[fork.session] = tree.session
    roots = {parent for parent in parents.values() if parent not in own}
    found = {}
    for session, label in own.items():
        parent = parents[session]
        while parent in own:
            label = f"{own[parent]}; {label}"
            parent = parents[parent]
        found[session] = f"{parent} {label}" if len(roots) > 1 else label
    return found


@dataclass(frozen=True)
class ForkEffects:
    """The effects of forks, as `delibsim fork` prints them: those in each run, those over runs as
    tables, names of measures, and what must be known of the forks and of effects over runs.
    """

    effects: Sequence[ForkEffect]
    labels: Mapping[str, str]
    over_runs: Sequence[DisplayTable]
    notes: Sequence[str]

    def told(self, place: str = "", at: int | None = None) -> tuple[list[DisplayTable], list[str]]:
        """The table of every change and what must be known of them, or those in one run, or at one
        turn of it.
        """
        wanted = []
        for one in self.effects:
            if place in ("", one.parent) and at in (None, one.at):
                wanted.append(one)
        notes = notes_on_effects(shown(wanted))
        notes += [] if place else self.notes
        return tables_of_effects(wanted, self.labels), notes


def effects_of(index: StudyIndex) -> ForkEffects:
    """The effects of the forks of a study, scored as `delibsim fork` scores them."""
    from delibsim.conduct.forks import fork_report  # scorers are slow to import

    found = fork_report(index.runs, keep=False)
    over = [one for one in found.over_runs if not one.measure.startswith(ITEM)]
    notes = [*notes_over_runs(over), *unmeasured(found.values, found.study)]
    notes += [f"left out, damaged: {fault}" for fault in found.faults]
    tables = tables_over_runs(found.over_runs, found.labels, False)
    return ForkEffects(found.effects, found.labels, tables, notes)


def course(runs: Runs, session: str) -> RunCourse | None:
    """The measures of a run from survey to survey, those in between and its probes; None where it
    has neither, or where one of them cannot be read.
    """
    folder = branches_of(runs, PROBES)
    plans: Sequence[Session] = () if folder is None else folder.plans()
    parents = {plan.parentage.session for plan in plans if plan.parentage is not None}
    try:
        if session not in parents and not runs.planned(session).wave_places:
            return None
        return course_of(runs, session)
    except Damaged:
        return None


FORK = "a fork with its run"
TREATMENTS = "one replicate under two treatments"


@dataclass(frozen=True)
class RunPair:
    """Two runs that were held: `a` is one of the study, `b` another of it, or (`forked`) a fork of
    `a`. `treatments` are those of `a` and `b`.
    """

    a: str
    b: str
    treatments: tuple[str, str]
    forked: bool = False


@dataclass(frozen=True)
class RunPairs:
    """The pairs of a study, and the kinds of which there are too many, with how many there are."""

    pairs: tuple[RunPair, ...] = ()
    too_many: Mapping[str, int] = field(default_factory=dict)


def comparisons_of(runs: Runs, most: int) -> RunPairs:
    """The pairs of runs of a study; none of a kind of which there are more than `most`."""
    plans = {name: plan for name, plan in runs.plans_by_name().items() if runs.held(name)}
    found: list[RunPair] = []
    too_many = {}
    for kind, pairs in ((FORK, _forks(runs, plans)), (TREATMENTS, _treatments(plans))):
        if len(pairs) > most:
            too_many[kind] = len(pairs)
        else:
            found += pairs
    return RunPairs(tuple(found), too_many)


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


def _forks(runs: Runs, plans: Mapping[str, Session]) -> list[RunPair]:
    folder = branches_of(runs, FORKS)
    found = []
    for name, fork in ({} if folder is None else folder.plans_by_name()).items():
        parent = "" if fork.parentage is None else fork.parentage.session
        if folder is not None and parent in plans and folder.held(name):
            treatments = plans[parent].treatment.name, fork.treatment.name
            found.append(RunPair(parent, name, treatments, forked=True))
    return found


def _treatments(plans: Mapping[str, Session]) -> list[RunPair]:
    """The pairs of runs that differ in their treatment and in nothing else that was chosen."""
    alike: dict[Hashable, list[tuple[str, Session]]] = {}
    for name, plan in plans.items():
        if plan.parentage is None:
            alike.setdefault(_all_but_treatment(plan), []).append((name, plan))
    return [pair for group in alike.values() for pair in _pairs(group)]


def _pairs(group: Iterable[tuple[str, Session]]) -> list[RunPair]:
    found = []
    for (first, one), (second, other) in combinations(group, 2):
        if one.treatment.name != other.treatment.name and _spoken_alike(one, other):
            found.append(RunPair(first, second, (one.treatment.name, other.treatment.name)))
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
