"""Discourse quality by AQuA, and how alike sessions on one topic are."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, said, with_holm
from delibsim.analysis.study.blocks import NONE, missing_note
from delibsim.analysis.study.effects import noted, too_few
from delibsim.analysis.study.outcomes import VALUE, OutcomeMeasure
from delibsim.analysis.study.sample import (
    Taken,
    main_population,
    taken,
    treatments_of,
    wanted_outcomes,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.domain.seed import seed_of
from delibsim.measures.aqua import HIGHEST, LOWEST
from delibsim.measures.aqua import PEOPLE as PUBLISHED
from delibsim.measures.inference.components import intraclass
from delibsim.measures.inference.contrasts import pooled_p
from delibsim.measures.inference.means import (
    SampleStatistics,
    equivalence,
    equivalence_of_mean,
    mean_of_units,
    pooled,
    welch,
)

AQUA = "aqua.score"
"""The column of the AQuA score of a session."""
NOTHING, FIXED = "nothing", "model and treatment"
FEW = 5
"""Topics below which no interval is printed."""
WHY = {
    "one_cluster": "one_topic: it needs two topics or more",
    "no_replication": "no_replication: no topic has more sessions than there are fixed effects",
    "no_variance": "no_variance: the values do not differ",
}


def icc(study: StudyTable, draws: DrawCounts) -> Result:
    """The intraclass correlation of each outcome by topic, raw and after fixed effects.

    Nothing in it is drawn at random, and `draws` is not used.
    """
    own = taken(study, wanted_outcomes(study, relative=False), contrast=False)
    rows = []
    for outcome in own.outcomes:
        for adjusted_for in (NOTHING, FIXED):
            rows.append(_row(own.rows, outcome, adjusted_for))
    return own.result("study/icc", rows)


def _row(rows: pd.DataFrame, outcome: OutcomeMeasure, adjusted_for: str) -> dict[str, Any]:
    """One outcome, raw or after fixed effects."""
    measure, column = outcome.measure, outcome.column
    if outcome.scale == VALUE:
        rows = rows[rows["treatment"] != NONE]  # where nobody speaks, nothing can be scored
    known = rows[rows[column].notna()]
    lost = missing_note(rows, column)
    named: dict[str, Any] = {"outcome": measure, "adjusted_for": adjusted_for}
    if not len(known):
        return named | {"topics": 0, "n": 0, "note": noted("no_value", lost)}
    fixed = None if adjusted_for == NOTHING else indicators(known, ["model", "treatment"])
    found = intraclass(known[column].astype(float), known["topic"], fixed)
    few = not found.note and found.clusters < FEW
    why = "few_topics: an interval needs five topics or more" if few else WHY.get(found.note, "")
    row = named | {"icc": found.icc, "topics": found.clusters, "n": found.n}
    ends = {} if few else {"low": found.low, "high": found.high}
    return {**row, **ends, "note": noted(why, lost)}


def indicators(rows: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Columns of 0 and 1 for every value of these columns but the first of each."""
    parts = [pd.get_dummies(rows[name], drop_first=True, dtype=float) for name in columns]
    return pd.concat(parts, axis=1).to_numpy()


PEOPLE = "people"
MARGIN = 0.1
"""The smallest difference of interest, on the scale of 0 to 5: a fiftieth of it. It is ours."""
SCALE = 5.0
"""The scale on which people's mean is published."""
SCORED = SampleStatistics(PUBLISHED.mean, PUBLISHED.sd, PUBLISHED.n)


def aqua(study: StudyTable, draws: DrawCounts, margin: float = MARGIN) -> Result:
    """Contrasts of AQuA between treatments, and of each treatment with people."""
    rows, notes = main_population(study)
    people = {"people": PUBLISHED.what, **vars(SCORED)}
    if AQUA not in rows.columns or not rows[AQUA].notna().any():
        own = Taken(rows, notes=notes, why="not_scored")
        return own.result("study/aqua", (), permutations=draws.permutations, **people)
    scores, on_scale = scores_of_five(rows)
    own = Taken(rows.assign(**{AQUA: scores}), notes=[*notes, *on_scale])
    found = _rows(own.rows, draws, margin)
    return own.result("study/aqua", found, permutations=draws.permutations, **people)


