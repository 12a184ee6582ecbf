"""Discourse quality by AQuA: treatments against each other, and each against people."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import noted, too_few
from delibsim.analysis.study.analyses.icc import AQUA
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import missing_note
from delibsim.analysis.study.sample.outcomes import NONE, treatments_of
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.seed import seed_of
from delibsim.measures.aqua import HIGHEST, LOWEST
from delibsim.measures.aqua import PEOPLE as PUBLISHED
from delibsim.measures.inference.contrasts import pooled_p
from delibsim.measures.inference.means import (
    Sample,
    equivalence,
    equivalence_of_mean,
    holm,
    mean_of_units,
    pooled,
    welch,
)

PEOPLE = "people"
MARGIN = 0.1
"""The smallest difference of interest, on the scale of 0 to 5: a fiftieth of it. It is ours."""
SCALE = 5.0
"""The scale on which people's mean is published."""
SCORED = Sample(PUBLISHED.mean, PUBLISHED.sd, PUBLISHED.n)
TESTED = (
    "difference", "error", "df", "low", "high", "p", "p_equivalence", "published_low",
    "published_high", "p_pooled", "p_welch",
)  # fmt: skip
MEANINGS = {
    "a": "the treatment that is compared",
    "b": "the treatment, or people, that it is compared with",
    "difference": "difference of means over topics, a less b, on the scale of 0 to 5",
    "error": "its standard error, over topics",
    "df": "degrees of freedom of t",
    "low": "lower end of the 95% interval, by t over topics",
    "high": "upper end of the 95% interval, by t over topics",
    "p": "two-sided p of 0, by t over topics",
    "p_holm": "p after Holm's correction over all rows",
    "margin": "the smallest difference of interest, on either side of 0",
    "p_equivalence": "p of the test that the difference is not within the margin, by t over topics",
    "published_low": "lower end of Welch's 95% interval over sessions",
    "published_high": "upper end of Welch's 95% interval over sessions",
    "p_pooled": "p with a pooled variance: label permutation, or t where single values are missing",
    "p_pooled_holm": "p_pooled after Holm's correction over all rows",
    "p_welch": "p of Welch's t test over sessions",
    "topics": "number of topics",
    "n_a": "number of sessions under a",
    "n_b": "number of sessions under b, or of people's speeches",
    "note": "what was left out, or how a p came about",
}
DEFINITION = (
    "The AQuA score of a session is the mean over its statements. Sessions on one topic are alike,"
    " so that each topic counts once: of two treatments, the mean over topics of the difference of"
    " their means, by t with topics less one degrees of freedom; of a treatment and people, the"
    " mean over topics against people's speeches, by Welch's t. The margin of the equivalence test"
    " is declared by delibsim. published_low, published_high, p_pooled and p_welch are as in the"
    " published study, which takes sessions as independent: labels of sessions are permuted without"
    " blocks, {permutations:,} times; Welch's test does not assume equal variances. People are"
    " {people}: mean {mean:.3f}, SD {sd:.3f}, N {n}; a value of theirs is one speech, a value of"
    " models a whole session."
)
BY_T = (
    "by_t: people's single values are not at hand, so p_pooled is that of t with a pooled variance"
    " from mean, SD and N, and their labels cannot be permuted"
)


def aqua(study: StudyTable, draws: Draws, margin: float = MARGIN) -> Result:
    """Contrasts of AQuA between treatments, and of each treatment with people."""
    rows, notes = main_population(study)
    code, detail = _why_not(rows)
    found: list[dict[str, Any]] = []
    if not code:
        scores, scale_note = _scores(rows)
        notes += [scale_note] if scale_note else []
        found = _rows(rows.assign(**{AQUA: scores}), draws, margin)
    people = {"people": PUBLISHED.what, **vars(SCORED)}
    return Result(
        name="aqua",
        title="Discourse quality (AQuA)",
        definition=DEFINITION.format(permutations=draws.permutations, **people),
        source="Behrendt et al. 2024, https://aclanthology.org/2024.delite-1.1",
        rows=pd.DataFrame(found, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )


def _why_not(rows: pd.DataFrame) -> tuple[str, str]:
    if AQUA not in rows.columns or not rows[AQUA].notna().any():
        detail = "The study has no AQuA scores; `delibsim score STUDY --scorer aqua` makes them."
        return "not_scored", detail
    return "", ""


def _scores(rows: pd.DataFrame) -> tuple[pd.Series, str]:
    """The scores on the scale of 0 to 5, and what is to be said of it.

    The sum, where the table has it, tells on which scale the study was scored.
    """
    scores = rows[AQUA].astype(float)
    if "aqua.sum" not in rows.columns:
        return scores, "The scores are taken to be on the scale of 0 to 5: there is no sum."
    shares = (rows["aqua.sum"].astype(float) - LOWEST) / (HIGHEST - LOWEST)
    scale = float((scores / shares).median())
    if not np.isfinite(scale) or np.isclose(scale, SCALE, rtol=1e-3):
        return scores, ""
    told = f"The study was scored on the scale of 0 to {scale:g}; here it is turned into 0 to 5."
    return scores * SCALE / scale, told


def _rows(rows: pd.DataFrame, draws: Draws, margin: float) -> list[dict[str, Any]]:
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
    for name in ("p", "p_pooled"):
        corrected = holm([row[name] for row in made])
        made = [row | {f"{name}_holm": p} for row, p in zip(made, corrected, strict=True)]
    return made


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
    row: dict[str, Any] = {**dict.fromkeys(TESTED, np.nan), **sizes, "margin": margin}
    of_topics, note = _over_topics(own, other, margin)
    row |= of_topics
    if min(sizes.values()) < 2:
        return row, noted("too_few_sessions: a mean needs two scores or more", note)
    a, b = Sample.of(first), SCORED if second is None else Sample.of(second)
    apart = welch(a, b)
    if not apart.error > 0:
        return row, "no_variance: the scores do not differ, and so the tests are undecided"
    row["published_low"], row["published_high"] = apart.interval()
    row["p_welch"] = apart.p
    if second is None:
        row["p_pooled"] = pooled(a, b).p
        return row, noted(BY_T, note)
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
        found = welch(Sample.of(means.to_numpy()), SCORED)
        row["difference"] = found.estimate
        if found.error > 0:
            low, high = found.interval()
            row |= {"error": found.error, "df": found.df, "low": low, "high": high, "p": found.p}
            row["p_equivalence"] = equivalence(found.estimate, found.error, found.df, margin).p
    return row, too_few("topic", topics)
