"""What a study shows at a glance: its measures by treatment, beside people's; counts; failures."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.table import Table
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.scorers import measures_of, usual_scorers
from delibsim.domain.cost import sum_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.measure import Measure
from delibsim.domain.run import Session
from delibsim.plugins import names as installed
from delibsim.store.runs import Runs

HELD = ("complete", "partial")
FAILURES = 50
"""Sessions that failed and are named."""
FAILED = (
    "SELECT session, status, statements_missing, statements_missing_why, answers_missing,"
    " answers_missing_why, calls_not_ok FROM design WHERE status <> 'complete'"
    " ORDER BY status = 'not begun', place LIMIT ?"
)


@dataclass(frozen=True)
class Failure:
    """A session that is not complete: its state, and what it lacks, in words."""

    session: str
    status: str
    lacks: str


@dataclass(frozen=True)
class Overview:
    """A study at a glance.

    `states` counts its sessions by state, `cost_usd` is what their calls cost (None where that is
    unknown for some), `unknown_cost` counts the sessions of unknown cost. `measures` are tables by
    treatment; `conditions` is that of `delibsim analyze` on planned and held sessions. `failures`
    are some of the sessions that are not complete, `failed` is their number.
    """

    states: Mapping[str, int]
    cost_usd: float | None
    unknown_cost: int
    measures: Sequence[Table]
    conditions: Any
    failures: Sequence[Failure]
    failed: int
    on_people: Sequence[str] = ()
    all_null: bool = False


def overview_of(index: StudyIndex) -> Overview:
    """A study at a glance, from its index."""
    from delibsim.analysis.average_tables import Comparison  # pandas is slow to import
    from delibsim.analysis.pages.cells import reading
    from delibsim.analysis.study.counts import counts
    from delibsim.analysis.study.study_table import Draws
    from delibsim.analysis.study_means import by_treatment, means_of_table

    runs, study = index.runs, study_table_of(index)
    measures = shown_measures(runs)
    found, of = means_of_table(study, measures, lambda session: _planned(runs, session))
    tables: Sequence[Table] = ()
    all_null = bool(found.null) and len(found.null) == len(set(of.values()))
    if found.means:
        averages = by_treatment(found, of)
        tables = next(iter(Comparison(averages, averages.measures(), measures).tables()), ())
    states = dict(index.rows("SELECT status, count(*) FROM design GROUP BY 1 ORDER BY 2 DESC"))
    costs = [cost for (cost,) in index.rows("SELECT cost_usd FROM design WHERE calls > 0")]
    failed = sum(n for state, n in states.items() if state != HELD[0])
    return Overview(
        states=states,
        cost_usd=sum_of(costs) if costs else None,
        unknown_cost=sum(cost is None for cost in costs),
        measures=tables,
        conditions=reading(counts(study, Draws())),
        failures=[_failure(*row) for row in index.rows(FAILED, [FAILURES])],
        failed=failed,
        on_people=found.on_people,
        all_null=all_null,
    )


def shown_measures(runs: Runs) -> dict[str, Measure]:
    """The measures of the usual scorers that a summary shows, by id."""
    known = measures_of(usual_scorers(), runs)
    return {name: measure for name, measure in known.items() if measure.in_summary}


def all_measures(runs: Runs) -> dict[str, Measure]:
    """The measures of all installed scorers, by id."""
    return measures_of(installed("delibsim.scorers"), runs)


def study_table_of(index: StudyIndex) -> Any:
    """The table of the study, as it was when it was read last."""
    from delibsim.analysis.study.table_of_study import table_of_rows  # imports pandas

    names = []
    for table in ("design", "measured"):
        names += [name for (name,) in index.rows(f"SELECT name FROM pragma_table_info('{table}')")]
    rows = index.rows(
        "SELECT * FROM design d LEFT JOIN measured m ON m.session = d.session ORDER BY d.place"
    )
    return table_of_rows(index.runs.study, index.columns(), names, rows)


def _planned(runs: Runs, session: str) -> Session | None:
    with suppress(WrongInput):
        return runs.planned(session)
    return None


def _failure(session: str, status: str, *lacks: Any) -> Failure:
    statements, why_statements, answers, why_answers, calls = lacks
    told = []
    for n, noun, why in (
        (statements, "statements missing", why_statements),
        (answers, "answers missing", why_answers),
        (calls, "calls not ok", None),
    ):
        if n:
            told.append(f"{n} {noun}" + (f" ({why})" if why else ""))
    return Failure(session, status, "; ".join(told))
