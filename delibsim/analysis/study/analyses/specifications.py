"""The specification curve: each contrast under every choice that an analyst could have made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.study.analyses.covariance import adjusted, before_of
from delibsim.analysis.study.analyses.effects import noted, too_few
from delibsim.analysis.study.analyses.topics_and_models import over_topics_and_models
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import WORDING, Compared, compared
from delibsim.analysis.study.sample.labels import Labels, labels_of
from delibsim.analysis.study.sample.outcomes import (
    Outcome,
    families_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import Specified, joint_test, over_clusters, relabelled

MOST_DRAWS = 2_000
"""Labellings at the most."""
INDICES = {"plain": "dri", "adjusted": "dri_adjusted"}
SCALES = ("absolute", "relative")
ALL, NOTHING = "all", "nothing"
UNTOUCHED = "without re-asked"
NO_STAND_IN = "without stand-ins"
SESSIONS, PAIRS = "all sessions", "pairs alone"
TOPICS, BLOCKS, BY_SESSIONS = "topics alike", "blocks alike", "by sessions"
MEANS, COVARIANCE, MIXED = "means", "covariance", "mixed model"
CHOICES = ("index", "scale", "wording", "runs", "pairing", "weights", "model", "left_out")
COLUMNS = ("a", "b", *CHOICES, "estimate", "low", "high", "df", "p", "topics", "blocks", "note")
DEFINITION = (
    "Each contrast of treatments, a minus b, under every combination of these choices. The plain or"
    " the adjusted index; its absolute change or the change relative to the room there was; all"
    " wordings or one; all sessions or only those in which no answer had to be asked again, or no"
    " stand-in took a person's seat; all sessions or only pairs of one replicate; every topic"
    " alike, every block alike, or blocks by their sessions; means, analysis of covariance (for the"
    " absolute change), or the mixed model over topics and models (for all sessions). With all"
    " wordings and sessions, each topic and each model is left out in turn. A choice that changes"
    " nothing in this study is not there. Interval and p of each are by t over topics, with topics"
    " less one degrees of freedom (of the mixed model its own). p is not corrected for the number"
    " of specifications: joint_test answers for all of them."
)
MEANINGS = {
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "index": "plain or adjusted Deliberative Reason Index",
    "scale": "absolute change, or change relative to the room there was for it",
    "wording": "all wordings as one, or a wording of prompts, or a paraphrase that stands for a",
    "runs": "all sessions, or those without an answer that was asked for again, or those without a"
    " stand-in",
    "pairing": f"{SESSIONS}, or {PAIRS}: replicates with one session under each treatment",
    "weights": f"{TOPICS}, {BLOCKS}, or {BY_SESSIONS}",
    "model": f"{MEANS}, {COVARIANCE} (adjusted for the value before), or {MIXED}",
    "left_out": f"the topic or the model that is left out, or {NOTHING}",
    "estimate": "the difference, a minus b",
    "low": "lower end of the 95% interval, by t",
    "high": "upper end of the 95% interval, by t",
    "df": "degrees of freedom of t",
    "p": "two-sided p of this specification alone",
    "topics": "number of topics",
    "blocks": "number of blocks with both treatments",
    "note": "what was left out, or why there is no value",
}
UNDECIDED = "undecided: no specification has an error over topics, and so none has a p"
SOURCE = "Simonsohn, Simmons and Nelson 2020, doi:10.1038/s41562-020-0912-z"
JOINT = {
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "statistic": "what is taken over all specifications",
    "value": "its value; of effects in standard deviations of the outcome within treatments",
    "under_none": "its median size where labels are exchanged",
    "p": "share of labellings under which it is at least as far from 0",
    "specifications": "number of specifications with an estimate",
    "units": "number of units whose labels are exchanged: draws, or sessions",
    "note": "what limits it, or why there is no value",
}
OF_JOINT = (
    "All specifications of a contrast tested at once, on these topics with these models: the labels"
    " of the treatments are exchanged for all specifications together, and the whole curve is"
    " computed anew. Where treatments share seeds the unit is the draw (topic and replicate): all"
    " its sessions, of all models and settings, exchange their labels at once; all ways are listed"
    " where there are at most 2,000, else {labellings:,} are drawn. Where seeds are not shared,"
    " labels are permuted within blocks. The statistics are the median effect, the share of"
    " specifications with p < .05 in the direction that more of them have, and the averaged Z of"
    " all p. Three things are held as they are in the data: the slope on the value before in the"
    " analysis of covariance, and the error and degrees of freedom of the mixed model, whose effect"
    " is taken as the mean over topics and models."
)


@dataclass(frozen=True, eq=False)
class Choice:
    """Sessions that a choice of wording and of runs leaves."""

    wording: str
    runs: str
    rows: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Base:
    """What a comparison gives before blocks are weighted and left out: `named` are the choices so
    far, `found` its blocks, `differences` (m, blocks) those under each labelling, `sizes` (blocks,)
    their sessions.
    """

    named: dict[str, Any]
    found: Compared
    differences: NDArray[np.float64]
    sizes: NDArray[np.float64]
    scale: float


def specifications(study: StudyTable, draws: Draws) -> list[Result]:
    """The tables `specifications`, a row a contrast and choices, and `joint_test`."""
    rows, notes = main_population(study)
    indices = [Outcome(measure, scale) for measure in INDICES.values() for scale in SCALES]
    given, missing = outcomes_of(rows, indices)
    code, detail = why_no_contrast(rows, given)
    labellings = min(draws.permutations, MOST_DRAWS)
    found: list[dict[str, Any]] = []
    joint: list[dict[str, Any]] = []
    if not code:
        pairs = next(iter(families_of(treatments_of(rows)).values()))
        for a, b in pairs:
            seed = seed_of(draws.seed, "specifications", a, b)
            labels = labels_of(rows, (a, b), study.paired, labellings, seed)
            curve = list(_curve(rows, given, labels))
            found += [row for row, _ in curve]
            joint += _joint(labels, [one for _, one in curve if one is not None])
        notes += [*missing, *_not_varied(rows), *_summaries(found, pairs)]
    shown = [] if code else notes
    curve = Result(
        "specifications", "Specification curve of the contrasts", DEFINITION, SOURCE,
        pd.DataFrame(found, columns=list(COLUMNS)), MEANINGS, shown, code, detail,
    )  # fmt: skip
    whole = Result(
        "joint_test", "All specifications at once", OF_JOINT.format(labellings=labellings), SOURCE,
        pd.DataFrame(joint, columns=list(JOINT)), JOINT, shown[: len(shown) and 1], code, detail,
    )  # fmt: skip
    return [curve, whole]


def _curve(
    rows: pd.DataFrame, outcomes: list[Outcome], labels: Labels
) -> Iterator[tuple[dict[str, Any], Specified | None]]:
    """Every specification of a contrast: its row, and its values under each labelling."""
    for choice in _choices(rows, labels.a):
        for outcome in outcomes:
            for base in _bases(choice, outcome, labels):
                for weights in _weights(base):
                    yield _specified(base, weights, NOTHING, np.ones(len(base.sizes), dtype=bool))
                whole = choice.wording == choice.runs == ALL and base.named["pairing"] == SESSIONS
                for name, kept in _left_out(base) if whole else ():
                    yield _specified(base, TOPICS, name, kept)
                if whole and base.named["model"] == MEANS:
                    yield from _mixed(base)


def _bases(choice: Choice, outcome: Outcome, labels: Labels) -> Iterator[Base]:
    """The comparisons of one choice and outcome: of means and of covariance, all and pairs."""
    index = next(name for name, measure in INDICES.items() if measure == outcome.measure)
    named = {"a": labels.a, "b": labels.b, "index": index, "scale": outcome.scale}
    named |= {"wording": choice.wording, "runs": choice.runs}
    tried = [(MEANS, choice.rows, outcome.column)]
    slope = np.nan
    if outcome.scale == "absolute":
        slope = adjusted(choice.rows, outcome, labels.a, labels.b)["slope"]
    if np.isfinite(slope):
        moved = choice.rows[outcome.column] + (1 - slope) * choice.rows[before_of(outcome)]
        tried.append((COVARIANCE, choice.rows.assign(adjusted=moved), "adjusted"))
    for model, rows, column in tried:
        found = compared(rows, column, labels.a, labels.b)
        own = named | {"pairing": SESSIONS, "model": model}
        yield _base(own, found, found.runs, labels)
        if labels.paired and found.unpaired:
            keys = ["block", "replicate"]
            paired = pd.MultiIndex.from_frame(found.pairs[keys])
            runs = found.runs[pd.MultiIndex.from_frame(found.runs[keys]).isin(paired)]
            yield _base(own | {"pairing": PAIRS}, found, runs, labels)


def _base(named: dict[str, Any], found: Compared, runs: pd.DataFrame, labels: Labels) -> Base:
    """The blocks of these sessions of a comparison under each labelling."""
    if not len(runs):
        empty = np.empty((len(labels.signs), 0))
        return Base(named, found.part([]), empty, np.empty(0), np.nan)
    blocks, codes = np.unique(runs["block"], return_inverse=True)
    first = runs["treatment"] == labels.a
    values = runs["value"].to_numpy(dtype=float)
    differences = relabelled(values, first, codes, labels.units_of(runs), labels.signs)
    about = values - runs.groupby("treatment")["value"].transform("mean").to_numpy()
    scale = float(np.sqrt(about @ about / max(len(runs) - 2, 1)))
    sizes = np.bincount(codes).astype(float)
    return Base(named, found.part(list(blocks)), differences, sizes, scale)


def _weights(base: Base) -> Iterator[str]:
    """The weightings of blocks that differ in this comparison."""
    yield TOPICS
    counts = base.found.blocks["topic"].value_counts()
    if counts.nunique() > 1:
        yield BLOCKS
    if len(np.unique(base.sizes)) > 1:
        yield BY_SESSIONS


def _left_out(base: Base) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each topic and each model, by name, and which blocks are left without it."""
    for column, fewest in (("topic", 3), ("model", 2)):
        values = base.found.blocks[column].astype(str).to_numpy()
        names = sorted(set(values))
        for name in names if len(names) >= fewest else ():
            yield f"{column} {name}", values != name


