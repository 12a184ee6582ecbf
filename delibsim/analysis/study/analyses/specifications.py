"""The specification curve: each contrast under every choice that an analyst could have made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from delibsim.analysis.study.analyses.contrasts import tested
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import WORDING, compared
from delibsim.analysis.study.sample.outcomes import (
    Outcome,
    families_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable

MOST_DRAWS = 2_000
"""Permutations and resamples of one specification at the most: there are many of them."""
INDICES = {"plain": "dri", "adjusted": "dri_adjusted"}
SCALES = ("absolute", "relative")
ALL = "all"
UNTOUCHED = "without re-asked"
NO_STAND_IN = "without stand-ins"
COLUMNS = (
    "a", "b", "index", "scale", "wording", "runs", "pairing", "estimate", "low", "high", "p",
    "blocks", "note",
)  # fmt: skip
DEFINITION = (
    "Each contrast of treatments, a minus b, as in the table of contrasts (unweighted mean over"
    " blocks of topic, model and setting; 95% percentile bootstrap over topics; permutation p),"
    " under every combination of these choices: the plain or the adjusted index; its absolute"
    " change or the change relative to the room there was; all wordings or one; all sessions or"
    " only those in which no answer had to be asked again, or no stand-in took a person's seat;"
    " p from pairs of replicates (signs"
    " flipped) or from labels permuted freely within blocks. Each specification takes"
    " {permutations:,} permutations and {resamples:,} resamples, at most 2,000 of either. p is not"
    " corrected for the number of specifications: the curve shows how far a finding depends on"
    " choices, and is no further test of it."
)
MEANINGS = {
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "index": "plain or adjusted Deliberative Reason Index",
    "scale": "absolute change, or change relative to the room there was for it",
    "wording": "all wordings as one, or a wording of prompts, or a paraphrase that stands for a",
    "runs": "all sessions, or those without an answer that was asked for again, or those without a"
    " stand-in",
    "pairing": "paired: p from pairs of one replicate; free: p from labels permuted within blocks",
    "estimate": "mean over blocks of the difference of means, a minus b",
    "low": "lower end of the 95% interval over topics",
    "high": "upper end of the 95% interval over topics",
    "p": "two-sided p of this specification alone",
    "blocks": "number of blocks with both treatments",
    "note": "what was left out, or why there is no value",
}


@dataclass(frozen=True, eq=False)
class Choice:
    """Sessions that a choice of wording and of runs leaves."""

    wording: str
    runs: str
    rows: pd.DataFrame


def specifications(study: StudyTable, draws: Draws) -> Result:
    """The table `specifications`: a row a contrast and combination of choices."""
    rows, notes = main_population(study)
    indices = [Outcome(measure, scale) for measure in INDICES.values() for scale in SCALES]
    given, missing = outcomes_of(rows, indices)
    code, detail = why_no_contrast(rows, given)
    few = replace(
        draws,
        permutations=min(draws.permutations, MOST_DRAWS),
        resamples=min(draws.resamples, MOST_DRAWS),
    )
    found: list[dict[str, Any]] = []
    if not code:
        pairs = _contrasts(rows)
        for pair in pairs:
            for choice in _choices(rows, pair[0]):
                for outcome in given:
                    found += _specified(study.paired, few, pair, choice, outcome)
        notes += [*missing, *_not_varied(rows), *_summaries(found, pairs)]
    sizes = {"permutations": few.permutations, "resamples": few.resamples}
    return Result(
        name="specifications",
        title="Specification curve of the contrasts",
        definition=DEFINITION.format(**sizes),
        source="Simonsohn, Simmons and Nelson 2020, doi:10.1038/s41562-020-0912-z",
        rows=pd.DataFrame(found, columns=list(COLUMNS)),
        meanings=MEANINGS,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )


def _contrasts(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """The published contrasts as far as the study has them; all pairs where it has none."""
    return next(iter(families_of(treatments_of(rows)).values()))


def _choices(rows: pd.DataFrame, a: str) -> Iterator[Choice]:
    """What may be chosen of wordings and of runs, all sessions first."""
    for choice in _wordings(rows, a):
        yield choice
        if "reasked" in rows.columns and (rows["reasked"] > 0).any():
            untouched = choice.rows[choice.rows["reasked"] == 0]
            yield replace(choice, runs=UNTOUCHED, rows=untouched)
        if _stood_in(rows).any():
            yield replace(choice, runs=NO_STAND_IN, rows=choice.rows[~_stood_in(choice.rows)])


def _stood_in(rows: pd.DataFrame) -> pd.Series:
    """The sessions in which a stand-in gave a reply in a seat for people."""
    if "people_stood_in" not in rows.columns:
        return pd.Series(False, index=rows.index, dtype=bool)
    return (rows["people_stood_in"] > 0).fillna(False).astype(bool)


def _wordings(rows: pd.DataFrame, a: str) -> Iterator[Choice]:
    yield Choice(ALL, ALL, rows)
    names = rows["wording"].dropna().astype(str) if "wording" in rows.columns else pd.Series()
    if names.nunique() > 1:
        for name in sorted(names.unique()):
            yield Choice(name, ALL, rows[rows["wording"] == name])
    held = rows.loc[rows["treatment"] == a, WORDING] if WORDING in rows.columns else pd.Series()
    for wording in sorted(held.unique()) if held.nunique() > 1 else ():
        own = (rows["treatment"] != a) | (rows[WORDING] == wording)
        yield Choice(wording, ALL, rows[own])


def _specified(
    paired: bool, draws: Draws, pair: tuple[str, str], choice: Choice, outcome: Outcome
) -> list[dict[str, Any]]:
    """The rows of one contrast, choice and outcome: one of each test that the design allows."""
    a, b = pair
    comparison = compared(choice.rows, outcome.column, a, b)
    values = tested(comparison, paired, draws)
    indices = {measure: index for index, measure in INDICES.items()}
    row = {
        "a": a,
        "b": b,
        "index": indices[outcome.measure],
        "scale": outcome.scale,
        "wording": choice.wording,
        "runs": choice.runs,
        **{name: values[name] for name in ("estimate", "low", "high", "blocks", "note")},
    }
    tests = {"paired": "p_draws", "free": "p_free"} if paired else {"free": "p_free"}
    return [row | {"pairing": test, "p": values[name]} for test, name in tests.items()]


def _not_varied(rows: pd.DataFrame) -> list[str]:
    """Sentences on the choices that this study leaves nobody."""
    found = []
    if "reasked" not in rows.columns:
        found.append("Whether answers were asked again is not in the table of this study.")
    elif not (rows["reasked"] > 0).any():
        found.append(
            "No session had an answer that was asked again: leaving such sessions out changes"
            " nothing."
        )
    elif rows["reasked"].isna().any():
        unknown = int(rows["reasked"].isna().sum())
        found.append(f"Sessions whose record does not tell, which count as asked again: {unknown}.")
    if "wording" not in rows.columns or rows["wording"].nunique() < 2:
        found.append("The study has one wording of prompts.")
    return found


def _summaries(found: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> list[str]:
    """A sentence a contrast: how its specifications spread."""
    table = pd.DataFrame(found, columns=list(COLUMNS))
    sentences = []
    for a, b in pairs:
        own = table[(table["a"] == a) & (table["b"] == b) & table["estimate"].notna()]
        if own.empty:
            continue
        spread = []
        for scale, values in own.groupby("scale")["estimate"]:
            spread.append(f"{scale} {values.min():.3f} to {values.max():.3f}")
        above, small = int((own["estimate"] > 0).sum()), int((own["p"] < 0.05).sum())
        sentences.append(
            f"{a} minus {b}: {len(own)} specifications, {above} with an estimate above 0, {small}"
            f" with p below .05; estimates {', '.join(spread)}."
        )
    return sentences
