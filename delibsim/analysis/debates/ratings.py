"""Debates compared: the table of ratings, what was rated, who wins, and how well they perform.

All functions take the table of `rating_table`, one row a rating of a debate, and return tables.
`analysed` leaves out the raters who failed the attention check; a missing value leaves a row out of
what needs it, and every table says how many rows it stands on. Intervals speak of motions or, where
these are few, of debates. The unit that the published bootstrap draws is the debate, with all of
its ratings: raters of one debate judge the same speeches.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from delibsim.domain.annotation import AnnotatedRun
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rating, debated
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.study import cell_of
from delibsim.domain.transcript import PREPARATION
from delibsim.measures.inference.means import mean_within

Array = NDArray[np.float64]
FEWEST = 5
"""Units below which nothing is said of others like them: there is no interval."""
ROUNDING = 1e-10
"""The share of the largest value below which a standard error is 0."""


@dataclass(frozen=True)
class MeanOverUnits:
    """A mean over ratings with its 95% interval and its p, by t on `df` degrees of freedom.

    `unit` is "motion", "debate", "rater" or "motion and rater"; `units` is the smaller number of
    them, and `df` is one less. Over debates within motions `unit` is "debate within motion", and
    `df` is the number of debates less that of motions. `note` is "" or why there is no interval:
    "few_motions" (or debates, raters), "no_variance" or "not_given".
    """

    mean: float
    se: float
    low: float
    high: float
    df: float
    p: float
    unit: str
    units: int
    note: str = ""


def mean_over(values: ArrayLike, **units: ArrayLike) -> MeanOverUnits:
    """The mean of the values (n,) that are not NaN, over one kind of unit or over two at once.

    Each of `units` names the unit of each value, by kind: motion=..., rater=.... With two kinds the
    variance is that of the one plus that of the other less that of both together, and never below
    that of either.

    >>> found = mean_over([1, 3, 2, 4, 6, 2], debate=[1, 1, 2, 2, 3, 3])
    >>> found.mean, round(found.se, 3), found.df, found.note
    (3.0, 0.577, 2.0, 'few_debates')
    """
    array = np.asarray(values, dtype=float)
    there = ~np.isnan(array)
    own = array[there]
    codes = [pd.factorize(np.asarray(named)[there])[0] for named in units.values()]
    counts = [int(code.max(initial=-1)) + 1 for code in codes]
    few, unit = min(counts), " and ".join(units)
    nan = float("nan")
    if not own.size:
        return MeanOverUnits(nan, nan, nan, nan, nan, nan, unit, 0, "not_given")
    mean, df = float(own.mean()), float(few - 1)
    se = _error(own - mean, codes)
    if few < FEWEST:
        short = min(units, key=lambda kind: counts[list(units).index(kind)])
        return MeanOverUnits(mean, se, nan, nan, df, nan, unit, few, f"few_{short}s")
    if se <= ROUNDING * max(1.0, float(np.abs(own).max())):
        return MeanOverUnits(mean, 0.0, nan, nan, df, nan, unit, few, "no_variance")
    half, p = of_t(mean, se, df)
    return MeanOverUnits(mean, se, mean - half, mean + half, df, p, unit, few)


def mean_on_these(values: ArrayLike, debates: ArrayLike, motions: ArrayLike) -> MeanOverUnits:
    """The mean of the values that are not NaN, with the error of debates on these very motions.

    Debates vary about the mean of their motion (`measures.inference.means.mean_within`), each
    counting for its share of the ratings. Where debates are fewer than four more than motions, it
    is `mean_over` debates, whose error is then too large.
    """
    given = pd.DataFrame({"value": values, "debate": debates, "motion": motions}).dropna()
    plain = mean_over(given["value"], debate=given["debate"])
    if plain.note:
        return plain
    own = given.groupby("debate").agg({"value": ["mean", "size"], "motion": "first"})
    own.columns = ["mean", "size", "motion"]
    strata, _ = pd.factorize(own["motion"])
    found = mean_within(own["mean"], strata, own["size"] / len(given))
    if found.df < FEWEST - 1 or np.isnan(found.p):
        return plain
    kind, size = "debate within motion", len(own)
    ends = (found.low, found.high)
    return MeanOverUnits(plain.mean, found.error, *ends, found.df, found.p, kind, size)


def of_t(estimate: float, se: float, df: float) -> tuple[float, float]:
    """Half of the 95% interval of an estimate, and its two-sided p, by t."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(df, 0.975)) * se, float(2 * stdtr(df, -abs(estimate) / se))


