"""The specification curve: each contrast under every choice that an analyst could have made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.blocks import BlockComparison, compared
from delibsim.analysis.study.effect_sizes import adjusted, before_of
from delibsim.analysis.study.effects import noted, too_few
from delibsim.analysis.study.mixed import over_topics_and_models
from delibsim.analysis.study.mixed_subjects import stood_in
from delibsim.analysis.study.outcomes import CHANGE, RELATIVE, OutcomeMeasure
from delibsim.analysis.study.sample import (
    families_in,
    main_population,
    outcomes_of,
    why_no_contrast,
)
from delibsim.analysis.study.study_table import WORDING, DrawCounts, StudyTable
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import Specified, joint_test, over_clusters, relabelled
from delibsim.measures.inference.means import t_quantile

DRAW = ("topic", "replicate")
SESSION = ("topic", "model", "treatment", "replicate")


@dataclass(frozen=True)
class Labels:
    """Labellings of the sessions under treatments a and b.

    `signs` (m, units) has -1 where the sessions of a unit exchange their labels; its first row is
    1 throughout. A unit is a draw (topic and replicate) where treatments share seeds (`paired`);
    where they do not, it is a replicate of a treatment with one model, in all settings together.
    `number` gives the number of a unit by its key.
    """

    a: str
    b: str
    paired: bool
    signs: NDArray[np.float64]
    number: Mapping[tuple[str, ...], int]

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.number)

    def units_of(self, runs: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the unit of each of these sessions, as `compared` gives them."""
        keys = _keys(runs, self.paired)
        return np.fromiter((self.number[key] for key in keys), np.intp, len(keys))


def labels_of(
    rows: pd.DataFrame, pair: tuple[str, str], paired: bool, most: int, seed: int
) -> Labels:
    """The labellings of all sessions under two treatments, whatever their values.

    All ways of exchanging the labels of draws are listed where there are at most `most`; else
    `most` are drawn beside the real one. Where seeds are not shared, labels are permuted within
    topic and model.
    """
    a, b = pair
    runs = compared(rows.assign(entered=0.0), "entered", a, b).runs
    keys = list(_keys(runs, paired))
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    rng, count = np.random.default_rng(seed), len(number)
    if paired and 2**count <= most:
        patterns = np.arange(2**count)[:, None] >> np.arange(count)
        return Labels(a, b, paired, 1.0 - 2.0 * (patterns & 1), number)
    signs = np.ones((most + 1, count))
    if paired:
        signs[1:] = 1.0 - 2.0 * rng.integers(0, 2, (most, count))
        return Labels(a, b, paired, signs, number)
    units = pd.DataFrame(list(number), columns=list(SESSION))
    label = np.where(units["treatment"] == a, 1.0, -1.0)
    for _, own in units.groupby(["topic", "model"]).groups.items():
        place = np.asarray(own)
        drawn = rng.permuted(np.tile(label[place], (most, 1)), axis=1)
        signs[1:, place] = drawn * label[place]
    return Labels(a, b, paired, signs, number)


def _keys(runs: pd.DataFrame, paired: bool) -> list[tuple[str, ...]]:
    """The key of the unit of each session."""
    columns = [runs[name].astype(str) for name in (DRAW if paired else SESSION)]
    return list(zip(*columns, strict=True))


MOST_DRAWS = 2_000
"""Labellings at the most."""
INDICES = {"plain": "dri", "adjusted": "dri_adjusted"}
NAMES = {measure: name for name, measure in INDICES.items()}
SCALES = (CHANGE, RELATIVE)
ALL, NOTHING = "all", "nothing"
UNTOUCHED = "without re-asked"
NO_STAND_IN = "without stand-ins"
SESSIONS, PAIRS = "all sessions", "pairs alone"
TOPICS, BLOCKS, BY_SESSIONS = "topics alike", "blocks alike", "by sessions"
MEANS, COVARIANCE, MIXED = "means", "covariance", "mixed model"
UNDECIDED = "undecided: no specification has an error over topics, and so none has a p"


@dataclass(frozen=True, eq=False)
class SessionSubset:
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
    found: BlockComparison
    differences: NDArray[np.float64]
    sizes: NDArray[np.float64]
    scale: float


def specifications(study: StudyTable, draws: DrawCounts) -> list[Result]:
    """The tables `specifications`, a row a contrast and choices, and `joint_test`."""
    rows, notes = main_population(study)
    indices = [OutcomeMeasure(measure, scale) for measure in INDICES.values() for scale in SCALES]
    given, missing = outcomes_of(rows, study.outcomes or indices)
    code, detail = why_no_contrast(rows, given)
    labellings = min(draws.permutations, MOST_DRAWS)
    found: list[dict[str, Any]] = []
    joint: list[dict[str, Any]] = []
    if not code:
        pairs = next(iter(families_in(rows).values()))
        for a, b in pairs:
            seed = seed_of(draws.seed, "specifications", a, b)
            labels = labels_of(rows, (a, b), study.paired, labellings, seed)
            curve = list(_curve(rows, given, labels))
            found += [row for row, _ in curve]
            joint += _joint(labels, [one for _, one in curve if one is not None])
        notes += [*missing, *_not_varied(rows), *_summaries(found, pairs)]
    shown = [] if code else notes
    curve = make_table("study/specifications", found, shown, code, detail)
    first = shown[:1]
    whole = make_table("study/joint_test", joint, first, code, detail, labellings=labellings)
    return [curve, whole]


