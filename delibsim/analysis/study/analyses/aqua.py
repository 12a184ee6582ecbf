"""Discourse quality by AQuA: treatments against each other, and each against people."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import noted
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
from delibsim.measures.inference.equivalence import equivalence
from delibsim.measures.inference.multiplicity import holm
from delibsim.measures.inference.two_samples import Sample, pooled, welch

PEOPLE = "people"
MARGIN = 0.1
"""The smallest difference of interest, on the scale of 0 to 5: a fiftieth of it. It is ours."""
SCALE = 5.0
"""The scale on which people's mean is published."""
SCORED = Sample(PUBLISHED.mean, PUBLISHED.sd, PUBLISHED.n)
TESTED = ("difference", "low", "high", "p_pooled", "p_welch", "p_equivalence")
MEANINGS = {
    "a": "the treatment that is compared",
    "b": "the treatment, or people, that it is compared with",
    "difference": "difference of means, a less b, on the scale of 0 to 5",
    "low": "lower end of Welch's 95% interval",
    "high": "upper end of Welch's 95% interval",
    "p_pooled": "p with a pooled variance: label permutation, or t where single values are missing",
    "p_pooled_holm": "p_pooled after Holm's correction over all rows",
    "p_welch": "p of Welch's t test",
    "n_a": "number of sessions under a",
    "n_b": "number of sessions under b, or of people's speeches",
    "margin": "the smallest difference of interest, on either side of 0",
    "p_equivalence": "p of the test that the difference is not within the margin (Welch)",
    "note": "what was left out, or how a p came about",
}
DEFINITION = (
    "Means over sessions of the AQuA score, which is the mean over the statements of a session. The"
    " labels of sessions are permuted without blocks, {permutations:,} times, as in the published"
    " study; Welch's test does not assume equal variances, and its 95% interval stands beside it."
    " Neither knows that sessions on one topic are alike. The margin of the equivalence test is"
    " declared by delibsim. People are {people}: mean {mean:.3f}, SD {sd:.3f}, N {n}; a value of"
    " theirs is one speech, a value of models a whole session."
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
        first = sessions[a][AQUA].dropna().to_numpy(dtype=float)
        second = None if b == PEOPLE else sessions[b][AQUA].dropna().to_numpy(dtype=float)
        seed = seed_of(draws.seed, "aqua", a, b)
        found, note = _tested(first, second, margin, (draws.permutations, seed))
        made.append({"a": a, "b": b, **found, "note": noted(note, lost)})
    corrected = holm([row["p_pooled"] for row in made])
    return [row | {"p_pooled_holm": p} for row, p in zip(made, corrected, strict=True)]


def _contrasts(treatments: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs of treatments, the later less the earlier one, then each less people."""
    pairs = [(later, earlier) for earlier, later in combinations(treatments, 2)]
    return pairs + [(treatment, PEOPLE) for treatment in reversed(treatments)]


def _tested(
    first: np.ndarray,
    second: np.ndarray | None,
    margin: float,
    drawn: tuple[int, int],
) -> tuple[dict[str, Any], str]:
    """What values of a, and of b or of people (None), give, and a note.

    `drawn` are the number of permutations and their seed. What is undefined is NaN.
    """
    sizes = {"n_a": len(first), "n_b": SCORED.n if second is None else len(second)}
    row: dict[str, Any] = {**dict.fromkeys(TESTED, np.nan), **sizes, "margin": margin}
    if min(sizes.values()) < 2:
        return row, "too_few_sessions: a mean needs two scores or more under each treatment"
    a, b = Sample.of(first), SCORED if second is None else Sample.of(second)
    row["difference"] = a.mean - b.mean
    apart = welch(a, b)
    if not apart.error > 0:
        return row, "no_variance: the scores do not differ"
    row["low"], row["high"] = apart.interval()
    row["p_welch"] = apart.p
    row["p_equivalence"] = equivalence(apart.estimate, apart.error, apart.df, margin).p
    if second is None:
        row["p_pooled"] = pooled(a, b).p
        return row, BY_T
    permutations, seed = drawn
    row["p_pooled"] = pooled_p(first, second, permutations, seed)
    return row, ""