def _error(residuals: Array, codes: list[NDArray[np.intp]]) -> float:
    """The standard error of a mean from its residuals, with the units of each."""
    if min(int(code.max()) for code in codes) < 1:
        return float("nan")
    alone = [_variance(residuals, code) for code in codes]
    if len(codes) == 1:
        return float(np.sqrt(alone[0]))
    first, second = codes
    both = pd.factorize(first * (int(second.max()) + 1) + second)[0]
    together = sum(alone) - _variance(residuals, both)
    return float(np.sqrt(max(together, *alone)))


def _variance(residuals: Array, codes: NDArray[np.intp]) -> float:
    sums = np.bincount(codes, residuals)
    units = len(sums)
    return float(units / (units - 1) * (sums**2).sum() / len(residuals) ** 2)


SAMPLES = 10_000
OTHER: Mapping[str, str] = {"proposition": "opposition", "opposition": "proposition"}


def rating_table(runs: Iterable[AnnotatedRun]) -> pd.DataFrame:
    """One row for each rating of each complete debate.

    Columns: debate, cell (of the design: the debate's name without the replicate), motion,
    replicate, rater, source, model (of the rater), wording (what the rater read; "" where it was
    not kept), proposition and opposition (the debaters), first (the side shown as Speaker A),
    winner, before, after, attentive, SIDE.DIMENSION for both sides and eleven dimensions,
    SIDE.words, SIDE.kind ("human" for a person at the terminal, else "model"). What a rater did not
    give is missing (NaN or None).
    """
    rows = []
    for run in runs:
        if debated(run):
            debate = _debate(run)
            rows += [debate | _rating(run, rating) for rating in run.ratings]
    return pd.DataFrame(rows, columns=columns())


def _debate(run: AnnotatedRun) -> dict[str, Any]:
    """What all ratings of a debate have in common, by column."""
    session = run.session
    row: dict[str, Any] = {
        "debate": session.id,
        "cell": cell_of(session),
        "motion": session.topic.id,
        "replicate": session.replicate,
    }
    debaters = {participant.role: participant for participant in session.participants}
    for side in SIDES:
        debater = debaters[side]
        row[side] = debater.model
        row[f"{side}.words"] = _words(run, debater.id)
        row[f"{side}.kind"] = kind_of(session, debater.model)
    return row


def _words(run: AnnotatedRun, speaker: str) -> int:
    """The words of a debater's speeches, without the notes of its preparation."""
    words = 0
    for statement in run.transcript:
        if statement.turn.speaker == speaker and statement.turn.task != PREPARATION:
            words += len(statement.text.split())
    return words


def _rating(run: AnnotatedRun, rating: Rating) -> dict[str, Any]:
    """What one rater says of a debate, by column."""
    row: dict[str, Any] = {
        "rater": rating.rater,
        "source": rating.source,
        "model": rating.model,
        "wording": run.wordings.get(rating.panel, ""),
        "first": rating.first,
        "winner": rating.winner,
        "attentive": rating.attentive,
        "before": np.nan if rating.before is None else rating.before,
        "after": np.nan if rating.after is None else rating.after,
    }
    for side in SIDES:
        given = rating.of(side)
        for dimension in DIMENSIONS:
            row[f"{side}.{dimension}"] = given.get(dimension, np.nan)
    return row


def columns() -> list[str]:
    """The columns of the table of ratings, in order."""
    named = ["debate", "cell", "motion", "replicate", "rater", "source", "model", "wording"]
    named += ["proposition", "opposition", "first", "winner", "attentive", "before", "after"]
    for side in SIDES:
        named += [f"{side}.{name}" for name in (*DIMENSIONS, "words", "kind")]
    return named


def kind_of(session: Session, model: str) -> str:
    """The kind of a debater: "human" for a person at the terminal, else "model"."""
    return "human" if session.models[model].get("kind") == "human" else "model"


def analysed(table: pd.DataFrame) -> pd.DataFrame:
    """All ratings but those of raters who are known to have failed the attention check."""
    failed = table["attentive"].astype(object).isin([False])
    return table[~failed.astype(bool)]


def debaters_of(table: pd.DataFrame) -> list[str]:
    """The names of all debaters, in order of name."""
    return sorted(set(table["proposition"]) | set(table["opposition"]))


