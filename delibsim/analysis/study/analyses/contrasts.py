"""Contrasts of treatments over a study: estimate, intervals and tests of two questions."""

from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import (
    ENOUGH,
    HERE,
    LOWERED,
    NAN,
    NO_VARIANCE,
    RAISED,
    note_of,
    noted,
    over_draws,
    over_topics,
    p_of_draws,
    published_coverage,
    published_interval,
    told,
    too_few,
    verb,
)
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
from delibsim.analysis.study.table.table_of_study import knows_seeds
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.contrasts import free_p
from delibsim.measures.inference.means import benjamini_hochberg, holm

PRIMARY, SECONDARY = "primary", "secondary"
MEANINGS = {
    "population": "whose sessions: models, or the null citizen",
    "role": "primary for the one outcome that decides, secondary for all others",
    "outcome": "the measure whose change is compared",
    "scale": "absolute change, change relative to the room for it, or strength (log odds)",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "estimate": "mean over topics of the mean difference of their blocks, a less b",
    "unit": "what low, high and df rest on: topics; of one topic alone draws, or sessions where"
    " seeds are not shared",
    "low": "lower end of the 95% interval by t over these units",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "p_topics": "p of the headline question, over topics like these, by t",
    "p_holm": "p_topics after Holm's correction within the family",
    "q": "of secondary outcomes: Benjamini and Hochberg's q of p_topics, within the population",
    "estimate_draws": "the effect on these topics, over pairs where seeds are shared",
    "low_draws": "lower end of the 95% interval on these topics, with these models",
    "high_draws": "upper end of this interval",
    "df_draws": "its degrees of freedom",
    "p_draws": "p on these topics: the differences of a draw have their signs flipped together",
    "p_free": "p on these topics by permuting labels freely within blocks, for seeds not shared",
    "p_holm_draws": "p_draws, or p_free where seeds are not shared, after Holm's correction",
    "published_low": "lower end of the percentile bootstrap interval over topics",
    "published_high": "upper end of this interval",
    "published_coverage": "how often such an interval holds the truth with so many topics",
    "verb": f"what may be said: {RAISED}, {LOWERED}, {HERE} or none",
    "family": "the contrasts that were corrected together",
    "blocks": "number of blocks with both treatments",
    "topics": "number of topics of these blocks",
    "models": "number of models, or set-ups, of these blocks",
    "pairs": "number of replicates with one value under each treatment",
    "draws": "number of draws (topic and replicate) that these pairs are of",
    "wordings": "number of wordings of the treatments that are pooled",
    "sd_wordings": "standard deviation of the effect between these wordings",
    "note": "what was left out, or why there is no value",
}
TESTED = (
    "estimate", "low", "high", "df", "p_topics", "estimate_draws", "low_draws", "high_draws",
    "df_draws", "p_draws", "p_free", "published_low", "published_high",
    "published_coverage", "sd_wordings",
)  # fmt: skip
DEFINITION = (
    "A block is one topic, model and setting; its difference is that between the mean change under"
    " treatment a and that under b. The estimate is the mean over topics of the mean difference of"
    " their blocks; where all topics have as many blocks, it is the mean over blocks."
    " The headline question speaks of topics like these: low, high and p_topics are by t on the"
    " means of topics, the mean over the blocks of each, with topics less one degrees of freedom."
    " The second question speaks of these topics with these models: p_draws flips the signs of all"
    " differences of one draw (topic and replicate, whose people and orders all models share) at"
    " once, all ways being enumerated for at most 14 draws, {permutations:,} drawn of more (in a"
    " study of one topic it is by t over draws, as its interval); where seeds are not shared,"
    " p_free permutes the labels of treatments within blocks."
    " raised and lowered are said with five topics or more, an interval without 0 and p_holm below"
    " .05; on_these_topics where only p_holm_draws is below .05."
    " Published studies print the percentile bootstrap over topics ({resamples:,} resamples), which"
    " is too short with few topics: published_coverage says how often it holds the truth."
    " A session without interaction stands in the block of every level of speech, such as rounds,"
    " that it is compared with. Paraphrases of a treatment are wordings of it and are pooled."
    " Holm's correction is within each family: one outcome, one scale, one population; a contrast"
    " that is 0 by construction is in no family."
)
SOURCE = (
    "docs/analysis.md; Holm (1979), https://www.jstor.org/stable/4615733;"
    " Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x"
)
TWIN = (
    "The null citizen is the null twin of this study: the same design held with citizens in all"
    " seats, {}, kept in its folder null_twin."
)
SEEDS_UNKNOWN = (
    "The table does not say whether treatments share seeds (column seed). On these topics the unit"
    " is therefore the draw (topic and replicate), which is right whether they do or not."
)
UNPAIRED = (
    "Treatments of this study do not share seeds: there are no pairs, and the test on these topics"
    " is p_free."
)


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
    if study.twin is not None:
        notes.append(TWIN.format(counted(len(study.twin), "session")))
    if study.no_twin:
        notes.append(study.no_twin)
    notes += without_copies(study.rows)[1]
    if not study.paired:
        notes.append(UNPAIRED)
    elif not knows_seeds(study.rows):
        notes.append(SEEDS_UNKNOWN)
    notes += different_shares(study.rows)
    sizes = {"resamples": draws.resamples, "permutations": draws.permutations}
    return Result(
        name="contrasts",
        title="Contrasts of treatments",
        definition=DEFINITION.format(**sizes),
        source=SOURCE,
        rows=pd.DataFrame([] if code else _with_q(rows), columns=list(MEANINGS)),
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
    decides = outcome.scale == "absolute" and outcome.measure == study.primary
    for name, pairs in families_of(treatments_of(sessions)).items():
        family: list[dict[str, Any]] = []
        for a, b in pairs:
            found = compared(sessions, outcome.column, a, b)
            family.append(
                {
                    "population": population,
                    "role": PRIMARY if decides else SECONDARY,
                    "outcome": outcome.measure,
                    "scale": outcome.scale,
                    "a": a,
                    "b": b,
                    **tested(found, study.paired, draws),
                    "family": f"{name}: {outcome}, {population}",
                }
            )
        rows += corrected(family, study.paired)
    return rows


def corrected(family: list[dict[str, Any]], paired: bool) -> list[dict[str, Any]]:
    """The rows of a family with Holm's p of both questions, and what may be said of each."""
    second = "p_draws" if paired else "p_free"
    of_topics = holm([row["p_topics"] for row in family])
    of_draws = holm([row[second] for row in family])
    rows = []
    for row, p, p_draws in zip(family, of_topics, of_draws, strict=True):
        whole = row | {"p_holm": p, "p_holm_draws": p_draws}
        rows.append(whole | {"verb": verb(whole)})
    return rows


def _with_q(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with Benjamini and Hochberg's q of the secondary outcomes of each population."""
    for population in dict.fromkeys(row["population"] for row in rows):
        own = [row for row in rows if row["population"] == population]
        of = [row for row in own if row["role"] == SECONDARY]
        for row, q in zip(of, benjamini_hochberg([row["p_topics"] for row in of]), strict=True):
            row["q"] = q
    return rows


def tested(found: Compared, paired: bool, draws: Draws) -> dict[str, Any]:
    """A comparison's estimate, intervals, p and counts, by the names of the table's columns.

    `paired` says whether treatments of one replicate share seeds. What is undefined is NaN, and
    `note` says why; treatments that gave the same everywhere have no p.
    """
    blocks, pairs = found.blocks, found.pairs
    topics = blocks["topic"].nunique(dropna=False)
    row: dict[str, Any] = dict.fromkeys(TESTED, NAN)
    unit_of_one = "draw" if paired else "session"
    row |= {
        "unit": "topic" if topics != 1 else unit_of_one,
        "blocks": len(blocks),
        "topics": topics,
        "models": blocks["model"].nunique(),
        "pairs": len(pairs) if paired else 0,
        "draws": pairs["draw"].nunique() if paired else 0,
        "wordings": blocks["wording"].nunique(),
    }
    if not len(blocks):
        why = f"no_block: no topic and model has values under both {found.a} and {found.b}"
        return row | {"note": noted(why, *found.left_out)}
    headline = over_topics(blocks)
    row["estimate"] = headline.estimate
    if found.equal:
        return row | {"note": note_of(found)}
    here = over_draws(found, paired)
    row |= {
        "estimate_draws": here.estimate,
        "low_draws": here.low,
        "high_draws": here.high,
        "df_draws": here.df,
    }
    shown = here if topics == 1 and not isnan(here.low) else headline
    row |= told(shown) | {"p_topics": headline.p}
    ends = published_interval(blocks["difference"], blocks["topic"], "topic", draws)
    row |= dict(zip(("published_low", "published_high"), ends, strict=True))
    if topics >= ENOUGH:
        row["published_coverage"] = published_coverage(topics)
    row["p_free"] = _free_p(found, draws)
    row["sd_wordings"] = blocks.groupby("wording")["difference"].mean().std(ddof=1)
    notes = [note_of(found), found.shared]
    if paired:
        row["p_draws"] = here.p if topics == 1 else p_of_draws(pairs, draws)
        notes.append(_of_pairs(found, row["estimate"], here.estimate))
    notes.append(too_few("topic", topics))
    if topics > 1 and isnan(headline.error):
        notes.append(NO_VARIANCE.format("topic"))
    return row | {"note": noted(*notes)}


def _free_p(found: Compared, draws: Draws) -> float:
    """The p of labels permuted freely within blocks."""
    runs, seed = found.runs, seed_of(draws.seed, "labels")
    first = runs["treatment"] == found.a
    return free_p(runs["value"], first, runs["block"], draws.permutations, seed, runs["held"])


def _of_pairs(found: Compared, estimate: float, over_pairs: float) -> str:
    """A sentence where the answer on these topics rests on other runs than the headline; or ""."""
    if not len(found.pairs):
        return "no_pair: no replicate has one value under each treatment, so no test of draws"
    unpaired = noted(*found.unpaired)
    if np.isclose(estimate, over_pairs, rtol=1e-9, atol=1e-12):
        return unpaired
    value = f"{over_pairs:.4f} over {len(found.pairs)} pairs of runs"
    return noted(unpaired, f"on these topics the effect is {value}")