def _curve(
    rows: pd.DataFrame, outcomes: list[OutcomeMeasure], labels: Labels
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


def _bases(choice: SessionSubset, outcome: OutcomeMeasure, labels: Labels) -> Iterator[Base]:
    """The comparisons of one choice and outcome: of means and of covariance, all and pairs."""
    index = NAMES.get(outcome.measure, outcome.measure)
    named = {"a": labels.a, "b": labels.b, "index": index, "scale": outcome.scale}
    named |= {"wording": choice.wording, "runs": choice.runs}
    tried = [(MEANS, choice.rows, outcome.column)]
    slope = np.nan
    if outcome.scale == CHANGE:
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


def _base(
    named: dict[str, Any], found: BlockComparison, runs: pd.DataFrame, labels: Labels
) -> Base:
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
    if len(blocks) < len(found.blocks):
        found = found.part(list(blocks))
    return Base(named, found, differences, sizes, scale)


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
        why = f"no_block: {base.found.no_block}"
        return row | {"note": noted(why, *base.found.left_out)}, None
    sizes = base.sizes[kept] if weights == BY_SESSIONS else np.ones(len(blocks))
    equal = weights == TOPICS
    one = over_clusters(base.differences[:, kept], sizes, topics, base.scale, equal)
    notes = [too_few("topic", topics.nunique()), *base.found.left_out]
    return _told(row, one, notes), one


def _told(row: dict[str, Any], one: Specified, notes: list[str]) -> dict[str, Any]:
    """The row with estimate, interval and p under the real labels."""
    half = t_quantile(one.df) * one.errors[0] if one.df > 0 else np.nan
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
    estimates[1:] = means.estimates[1:]
    one = Specified(estimates, errors, fitted["df"], base.scale)
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


def _choices(rows: pd.DataFrame, a: str) -> Iterator[SessionSubset]:
    """What may be chosen of wordings and of runs, all sessions first."""
    for choice in _wordings(rows, a):
        yield choice
        if "reasked" in rows.columns and (rows["reasked"] > 0).any():
            untouched = choice.rows[choice.rows["reasked"] == 0]
            yield replace(choice, runs=UNTOUCHED, rows=untouched)
        if stood_in(rows).any():
            yield replace(choice, runs=NO_STAND_IN, rows=choice.rows[~stood_in(choice.rows)])


def _wordings(rows: pd.DataFrame, a: str) -> Iterator[SessionSubset]:
    yield SessionSubset(ALL, ALL, rows)
    names = rows["wording"].dropna().astype(str) if "wording" in rows.columns else pd.Series()
    if names.nunique() > 1:
        for name in sorted(names.unique()):
            yield SessionSubset(name, ALL, rows[rows["wording"] == name])
    held = rows.loc[rows["treatment"] == a, WORDING] if WORDING in rows.columns else pd.Series()
    for wording in sorted(held.unique()) if held.nunique() > 1 else ():
        own = (rows["treatment"] != a) | (rows[WORDING] == wording)
        yield SessionSubset(wording, ALL, rows[own])


def _not_varied(rows: pd.DataFrame) -> list[str]:
    """Sentences on the choices that this study leaves nobody."""
    found = []
    if "reasked" not in rows.columns:
        found.append("Whether answers were asked again is not in the table of this study.")
    elif not (rows["reasked"] > 0).any():
        found.append(said("study/none_reasked"))
    elif rows["reasked"].isna().any():
        unknown = int(rows["reasked"].isna().sum())
        found.append(f"Sessions whose record does not tell, which count as asked again: {unknown}.")
    if "wording" not in rows.columns or rows["wording"].nunique() < 2:
        found.append("The study has one wording of prompts.")
    return found


def _summaries(found: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> list[str]:
    """A sentence a contrast: how its specifications spread."""
    table = pd.DataFrame(found, columns=["a", "b", "scale", "estimate", "p"])
    sentences = []
    for a, b in pairs:
        own = table[(table["a"] == a) & (table["b"] == b) & table["estimate"].notna()]
        if own.empty:
            continue
        spread = []
        for scale, values in own.groupby("scale")["estimate"]:
            spread.append(f"{scale} {values.min():.3f} to {values.max():.3f}")
        above, small = int((own["estimate"] > 0).sum()), int((own["p"] < 0.05).sum())
        told = {"n": len(own), "above": above, "small": small, "spread": ", ".join(spread)}
        sentences.append(said("study/specifications", a=a, b=b, **told))
    return sentences