def _specified(
    base: Base, weights: str, left_out: str, kept: NDArray[np.bool_]
) -> tuple[dict[str, Any], Specified | None]:
    """One specification: its row, and its values under each labelling, None without a block."""
    blocks = base.found.blocks[kept]
    topics = blocks["topic"].astype(str)
    row = base.named | {"weights": weights, "left_out": left_out}
    row |= {"topics": topics.nunique(), "blocks": len(blocks)}
    if blocks.empty:
        why = f"no_block: no topic and model has values under both {row['a']} and {row['b']}"
        return row | {"note": noted(why, *base.found.left_out)}, None
    sizes = base.sizes[kept] if weights == BY_SESSIONS else np.ones(len(blocks))
    equal = weights == TOPICS
    one = over_clusters(base.differences[:, kept], sizes, topics, base.scale, equal)
    notes = [too_few("topic", topics.nunique()), *base.found.left_out]
    return _told(row, one, notes), one


def _told(row: dict[str, Any], one: Specified, notes: list[str]) -> dict[str, Any]:
    """The row with estimate, interval and p under the real labels."""
    from scipy.special import stdtrit

    half = float(stdtrit(one.df, 0.975)) * one.errors[0] if one.df > 0 else np.nan
    estimate = float(one.estimates[0])
    found = {"estimate": estimate, "low": estimate - half, "high": estimate + half}
    found |= {"df": one.df if one.df > 0 else np.nan, "p": float(one.p[0])}
    if np.isnan(half) and row["topics"] > 1:
        notes = ["no_variance: all topics have the same difference", *notes]
    return row | found | {"note": noted(*notes)}


