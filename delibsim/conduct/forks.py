"""Forking runs, and what forks and probes came to: their scores, the effect of what forks have
otherwise, and measures and answers turn by turn. What came before a turn is taken from the record,
what follows is held anew.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from delibsim.analysis.forks import (
    ITEM,
    AnswerAfter,
    ForkEffect,
    ForkValues,
    MeasureAfter,
    OverRuns,
    SurveyPoint,
    answers,
    effects_of_forks,
    effects_over_runs,
    readings,
)
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.conduct.replay import record_of
from delibsim.conduct.retry import addresses_now
from delibsim.conduct.score import Watch, score_study
from delibsim.conduct.scorers import measures_of, scores_of, usual_scorers
from delibsim.conduct.study import Notify, Prepared, closed_on_failure, hold_prepared, prepare
from delibsim.domain.branching import told_apart, what_differs
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Run, Session
from delibsim.domain.score import CATALOGUE, Measure, Score, of_whole_runs
from delibsim.domain.study import natural
from delibsim.domain.survey import Phase
from delibsim.models.base import OUTCOMES
from delibsim.models.limits import Limits
from delibsim.models.replay import Exchange
from delibsim.planning.compose import StudyPlan
from delibsim.planning.fork import Parent
from delibsim.planning.overrides import Sweep
from delibsim.plugins import load
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text
from delibsim.store.manifest import Manifest
from delibsim.store.places import Account, account_of, branches_of, inherit, is_of_branches
from delibsim.store.reading import file_bytes
from delibsim.store.runs import Runs
from delibsim.store.session_files import PROBES

Values = dict[tuple[str, str], dict[str, tuple[float, str]]]


@dataclass(frozen=True)
class RunCourse:
    """The course of one run: its measures and answers from survey to survey, the names of the
    measures, how many probes are planned and held, how many of these lack an answer, and the faults
    of those that cannot be read.
    """

    place: str
    planned: int
    held: int
    incomplete: int
    readings: Sequence[MeasureAfter]
    answers: Sequence[AnswerAfter]
    labels: Mapping[str, str]
    faults: Sequence[str]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "run": self.place,
            "probes_planned": self.planned,
            "probes_held": self.held,
            "probes_incomplete": self.incomplete,
            "trajectories": [reading.plain() for reading in self.readings],
            "answers": [answer.plain() for answer in self.answers],
            "unreadable": list(self.faults),
        }


NOT_RATED, TALK = "not_rated", "talk"
LATER = {measure.id for name in ("consensus", "ratings") for measure in CATALOGUE[name]}
"""Measures without a phase of what follows the survey after: a collective statement, ratings."""


@dataclass(frozen=True)
class ForkReport:
    """The forks of a study, scored: the plan and the status of each, what each gave, effects in
    each run and over runs that were forked alike, and the names of measures. `people` are
    conversations of people that were forked, by place, and `first` the first fork of each kind.
    """

    study: str
    account: Account
    plans: Mapping[str, Session]
    statuses: Mapping[str, str]
    values: Sequence[ForkValues]
    effects: Sequence[ForkEffect]
    over_runs: Sequence[OverRuns]
    labels: Mapping[str, str]
    faults: Sequence[str]
    people: Mapping[str, Run] = field(default_factory=dict)
    first: Mapping[str, Run] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        forks = []
        for name, plan in self.plans.items():
            forks.append(fork_plain(plan) | {"status": self.statuses.get(name)})
        return {
            "study": self.study,
            "planned": len(self.account.planned),
            "held": len(self.account.held),
            "forks": forks,
            "effects": [effect.plain() for effect in self.effects],
            "effects_over_runs": [effect.plain() for effect in self.over_runs],
            "unreadable": list(self.faults),
        }


def fork_plain(plan: Session) -> dict[str, Any]:
    """Where a branch comes from and what differs, as plain values, texts word for word."""
    parentage = plan.parentage
    return {
        "session": plan.id,
        "parent": None if parentage is None else parentage.place,
        "at": None if parentage is None else parentage.at,
        "differs": [difference.plain() for difference in what_differs(plan)],
        "seed": plan.seed,
        "replicate": plan.replicate,
    }


def fork_report(runs: Runs, watch: Watch | None = None, keep: bool = True) -> ForkReport:
    """Score the forks of a study and find the effect of what each has otherwise; scores are kept
    beside the forks unless told otherwise.
    """
    if not keep:
        with TemporaryDirectory(prefix="delibsim-") as folder:
            elsewhere = copy(runs)
            elsewhere.scored_in = Path(folder)
            return fork_report(elsewhere, watch)
    plans = runs.plans_by_name()
    ordered = {name: plans[name] for name in sorted(plans, key=natural)}
    people = _conversations(runs, plans.values())
    first: dict[str, Run] = {}
    scorers = usual_scorers()
    statuses: dict[str, str] = {}
    values: dict[str, dict[str, float]] = {name: {} for name in [*plans, *people]}

    def on_run(run: Run) -> None:
        statuses[run.session.id] = run.status
        values[run.session.id] |= mean_answers(run)
        if (of := run.session.parentage) and of.place in people:
            values[run.session.id] |= _of_talk(run)
            first.setdefault(run.session.cell, run)

    def take(_: str, scores: Sequence[Score]) -> None:
        for score in of_whole_runs(scores):
            if _is_after(score) and score.target in values:
                values[score.target][score.measure] = score.value

    scoring = score_study(runs, scorers, take, on_run, watch, plans)
    told = told_apart(plans.values())
    found = []
    for name, plan in ordered.items():
        if name in statuses:
            found.append(_values(plan, values[name], told[plan.id]))
    for place, run in people.items():
        after = of_whole_runs(filter(_is_after, scores_of(run)))
        values[place] = mean_answers(run) | {one.measure: one.value for one in after}
        values[place] |= _of_talk(run)
    measures = measures_of([*scorers, TALK] if people else scorers, runs)
    effects = effects_of_forks(found, {place: values[place] for place in people})
    return ForkReport(
        study=runs.study,
        account=account_of(runs),
        plans=ordered,
        statuses=statuses,
        values=found,
        effects=effects,
        over_runs=_over_runs(effects, ordered, measures),
        labels={name: measure.label for name, measure in measures.items()},
        faults=scoring.faults,
        people=people,
        first=first,
    )


def _is_after(score: Score) -> bool:
    """Whether a score is of what follows the deliberation."""
    return (score.phase == "post" or score.measure in LATER) and score.note != NOT_RATED


def _of_talk(run: Run) -> dict[str, float]:
    """How a run was talked in, by measure."""
    return {one.measure: one.value for one in of_whole_runs(scores_of(run, [TALK]))}


def _conversations(runs: Runs, plans: Iterable[Session]) -> dict[str, Run]:
    """The conversations of people that were forked, by place, as far as they are there."""
    found: dict[str, Run] = {}
    root = runs.folder.parents[is_of_branches(runs)]
    for plan in plans:
        before, place = plan.before, plan.parentage.place if plan.parentage else ""
        if before is None or before.parentage or before.conversation is None or place in found:
            continue
        study, _, session = place.rpartition("/")
        if (parent := Runs(root, study)).held(session):
            found[place] = parent.run(session)
    return found


def _over_runs(
    effects: Sequence[ForkEffect], plans: Mapping[str, Session], measures: Mapping[str, Measure]
) -> list[OverRuns]:
    surveys = {}
    for plan in plans.values():
        if plan.parentage is not None:
            surveys[plan.parentage.place] = plan.survey.id
    comparable = {name for name, measure in measures.items() if measure.comparable}
    return effects_over_runs(effects, surveys, comparable)


def mean_answers(run: Run, phase: Phase = "post") -> dict[str, float]:
    """The mean answer to every item of a survey over participants; NaN where one is missing; none
    where nobody was surveyed.
    """
    after = [response for response in run.responses if response.phase == phase]
    found: dict[str, float] = {}
    for item in run.session.survey.items if after else ():
        given = [response.answers.get(item.id) for response in after]
        known = [value for value in given if value is not None]
        whole = known and len(known) == len(given)
        found[f"{ITEM}{item.id}"] = fmean(known) if whole else nan
    return found


def _values(plan: Session, values: Mapping[str, float], told: str) -> ForkValues:
    parentage = plan.parentage
    differences = what_differs(plan)
    differs = told if differences else ""
    change = json_text([one.plain() for one in differences]) if differences else ""
    measures = {name: value for name, value in values.items() if not name.startswith(ITEM)}
    ordered = measures | {name: value for name, value in values.items() if name not in measures}
    return ForkValues(
        session=plan.id,
        parent="" if parentage is None else parentage.place,
        at=0 if parentage is None else parentage.at,
        cell=plan.cell,
        differs=differs,
        seed=plan.seed,
        replicate=plan.replicate,
        values=ordered,
        change=hashlib.sha256(change.encode()).hexdigest()[:16] if change else "",
    )


OF_THE_PROCESS = ("base_url=", "limits")
"""What settings begin with that are for this process, and recorded nowhere."""


@dataclass(frozen=True)
class Branches:
    """Branches of one run that can be held: their plans, the study they lie in, and the record of
    the run before each, by name.
    """

    plan: StudyPlan
    runs: Runs
    past: Mapping[str, Sequence[Exchange]]


def parent_of(runs: Runs, session: str) -> Parent:
    """The run that is branched off; WrongInput if it cannot be read."""
    run = runs.run(session)
    sha256 = hashlib.sha256(file_bytes(runs.path(session) / "run.json")).hexdigest()
    return Parent(run, runs.study, sha256)


def branches(
    sessions: Sequence[Session],
    parent: tuple[Runs, str],
    runs: Runs,
    limits: Limits,
    settings: Sequence[str],
    addresses: Mapping[str, str] | None = None,
) -> Branches:
    """Branches of a run, to lie in the study `runs`, with the part of its record that each has.

    Models are reached at the addresses of now. WrongInput where the record lacks a call.
    """
    record = record_of(*parent)
    before: dict[int, list[Exchange]] = {}
    past = {}
    for session in sessions:
        if session.parentage is None:
            raise WrongInput(f"{session.id} is no branch of a run")
        at = session.parentage.at
        if at not in before:
            before[at] = [one for one in record if _is_before(one, session, at)]
        past[session.id] = before[at]
    own = [setting for setting in settings if setting.startswith(OF_THE_PROCESS)]
    reached = {**addresses_now(sessions, own), **(addresses or {})}
    names = tuple(session.id for session in sessions)
    manifest = Manifest(runs.study, {}, {}, names)
    plan = StudyPlan(tuple(sessions), runs.folder.parent, manifest, limits, reached, Sweep(()))
    return Branches(plan, runs, past)


async def prepare_branches(found: Branches, notify: Notify = lambda text: None) -> Prepared:
    """Check that branches can be held, freeze their study, and give each its part of the record.

    WrongInput, before anything is asked or paid, if one cannot be held.
    """
    prepared = await prepare(found.plan, found.runs, notify)
    async with closed_on_failure(prepared.pool):
        for session in prepared.waiting:
            records = [exchange.record() for exchange in found.past[session.id]]
            inherit(found.runs, session.id, records)
    return prepared


async def hold_branches(found: Branches, observer: Observer | None = None) -> list[SessionOutcome]:
    """Hold the branches of a run that have no run yet; the outcomes of all of them."""
    return await hold_prepared(await prepare_branches(found), observer)


def _is_before(exchange: Exchange, session: Session, at: int) -> bool:
    """Whether an exchange is an outcome, and lies before the branch that a session is."""
    before = session.position_of(exchange.purpose.occasion) < at
    return before and exchange.completion.status in OUTCOMES


def course_of(runs: Runs, session: str) -> RunCourse:
    """The course of a run, with all probes of it that are on record.

    The run and its probes are scored together, so that measures which depend on a population stand
    on one.
    """
    run = runs.run(session)
    last = max((said.turn.index for said in (*run.transcript, *run.silences)), default=0)
    probes, planned, faults = _probes(runs, session)
    points = [SurveyPoint(0, "survey before", run, "pre")]
    for wave, place in run.session.wave_places.items():
        points.append(SurveyPoint(place, "survey between", run, wave))
    for probe in probes:
        parentage = probe.session.parentage
        if parentage is not None:
            replicate = probe.session.replicate
            points.append(SurveyPoint(parentage.at - 1, "probe", probe, "post", replicate))
    points.append(SurveyPoint(last, "survey after", run, "post"))
    return RunCourse(
        f"{runs.study}/{session}",
        planned,
        len(probes),
        sum(map(_lacks_answers, probes)),
        readings(points, _values_of_surveys([run, *probes])),
        list(answers(points)),
        {name: measure.label for name, measure in measures_of(usual_scorers()).items()},
        faults,
    )


def probed(runs: Runs) -> list[str]:
    """The sessions of a study that were probed, in order of name."""
    found = branches_of(runs, PROBES)
    plans = [] if found is None else found.plans()
    parents = {plan.parentage.session for plan in plans if plan.parentage is not None}
    return sorted(parents & set(runs.sessions()), key=natural)


def _probes(runs: Runs, session: str) -> tuple[list[Run], int, list[str]]:
    """The probes of a run that are held, in order, how many are planned, and what is damaged."""
    folder = branches_of(runs, PROBES)
    if folder is None:
        return [], 0, []
    found, faults, planned = [], [], 0
    for name, plan in folder.plans_by_name().items():
        if plan.parentage is None or plan.parentage.session != session:
            continue
        planned += 1
        try:
            if folder.held(name):
                found.append(folder.run(name))
        except Damaged as error:
            faults.append(str(error))
    return sorted(found, key=_in_course), planned, faults


def _lacks_answers(probe: Run) -> bool:
    """Whether an answer to its survey is missing; what the run lacked before is no fault of it."""
    return any(response.missing for response in probe.responses if response.phase == "post")


def _in_course(run: Run) -> tuple[int, int]:
    parentage = run.session.parentage
    return (0 if parentage is None else parentage.at), run.session.replicate


def _values_of_surveys(runs: Sequence[Run]) -> Values:
    """Value and note of every measure of whole runs, by run and phase of the survey."""
    found: Values = {}
    for name in usual_scorers():
        scorer: Any = load("delibsim.scorers", name)
        for score in of_whole_runs(scorer.score(runs)):
            if score.phase and score.phase != "change":
                own = found.setdefault((score.target, score.phase), {})
                own[score.measure] = score.value, score.note
    for run in runs:
        for phase in run.session.waves:
            own = found.setdefault((run.session.id, phase), {})
            for item, mean in mean_answers(run, phase).items():
                own[item] = mean, "missing_answer" if isnan(mean) else ""
    return found
