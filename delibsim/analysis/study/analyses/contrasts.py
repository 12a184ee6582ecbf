"""Contrasts of treatments over a study: estimate, interval and p, within blocks."""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import bootstrap_seed, note_of, noted, too_few
from delibsim.analysis.study.analyses.in_room import different_shares
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import Compared, compared
from delibsim.analysis.study.sample.copies import without_copies
from delibsim.analysis.study.sample.outcomes import (
    OUTCOMES,
    Outcome,
    compared_outcomes,
    families_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import (
    CITIZENS,
    MODELS,
    ONLY_CITIZENS,
    kinds_of_participants,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import free_p, paired_p
from delibsim.measures.inference.multiplicity import holm
from delibsim.measures.inference.resampling import cluster_interval

MEANINGS = {
    "population": "whose sessions: models, or the null citizen",
    "outcome": "the measure whose change is compared",
    "scale": "absolute change, change relative to the room for it, or strength (log odds)",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "estimate": "mean over blocks of the difference of means, a less b",
    "low": "lower end of the 95% interval over topics",
    "high": "upper end of the 95% interval over topics",
    "p_paired": "p by flipping the signs of the differences of pairs",
    "p_free": "p by permuting labels freely within blocks",
    "p": "the p that fits the design: p_paired where treatments share seeds, else p_free",
    "p_holm": "p after Holm's correction within the family",
    "family": "the contrasts that were corrected together",
    "blocks": "number of blocks with both treatments",
    "topics": "number of topics of these blocks",
    "models": "number of models of these blocks",
    "pairs": "number of replicates with one value under each treatment",
    "note": "what was left out, or why there is no value",
}
TESTED = ("estimate", "low", "high", "p_paired", "p_free", "p")
DEFINITION = (
    "A block is one topic, model and setting. The estimate is the unweighted mean over blocks of"
    " the difference between the mean change under treatment a and that under b. The interval is"
    " the 95% percentile bootstrap interval over topics, {resamples:,} resamples; in simulated"
    " studies of twelve topics it held the truth in 92% (docs/benchmarks.md). p_paired flips"
    " the sign of the difference of each pair, p_free permutes the labels of the treatments within"
    " blocks, {permutations:,} times each; both are two-sided, (1 + as far from 0) / (1 + all)."
    " A session without interaction stands in the block of every level of speech, such as rounds,"
    " that it is compared with; its pairs are flipped together, its blocks permuted as one."
    " Holm's correction is within each family: one outcome, one scale, one population."
)
SOURCE = "docs/analysis.md; Holm (1979), https://www.jstor.org/stable/4615733"
UNPAIRED = "Treatments of this study do not share seeds: there is no paired test, and p is p_free."


def contrasts(study: StudyTable, draws: Draws) -> Result:
    """The contrasts of all treatments on each outcome, for models and for the null citizen."""
    rows, notes = [], []
    given, missing = outcomes_of(study.rows, [*OUTCOMES, *compared_outcomes(study.rows)])
    code, detail = why_no_contrast(study.rows, given)
    for population, sessions in kinds_of_participants(study).items():
        held = treatments_of(sessions)
        if len(held) < 2 and not code:
            notes.append(
                f"{population}: one treatment only ({', '.join(held)}), and so no contrast."
            )
        for outcome in given:
            rows += _of_outcome(study, draws, population, sessions, outcome)
    found = kinds_of_participants(study)
    if CITIZENS in found and MODELS not in found:
        notes.append(ONLY_CITIZENS)
    notes += without_copies(study.rows)[1]
    if not study.paired:
        notes.append(UNPAIRED)
    notes += different_shares(study.rows)
    sizes = {"resamples": draws.resamples, "permutations": draws.permutations}
    return Result(
        name="contrasts",
        title="Contrasts of treatments",
        definition=DEFINITION.format(**sizes),
        source=SOURCE,
        rows=pd.DataFrame([] if code else rows, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else [*notes, *missing],
        why_not=code,
        detail=detail,
    )


def _of_outcome(
    study: StudyTable,
    draws: Draws,
    population: str,
    sessions: pd.DataFrame,
    outcome: Outcome,
) -> list[dict[str, Any]]:
    """The rows of one outcome of one population, corrected within their families."""
    rows = []
    for name, pairs in families_of(treatments_of(sessions)).items():
        family: list[dict[str, Any]] = []
        for a, b in pairs:
            names = ("contrasts", population, outcome.measure, outcome.scale, a, b)
            seed = seed_of(draws.seed, *names)
            found = compared(sessions, outcome.column, a, b)
            family.append(
                {
                    "population": population,
                    "outcome": outcome.measure,
                    "scale": outcome.scale,
                    "a": a,
                    "b": b,
                    **tested(found, study.paired, draws, seed),
                    "family": f"{name}: {outcome}, {population}",
                }
            )
        corrected = holm([row["p"] for row in family])
        for row, p in zip(family, corrected, strict=True):
            rows.append(row | {"p_holm": p})
    return rows


def tested(found: Compared, paired: bool, draws: Draws, seed: int) -> dict[str, Any]:
    """A comparison's estimate, interval, p and counts, by the names of the table's columns.

    `paired` says whether treatments of one replicate share seeds. What is undefined is NaN, and
    `note` says why.
    """
    blocks, pairs, runs = found.blocks, found.pairs, found.runs
    row: dict[str, Any] = dict.fromkeys(TESTED, float("nan"))
    topics = blocks["topic"].nunique()
    counts = {
        "blocks": len(blocks),
        "topics": topics,
        "models": blocks["model"].nunique(),
        "pairs": len(pairs) if paired else 0,
    }
    if not len(blocks):
        why = f"no_block: no topic and model has values under both {found.a} and {found.b}"
        return row | counts | {"note": noted(why, *found.left_out)}
    row["estimate"] = float(blocks["difference"].mean())
    row["low"], row["high"] = cluster_interval(
        blocks["difference"], blocks["topic"], draws.resamples, bootstrap_seed(draws, "topic")
    )
    first = runs["treatment"] == found.a
    permuted = (runs["value"], first, runs["block"], draws.permutations, seed, runs["held"])
    row["p_free"] = free_p(*permuted)
    row["p"] = row["p_free"]
    notes = [note_of(found), found.shared]
    if paired:
        flipped = (pairs["difference"], pairs["block"], draws.permutations, seed)
        row["p_paired"] = paired_p(*flipped, pairs["together"])
        row["p"] = row["p_paired"]
        notes.append(_of_pairs(found))
    if topics < 2:
        notes.append(too_few("topic", topics))
    return row | counts | {"note": noted(*notes)}


def _of_pairs(found: Compared) -> str:
    """A sentence where the paired test rests on other runs than the estimate; "" where not."""
    if not len(found.pairs):
        return "no_pair: no replicate has one value under each treatment, so no paired test"
    unpaired = noted(*found.unpaired)
    used = found.blocks[found.blocks["pairs"] > 0]
    means = found.pairs.groupby("block")["difference"].mean()
    if np.isclose(means.mean(), found.blocks["difference"].mean(), rtol=1e-9, atol=1e-12):
        return unpaired
    value = f"{means.mean():.4f} over {len(found.pairs)} pairs of {len(used)} blocks"
    return noted(unpaired, f"the paired test is of the mean {value}")
