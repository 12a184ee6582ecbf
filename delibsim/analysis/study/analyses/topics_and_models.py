"""The third question of an effect: over topics and models like these, both drawn anew."""

from collections.abc import Iterator
from typing import Any

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import note_of, noted
from delibsim.analysis.study.sample.blocks import Compared, compared
from delibsim.analysis.study.sample.outcomes import (
    OUTCOMES,
    compared_outcomes,
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import kinds_of_participants
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import Mean
from delibsim.measures.inference.mixed import Crossed, crossed_mean

KINDS = ("topic", "model")
WHY = {
    "few_units": "few_topics: fewer than five topics and fewer than five models",
    "no_variance": "no_variance: the differences do not vary, and so the test is undecided",
    "not_fitted": "not_fitted: the mixed model could not be fitted",
}


def over_topics_and_models(found: Compared) -> dict[str, Any]:
    """The answer to the third question of a comparison: estimate, error, df, low, high, p, unit,
    topics, models and note. What is undefined is NaN.
    """
    cells = found.blocks.groupby(list(KINDS), dropna=False)["difference"].mean().reset_index()
    first, second = (cells[name].astype(str) for name in KINDS)
    drawn = crossed_mean(cells["difference"], first, second)
    held = [f"few_{KINDS[kind]}s" for kind in (0, 1) if kind not in drawn.kinds]
    notes = [WHY[drawn.note]] if drawn.note else [f"{code}: held as they are" for code in held]
    if drawn.kinds == (1,):  # what all models share in a draw is in no error over models
        drawn, notes = Crossed(Mean(drawn.mean.estimate), (), "few_units"), ["few_topics"]
    if not len(cells):
        notes = [f"no_block: no topic and model has values under both {found.a} and {found.b}"]
    return {
        **vars(drawn.mean),
        "unit": " and ".join(KINDS[kind] for kind in drawn.kinds),
        "topics": first.nunique(),
        "models": second.nunique(),
        "note": noted(note_of(found), *notes),
    }


def mixed_table(study: StudyTable) -> Result:
    """The table `mixed`: the third question for every contrast, outcome and population."""
    wanted = [*OUTCOMES, *compared_outcomes(study.rows)]
    given, missing = outcomes_of(study.rows, wanted)
    code, detail = why_no_contrast(study.rows, given)
    rows = [] if code else list(_rows(study))
    return make_table("study/mixed", rows, notes=missing, why=code, detail=detail)


def _rows(study: StudyTable) -> Iterator[dict[str, Any]]:
    for population, sessions in kinds_of_participants(study).items():
        outcomes = outcomes_of(sessions, [*OUTCOMES, *compared_outcomes(sessions)])[0]
        for outcome in outcomes:
            for a, b in contrasts_of(treatments_of(sessions)):
                named = {"population": population, "outcome": outcome.measure}
                named |= {"scale": outcome.scale, "a": a, "b": b}
                found = compared(sessions, outcome.column, a, b)
                yield named | over_topics_and_models(found)
