"""What came of scoring a whole study: its measures by condition, and what must be known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from delibsim.analysis.averages import Averages, averages
from delibsim.analysis.calls import dropped_in
from delibsim.analysis.conditions import ByCondition, Collected, by_condition
from delibsim.conduct.score import (
    Scoring,
    Watch,
    measures_of,
    score_study,
    usual_scorers,
    without_scores,
)
from delibsim.conduct.texts import human_references, on_people
from delibsim.domain.condition import Condition
from delibsim.domain.run import Run, Session
from delibsim.domain.score import IndividualChange, Measure
from delibsim.planning.effects import Effects, effects_of
from delibsim.store.places import Account, account_of, on_branches
from delibsim.store.runs import Runs
from delibsim.store.session_files import unknown_sums
from delibsim.store.session_notes import SessionNotes


@dataclass(frozen=True)
class ScoredStudy:
    """A study that was scored: its measures by condition, what its sessions vary without effect,
    what was written, and the scorers without any score.

    `scorers` are those that were used, `asked_for` those of them that were named. `plans` are the
    sessions that were begun, `of` gives the condition of each by its name. `measures` are those
    that the scorers give of this study, by id. `moved` is the individual change of every
    participant, where it was asked for. `branches` tells of forks and probes, which are counted
    apart. `unknown` says that it is not known of some runs whether they were changed.
    """

    study: str
    account: Account
    scorers: Sequence[str]
    asked_for: Sequence[str]
    scoring: Scoring
    found: ByCondition
    effects: Effects
    without_scores: Sequence[str]
    plans: Sequence[Session]
    of: Mapping[str, Condition]
    measures: Mapping[str, Measure] = field(default_factory=dict)
    moved: Sequence[IndividualChange] = ()
    branches: Sequence[str] = ()
    unknown: str = ""

    @property
    def whole(self) -> bool:
        """Whether every run could be read, and scorers that were named gave some run a value."""
        nothing_valid = self.asked_for and not any(row.valid for row in self.found.means)
        return not (self.scoring.faults or nothing_valid)

    def doubts(self) -> list[str]:
        """What must be known before the tables are read, in sentences."""
        notice = self.account.notice()
        return [*([f"{notice}."] if notice else []), *self.effects.lines(), *self.branches]

    def remarks(self) -> list[str]:
        """What must be known of people's values, and which runs are left out, in sentences."""
        if not self.account.held:
            return self.left_out()
        beside_people = any(one.people is not None for one in self.found.means)
        pooled = self.found.on_people if beside_people else ()
        return [*pooled, *on_people(self.asked_for), *self.left_out()]

    def left_out(self) -> list[str]:
        """Which runs are left out, and of how many it is not known whether they were changed."""
        damaged = [f"left out, damaged: {fault}" for fault in self.scoring.faults]
        return [*damaged, self.unknown] if self.unknown else damaged

    def averages(self, by: Sequence[str]) -> Averages:
        """Its measures averaged over the conditions that share these columns of the design.

        WrongInput for a column that no session has.
        """
        return averages(self.found, by, self.of, self.plans)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        people = {name: vars(known) for name, known in human_references(self.asked_for).items()}
        return {
            "study": self.study,
            **self.found.plain(),
            **self.effects.plain(),
            **self.effects.recorded(),
            "not_begun": len(self.account.not_begun),
            "withdrawn": list(self.account.withdrawn),
            "unreadable": self.scoring.faults,
            "not_known_if_changed": self.unknown,
            "people": people,
            "files": list(map(str, self.scoring.files)),
            "without_scores": list(self.without_scores),
        }


def scored_study(
    runs: Runs, asked_for: Sequence[str], watch: Watch, individually: bool = False
) -> ScoredStudy:
    """Score the runs of a study by the scorers that were asked for, or by the usual ones.

    `individually` also tells how each participant changed.
    """
    from delibsim.analysis.individual_change import rows_of  # numpy, which no help needs

    scorers = asked_for or usual_scorers()
    account = account_of(runs)
    plans = dict(SessionNotes(runs).plans())
    collected = Collected(list(plans.values()))
    collected.add_withdrawn(account.withdrawn)
    dropped: dict[str, Mapping[str, Sequence[str]]] = {}
    moved: list[IndividualChange] = []

    def on_run(run: Run) -> None:
        collected.add_run(run)
        dropped[run.session.id] = dropped_in(run, runs)
        if individually:
            moved.extend(rows_of(run))

    scoring = Scoring([], [])
    if account.held:
        scoring = score_study(runs, scorers, collected.add_scores, on_run, watch, plans)
    held = [plan for plan in collected.plans if plan.id in dropped]
    effects = effects_of(collected.plans, held, dropped)
    return ScoredStudy(
        study=runs.study,
        account=account,
        scorers=scorers,
        asked_for=asked_for,
        scoring=scoring,
        found=by_condition(collected, effects.same, effects.alike),
        effects=effects,
        without_scores=without_scores(scorers, scoring.files) if account.held else [],
        plans=collected.plans,
        of=collected.of,
        measures=measures_of(scorers, runs),
        moved=moved,
        branches=on_branches(runs),
        unknown=unknown_sums(runs.folder, account.held),
    )
