"""The third question of an effect: over topics and models like these, both drawn anew."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from delibsim.analysis.study.analyses.effects import note_of, noted
from delibsim.analysis.study.result import Result
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
MEANINGS = {
    "population": "whose sessions: models, or the null citizen",
    "outcome": "the measure whose change is compared",
    "scale": "absolute change, change relative to the room for it, or strength (log odds)",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "estimate": "mean of the difference, a less b, by the mixed model",
    "error": "its standard error",
    "df": "degrees of freedom of t, Satterthwaite's",
    "low": "lower end of the 95% interval, by t",
    "high": "upper end of the 95% interval, by t",
    "p": "two-sided p of 0, by t",
    "unit": "what is drawn anew: topic and model, or the one of them with five or more",
    "topics": "number of topics",
    "models": "number of models, or set-ups",
    "note": "what was left out, what is held as it is, or why there is no value",
}
DEFINITION = (
    "Over topics and models like these: a linear mixed model by restricted maximum likelihood whose"
    " slopes of the treatment differ by topic and by model. It is fitted to the differences between"
    " treatments a and b, one for each topic and model (the mean over its blocks): in these all"
    " that treatments share falls out, and a slope by topic is an intercept of the topic; the slope"
    " by topic contains what the draws of a topic, which all models share, have in common. Models"
    " have slopes where there are five or more of them; else they are held as they are, and unit"
    " says so. Below five topics there is no interval. t has Satterthwaite's degrees of freedom."
    " Where a variance is estimated at zero, the interval is not shorter than that over topics, or"
    " over models, alone. No correction for several tests."
)
SOURCE = (
    "Giesbrecht and Burns 1985, doi:10.2307/2530872; Kuznetsova, Brockhoff and Christensen 2017,"
    " doi:10.18637/jss.v082.i13"
)
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
    return Result(
        name="mixed",
        title="Mixed model: over topics and models like these",
        definition=DEFINITION,
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else missing,
        why_not=code,
        detail=detail,
    )


def _rows(study: StudyTable) -> Iterator[dict[str, Any]]:
    for population, sessions in kinds_of_participants(study).items():
        outcomes = outcomes_of(sessions, [*OUTCOMES, *compared_outcomes(sessions)])[0]
        for outcome in outcomes:
            for a, b in contrasts_of(treatments_of(sessions)):
                named = {"population": population, "outcome": outcome.measure}
                named |= {"scale": outcome.scale, "a": a, "b": b}
                found = compared(sessions, outcome.column, a, b)
                yield named | over_topics_and_models(found)
