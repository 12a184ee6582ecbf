"""What probes of a run came to: its measures and everybody's answers, turn by turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from delibsim.analysis.forks import AnswerAfter, MeasureAfter, SurveyPoint, answers, readings
from delibsim.conduct.forks import mean_answers
from delibsim.conduct.score import measures_of, usual_scorers
from delibsim.domain.run import Run
from delibsim.domain.score import of_whole_runs
from delibsim.domain.study import natural
from delibsim.plugins import load
from delibsim.store.codec import Damaged
from delibsim.store.places import branches_of
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
        readings(points, _values([run, *probes])),
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


def _values(runs: Sequence[Run]) -> Values:
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
