"""Debates compared: the table of ratings, who wins, how well they perform, and how they differ.

All functions take the table of `rating_table`, one row a rating of a debate, and return tables.
`analysed` leaves out the raters who failed the attention check; a missing value leaves a row out of
what needs it, and every table says how many rows it stands on. Intervals speak of motions or, where
these are few, of debates. The unit that the published bootstrap draws is the debate, with all of
its ratings: raters of one debate judge the same speeches.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from delibsim.analysis.result import entry, with_holm
from delibsim.domain.annotation import DIMENSIONS, AnnotatedRun, Rating, debated
from delibsim.domain.conversation import KINDS_OF_PEOPLE
from delibsim.domain.errors import unknown
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.study import cell_of
from delibsim.domain.transcript import PREPARATION
from delibsim.measures.inference.contrasts import flipped_p
from delibsim.measures.inference.means import mean_within

Array = NDArray[np.float64]
Row = dict[str, Any]
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


def _debate(run: AnnotatedRun) -> Row:
    """What all ratings of a debate have in common, by column."""
    session = run.session
    row: Row = {
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


def _rating(run: AnnotatedRun, rating: Rating) -> Row:
    """What one rater says of a debate, by column."""
    row: Row = {
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
    """The kind of a debater: "human" for a person, in a browser or not, else "model"."""
    return "human" if session.models[model].get("kind") in KINDS_OF_PEOPLE else "model"


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
        row: Row = {"debater": debater, "unit": kind}
        row |= {"debates": own["debate"].nunique(), "motions": own["motion"].nunique()}
        row["ratings"] = int(own["won"].notna().sum())
        notes = ["few_motions"] if kind == "debate" else []
        for name, column in (("win", "won"), ("performance", "own.performance")):
            found = mean_over(own[column], **{kind: own[kind]})
            row |= {f"{name}_low": found.low, f"{name}_high": found.high}
            row["win_rate" if name == "win" else name] = found.mean
            row.setdefault("df", found.df)
            low, high = percentile_interval(own, column, rng, samples)
            row |= {f"{name}_published_low": low, f"{name}_published_high": high}
            notes.append(found.note)
        rows.append(row | {"note": " ".join(dict.fromkeys(filter(None, notes)))})
    found = entry("debates/standings").frame(rows)
    found["win_low"], found["win_high"] = found["win_low"].clip(0), found["win_high"].clip(upper=1)
    for rank, column in (("rank", "win_rate"), ("performance_rank", "performance")):
        found[rank] = found[column].rank(ascending=False)
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
        row = {"motion": motion, "held": len(held), "complete": sum(map(debated, held))}
        row |= {"rated": given["debate"].nunique(), "ratings": len(given)}
        row["without_winner"] = int(given["winner"].isna().sum())
        row |= {"failed_attention": len(given) - len(kept)}
        rows.append(row | {"analysed": int(kept["winner"].notna().sum())})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Focus:
    """The kind of debater that is compared, and the kind that it is compared with.

    `indicator` is the kind that is 1 in the models of performance.
    """

    kind: str = "model"
    rest: str = "human"
    indicator: str = "human"

    @property
    def contrast(self) -> str:
        """The name of a difference between the two."""
        return f"{self.kind} - {self.rest}"


ALL = "all"
"""The rows of all debaters, of whatever kind."""
MODELS_AND_PEOPLE = Focus()
"""Of the published debates: language models less people."""


def focused(table: pd.DataFrame, name: str | None) -> tuple[pd.DataFrame, Focus]:
    """The table of ratings with its kinds of debaters, and what is compared.

    Without a name the kinds are "model" and "human" as they stand. With the name of a debater
    they become that name and "rest". WrongInput for a name that is no debater's.
    """
    if name is None:
        return table, MODELS_AND_PEOPLE
    debaters = debaters_of(table)
    if name not in debaters:
        raise unknown("debater", name, debaters)
    kinds = {f"{side}.kind": np.where(table[side] == name, name, "rest") for side in SIDES}
    return table.assign(**kinds), Focus(name, "rest", name)


def kinds_of(table: pd.DataFrame) -> list[str]:
    """The kinds of debaters in the table, in order of name; none of an empty table."""
    return sorted(set(table["proposition.kind"]) | set(table["opposition.kind"]))


def views_by_kind(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Two rows a rating, as in `by_debater`: of all debaters and, where two kinds debate, of each.

    The column `unit` names the side of a debate that was rated.
    """
    view = by_debater(table)
    view["unit"] = view["debate"] + "/" + view["side"]
    yield ALL, view
    if len(kinds_of(table)) > 1:
        for kind, own in view.groupby("kind"):
            yield str(kind), own


def meetings(table: pd.DataFrame) -> pd.Series:
    """Who met in each rating's debate, such as "human v model", in order of name."""
    pairs = zip(table["proposition.kind"], table["opposition.kind"], strict=True)
    return pd.Series([" v ".join(sorted(pair)) for pair in pairs], table.index, dtype=object)