def _mixed(base: Base) -> Iterator[tuple[dict[str, Any], Specified | None]]:
    """The mixed model over topics and models, where there are five of each."""
    fitted = over_topics_and_models(base.found)
    if fitted["unit"] != "topic and model" or np.isnan(fitted["error"]):
        return
    cells = base.found.blocks["topic"].astype(str) + "\n" + base.found.blocks["model"].astype(str)
    means = over_clusters(base.differences, np.ones(len(cells)), cells, base.scale, equal=True)
    errors = np.full(len(means.estimates), fitted["error"])
    estimates = means.estimates + (fitted["estimate"] - means.estimates[0])
    one = Specified(
        np.where(np.arange(len(errors)), means.estimates, estimates),
        errors,
        fitted["df"],
        base.scale,
    )
    row = base.named | {"weights": "topics and models", "model": MIXED, "left_out": NOTHING}
    row |= {"topics": fitted["topics"], "blocks": len(cells)}
    yield _told(row, one, [fitted["note"]]), one


def _joint(labels: Labels, curve: list[Specified]) -> Iterator[dict[str, Any]]:
    """The rows of the joint test of one contrast."""
    named = {"a": labels.a, "b": labels.b, "specifications": len(curve), "units": labels.units}
    told = [one for one in curve if one.scale > 0]
    if not told:
        yield named | {"note": "no_value: no specification has an estimate, or nothing varies"}
        return
    for statistic, found in joint_test(told).items():
        note = "" if found.p == found.p else UNDECIDED
        yield named | {"statistic": statistic, **vars(found), "note": note}


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