def scores_of_five(rows: pd.DataFrame) -> tuple[pd.Series, list[str]]:
    """The scores on the scale of 0 to 5, and what is to be said of it.

    The sum, where the table has it, tells on which scale the study was scored.
    """
    scores = rows[AQUA].astype(float)
    if "aqua.sum" not in rows.columns:
        return scores, ["The scores are taken to be on the scale of 0 to 5: there is no sum."]
    shares = (rows["aqua.sum"].astype(float) - LOWEST) / (HIGHEST - LOWEST)
    scale = float((scores / shares).median())
    if not np.isfinite(scale) or np.isclose(scale, SCALE, rtol=1e-3):
        return scores, []
    told = f"The study was scored on the scale of 0 to {scale:g}; here it is turned into 0 to 5."
    return scores * SCALE / scale, [told]


def _rows(rows: pd.DataFrame, draws: DrawCounts, margin: float) -> list[dict[str, Any]]:
    """One row a contrast, corrected over all."""
    spoken = rows[rows["treatment"] != NONE]  # where nobody speaks, nothing can be scored
    made: list[dict[str, Any]] = []
    for a, b in _contrasts(treatments_of(spoken)):
        sessions = {name: spoken[spoken["treatment"] == name] for name in (a, b)}
        lost = missing_note(pd.concat(list(sessions.values())), AQUA)
        own = sessions[a][sessions[a][AQUA].notna()]
        other = None if b == PEOPLE else sessions[b][sessions[b][AQUA].notna()]
        seed = seed_of(draws.seed, "aqua", a, b)
        found, note = _tested(own, other, margin, (draws.permutations, seed))
        made.append({"a": a, "b": b, **found, "note": noted(note, lost)})
    return with_holm(with_holm(made), p="p_pooled")


def _contrasts(treatments: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs of treatments, the later less the earlier one, then each less people."""
    pairs = [(later, earlier) for earlier, later in combinations(treatments, 2)]
    return pairs + [(treatment, PEOPLE) for treatment in reversed(treatments)]


def _tested(
    own: pd.DataFrame,
    other: pd.DataFrame | None,
    margin: float,
    drawn: tuple[int, int],
) -> tuple[dict[str, Any], str]:
    """What sessions of a, and of b or of people (None), give, and a note.

    `drawn` are the number of permutations and their seed. What is undefined is NaN.
    """
    first = own[AQUA].to_numpy(dtype=float)
    second = None if other is None else other[AQUA].to_numpy(dtype=float)
    sizes = {"n_a": len(first), "n_b": SCORED.n if second is None else len(second)}
    of_topics, note = _over_topics(own, other, margin)
    row: dict[str, Any] = {**of_topics, **sizes, "margin": margin}
    if min(sizes.values()) < 2:
        return row, noted("too_few_sessions: a mean needs two scores or more", note)
    a, b = SampleStatistics.of(first), SCORED if second is None else SampleStatistics.of(second)
    apart = welch(a, b)
    if not apart.error > 0:
        return row, "no_variance: the scores do not differ, and so the tests are undecided"
    row["published_low"], row["published_high"] = apart.interval()
    row["p_welch"] = apart.p
    if second is None:
        row["p_pooled"] = pooled(a, b).p
        return row, noted(said("study/by_t"), note)
    permutations, seed = drawn
    row["p_pooled"] = pooled_p(first, second, permutations, seed)
    return row, note


def _over_topics(
    own: pd.DataFrame, other: pd.DataFrame | None, margin: float
) -> tuple[dict[str, Any], str]:
    """The difference with its test over topics, and a note."""
    means = own.groupby(own["topic"].astype(str))[AQUA].mean().astype(float)
    if other is not None:
        theirs = other.groupby(other["topic"].astype(str))[AQUA].mean().astype(float)
        apart = (means - theirs).dropna()
        mean, topics = mean_of_units(apart), len(apart)
        row: dict[str, Any] = {"difference": mean.estimate, **vars(mean), "topics": topics}
        row |= {"p_equivalence": equivalence_of_mean(apart, margin).p}
        return row, too_few("topic", topics)
    topics = len(means)
    row = {"topics": topics}
    if topics:
        found = welch(SampleStatistics.of(means.to_numpy()), SCORED)
        row["difference"] = found.estimate
        if found.error > 0:
            low, high = found.interval()
            row |= {"error": found.error, "df": found.df, "low": low, "high": high, "p": found.p}
            row["p_equivalence"] = equivalence(found.estimate, found.error, found.df, margin).p
    return row, too_few("topic", topics)