def sign_of(table: pd.DataFrame, focus: Focus) -> pd.Series:
    """Which side the kind in focus took: +1 proposition, -1 opposition, in each rating's debate.

    NaN where the two kinds did not meet.
    """
    pairs = list(zip(table["proposition.kind"], table["opposition.kind"], strict=True))
    signs = {(focus.kind, focus.rest): 1.0, (focus.rest, focus.kind): -1.0}
    return pd.Series([signs.get(pair, np.nan) for pair in pairs], index=table.index, dtype=float)


HEADLINE = "over motions like these"
ON_THESE = "on these motions"
ANEW = "over motions and raters like these"
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    HEADLINE: ("motion",),
    ON_THESE: ("debate",),
    ANEW: ("motion", "rater"),
}
"""The three questions, with the units whose errors are taken together."""
OUTCOMES = ("winning", "performance")
LEVEL = 0.05
"""The level at which a difference is called one, after Holm's correction."""


def debater_contrasts(
    table: pd.DataFrame,
    focus: Focus = MODELS_AND_PEOPLE,
    seed: int = 0,
    samples: int = SAMPLES,
) -> pd.DataFrame:
    """Differences between debaters in winning and in performance: three rows each.

    `winning` is the share of ratings that named the one the winner less the share that named the
    other; `performance` is in points. A family holds the contrast of kinds, those of each debater
    with all its opponents (where there are more than two debaters), or those of two debaters who
    met in five debates or more. The rows answer, in order, the questions of `QUESTIONS`. Intervals
    are by t on `df`; there is none below five units. On these motions debates vary about the mean
    of their motion (`unit` "debate within motion") where there are four debates more than motions.
    p is by t or, where the unit is "debate", by flipping the sign of all ratings of a debate at
    once. p_holm is over the contrasts of one family and question in both outcomes.

    `verb` stands in the first row: "better" or "worse" where the interval excludes 0 and p_holm is
    below .05, else "on_these_motions" where p_holm of the second row is below .05, else "none".
    `published_low` and `published_high` are the percentile interval from samples of debates, as
    published, which is too short where debates or motions are few.
    """
    rows: list[Row] = []
    for family, contrast, own in _contrasts(by_debater(table), debaters_of(table), focus):
        for outcome in OUTCOMES:
            found = _answers(contrast, own.dropna(subset=[outcome]), outcome, seed, samples)
            rows += [
                {"family": family, "contrast": contrast, "outcome": outcome} | row for row in found
            ]
    with_holm(rows, "family", "question")
    for headline, on_these in zip(rows[::3], rows[1::3], strict=True):
        headline["verb"] = _verb(headline, on_these)
    return entry("debates/contrasts").frame(rows)


def _contrasts(
    view: pd.DataFrame, debaters: list[str], focus: Focus
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """What is compared, the headline first: its family, whose contrasts are corrected together, its
    name, and its ratings with both outcomes.
    """
    view = view[view["debater"] != view["opponent"]]
    view = view.assign(
        winning=2 * view["won"] - 1,
        performance=view["own.performance"] - view["other.performance"],
    )
    kinds = view[(view["kind"] == focus.kind) & (view["other_kind"] == focus.rest)]
    if len(kinds) and focus.kind not in debaters:
        yield "kinds", focus.contrast, kinds
    if len(debaters) > 2:
        for name in debaters:
            own = view[view["debater"] == name]
            yield "debater against opponents", f"{name} - opponents", own
    for one, other in combinations(debaters, 2):
        met = view[(view["debater"] == one) & (view["opponent"] == other)]
        if met["debate"].nunique() >= FEWEST:
            yield "pairs of debaters", f"{one} - {other}", met


def _answers(
    contrast: str, own: pd.DataFrame, outcome: str, seed: int, samples: int
) -> Iterator[Row]:
    """The three rows of a contrast in one outcome; p_holm and the verb of the first come later."""
    rng = np.random.default_rng(seed_of("contrast", contrast, outcome, seed))
    low, high = percentile_interval(own, outcome, rng, samples)
    for question, kinds in QUESTIONS.items():
        if question == ON_THESE:
            found = mean_on_these(own[outcome], own["debate"], own["motion"])
        else:
            found = mean_over(own[outcome], **{kind: own[kind] for kind in kinds})
        row: Row = {"question": question, "verb": "", "n": len(own), **vars(found)}
        row |= {"debates": own["debate"].nunique(), "estimate": found.mean}
        row |= {"published_low": low, "published_high": high}
        if found.unit == "debate":
            row["p"] = _by_flips(own, outcome, samples, seed)
        yield row


def _by_flips(own: pd.DataFrame, outcome: str, permutations: int, seed: int) -> float:
    """The p of a mean of 0 where the signs of all ratings of a debate are flipped at once."""
    together = pd.factorize(own["debate"])[0]
    values = own[outcome].to_numpy(dtype=float)
    return flipped_p(values, np.zeros(len(own), dtype=int), together, permutations, seed)


def _verb(headline: Row, on_these: Row) -> str:
    """What may be said of a contrast."""
    excludes_zero = headline["low"] > 0 or headline["high"] < 0
    if headline["units"] >= FEWEST and excludes_zero and headline["p_holm"] < LEVEL:
        return "better" if headline["estimate"] > 0 else "worse"
    return "on_these_motions" if on_these["p_holm"] < LEVEL else "none"