def by_debater(table: pd.DataFrame) -> pd.DataFrame:
    """Two rows a rating, one from each debater's point of view.

    Columns: debate, motion, rater, debater, opponent, kind and other_kind (of the debaters), side,
    won (1, 0 or NaN), own.DIMENSION and other.DIMENSION.
    """
    views = []
    for side in SIDES:
        view = table[["debate", "motion", "rater"]].assign(
            debater=table[side], opponent=table[OTHER[side]], side=side
        )
        view["kind"], view["other_kind"] = table[f"{side}.kind"], table[f"{OTHER[side]}.kind"]
        view["won"] = (table["winner"] == side).astype(float).where(table["winner"].notna())
        for dimension in DIMENSIONS:
            view[f"own.{dimension}"] = table[f"{side}.{dimension}"].astype(float)
            view[f"other.{dimension}"] = table[f"{OTHER[side]}.{dimension}"].astype(float)
        views.append(view)
    return pd.concat(views, ignore_index=True)


def standings(table: pd.DataFrame, seed: int = 0, samples: int = SAMPLES) -> pd.DataFrame:
    """Win rate and mean performance of every debater, ranked by win rate.

    The intervals are by t over motions (`unit`), errors being added up by motion; with fewer than
    five motions they are over debates, speak of these motions alone, and the note says
    "few_motions". With fewer than five debates too there is none.

    Columns: debater, debates, motions, ratings, win_rate, win_low, win_high, performance,
    performance_low, performance_high, unit, df, rank (by win rate; 1 is best; equal rates share the
    mean of their ranks), performance_rank, win_published_low, win_published_high,
    performance_published_low, performance_published_high (percentile intervals from samples of
    debates, as published), note. The win rate is the share of ratings that named the debater the
    winner; its interval by t is cut at 0 and 1.
    """
    view = by_debater(table)
    rows = []
    for debater in debaters_of(table):
        own = view[view["debater"] == debater]
        rng = np.random.default_rng(seed_of("standings", debater, seed))
        kind = "motion" if own["motion"].nunique() >= FEWEST else "debate"
        won = mean_over(own["won"], **{kind: own[kind]})
        performed = mean_over(own["own.performance"], **{kind: own[kind]})
        published = {}
        for name, column in (("win", "won"), ("performance", "own.performance")):
            low, high = percentile_interval(own, column, rng, samples)
            published |= {f"{name}_published_low": low, f"{name}_published_high": high}
        row = {
            "debater": debater,
            "debates": own["debate"].nunique(),
            "motions": own["motion"].nunique(),
            "ratings": int(own["won"].notna().sum()),
            "win_rate": won.mean,
            "win_low": max(won.low, 0.0) if won.low == won.low else np.nan,
            "win_high": min(won.high, 1.0) if won.high == won.high else np.nan,
            "performance": performed.mean,
            "performance_low": performed.low,
            "performance_high": performed.high,
            "unit": kind,
            "df": won.df,
        }
        few = "few_motions" if kind == "debate" else ""
        notes = dict.fromkeys(filter(None, (few, won.note, performed.note)))
        rows.append(row | published | {"note": " ".join(notes)})
    found = pd.DataFrame(rows)
    if found.empty:
        return found
    places = found[["win_rate", "performance"]].rank(ascending=False)
    before = list(found.columns).index("unit")
    found.insert(before, "rank", places["win_rate"])
    found.insert(before + 1, "performance_rank", places["performance"])
    return found.sort_values(["rank", "debater"], ignore_index=True)


def percentile_interval(
    own: pd.DataFrame, column: str, rng: np.random.Generator, samples: int
) -> tuple[float, float]:
    """The 95% percentile interval of a mean over ratings when whole debates are drawn.

    NaN with fewer than two debates.
    """
    sums = own.groupby("debate")[column].agg(["sum", "count"]).to_numpy(dtype=float)
    sums = sums[sums[:, 1] > 0]
    if len(sums) < 2:
        return float("nan"), float("nan")
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=samples) @ sums
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return float(low), float(high)


def counts(runs: Iterable[AnnotatedRun], table: pd.DataFrame) -> pd.DataFrame:
    """What was held, rated and analysed for every motion, and why the rest was not.

    Columns: motion, held, complete, rated (debates), ratings, without_winner, failed_attention,
    analysed (ratings).
    """
    runs = list(runs)
    rows = []
    for motion in sorted({run.session.topic.id for run in runs}):
        held = [run for run in runs if run.session.topic.id == motion]
        given = table[table["motion"] == motion]
        kept = analysed(given)
        row = {
            "motion": motion,
            "held": len(held),
            "complete": sum(map(debated, held)),
            "rated": given["debate"].nunique(),
            "ratings": len(given),
            "without_winner": int(given["winner"].isna().sum()),
            "failed_attention": len(given) - len(kept),
            "analysed": int(kept["winner"].notna().sum()),
        }
        rows.append(row)
    return pd.DataFrame(rows)
