"""Debates compared: who wins, how well they perform, how far raters agree, and whether place or length decided.

All functions take the table of `rating_table`, one row a rating of a debate, and return tables. `analysed` leaves out the raters who
failed the attention check; a missing value leaves a row out of what needs it, and every table says how many rows it stands on. The
unit that the bootstrap draws is the debate, with all of its ratings: raters of one debate judge the same speeches.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rated, debated
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import PREPARATION
from delibsim.measures.reliability import (
    cronbach_alpha,
    gwet_ac1,
    icc_2k,
    krippendorff_alpha,
    raw_agreement,
    why_inconsistent,
    why_undefined,
)

SAMPLES = 10_000
OTHER: Mapping[str, str] = {"proposition": "opposition", "opposition": "proposition"}


def rating_table(runs: Iterable[Rated]) -> pd.DataFrame:
    """One row for each rating of each complete debate.

    Columns: debate, motion, replicate, rater, source, model (of the rater), proposition and opposition (the debaters), first (the
    side shown as Speaker A), winner, before, after, attentive, SIDE.DIMENSION for both sides and eleven dimensions, SIDE.words.
    What a rater did not give is missing (NaN or None).
    """
    rows = []
    for run in runs:
        if not debated(run):
            continue
        debaters = {p.role: p for p in run.session.participants}
        words = {
            side: sum(len(s.text.split()) for s in run.transcript if s.turn.task != PREPARATION and s.turn.speaker == debaters[side].id)
            for side in SIDES
        }
        for r in run.ratings:
            row: dict[str, Any] = {
                "debate": run.session.id, "motion": run.session.topic.id, "replicate": run.session.replicate,
                "rater": r.rater, "source": r.source, "model": r.model,
                "proposition": debaters["proposition"].model, "opposition": debaters["opposition"].model,
                "first": r.first, "winner": r.winner, "attentive": r.attentive,
                "before": np.nan if r.before is None else r.before, "after": np.nan if r.after is None else r.after,
            }  # fmt: skip
            for side in SIDES:
                row |= {f"{side}.{dimension}": r.of(side).get(dimension, np.nan) for dimension in DIMENSIONS}
                row[f"{side}.words"] = words[side]
            rows.append(row)
    return pd.DataFrame(rows, columns=columns())


def columns() -> list[str]:
    """The columns of the table of ratings, in order."""
    named = ["debate", "motion", "replicate", "rater", "source", "model", "proposition", "opposition", "first", "winner", "attentive"]
    return [*named, "before", "after", *(f"{side}.{name}" for side in SIDES for name in (*DIMENSIONS, "words"))]


def analysed(table: pd.DataFrame) -> pd.DataFrame:
    """The ratings that count: all but those whose rater is known to have failed the attention check."""
    failed = table["attentive"].astype(object).isin([False])
    return table[~failed.astype(bool)]


def debaters_of(table: pd.DataFrame) -> list[str]:
    """The names of all debaters, in order of name."""
    return sorted(set(table["proposition"]) | set(table["opposition"]))


def by_debater(table: pd.DataFrame) -> pd.DataFrame:
    """Two rows a rating, one from each debater's point of view.

    Columns: debate, motion, rater, debater, opponent, side, won (1, 0 or NaN), own.DIMENSION and other.DIMENSION.
    """
    views = []
    for side in SIDES:
        view = table[["debate", "motion", "rater"]].assign(debater=table[side], opponent=table[OTHER[side]], side=side)
        view["won"] = (table["winner"] == side).astype(float).where(table["winner"].notna())
        for dimension in DIMENSIONS:
            view[f"own.{dimension}"] = table[f"{side}.{dimension}"].astype(float)
            view[f"other.{dimension}"] = table[f"{OTHER[side]}.{dimension}"].astype(float)
        views.append(view)
    return pd.concat(views, ignore_index=True)


def standings(table: pd.DataFrame, seed: int = 0, samples: int = SAMPLES) -> pd.DataFrame:
    """Win rate and mean performance of every debater with percentile bootstrap intervals over debates, ranked by win rate.

    Columns: debater, debates, ratings, win_rate, win_low, win_high, performance, performance_low, performance_high, rank (1 is
    best; equal rates share the mean of their ranks). The win rate is the share of ratings that named the debater the winner.
    """
    view = by_debater(table)
    rows = []
    for debater in debaters_of(table):
        own = view[view["debater"] == debater]
        rng = np.random.default_rng(seed_of("standings", debater, seed))
        row = {"debater": debater, "debates": own["debate"].nunique(), "ratings": int(own["won"].notna().sum())}
        for name, column in (("win", "won"), ("performance", "own.performance")):
            low, high = _interval(own, column, rng, samples)
            row |= {"win_rate" if name == "win" else name: own[column].mean(), f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    found = pd.DataFrame(rows)
    if found.empty:
        return found
    found["rank"] = found["win_rate"].rank(ascending=False)
    return found.sort_values(["rank", "debater"], ignore_index=True)


def _interval(own: pd.DataFrame, column: str, rng: np.random.Generator, samples: int) -> tuple[float, float]:
    """The 95 percent percentile interval of a mean over ratings when whole debates are drawn; NaN with fewer than two debates."""
    sums = own.groupby("debate")[column].agg(["sum", "count"]).to_numpy(dtype=float)
    sums = sums[sums[:, 1] > 0]
    if len(sums) < 2:
        return float("nan"), float("nan")
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=samples) @ sums
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return float(low), float(high)


def reliability(table: pd.DataFrame) -> pd.DataFrame:
    """How far raters agree. Columns: measure, value, units, raters, note (the reason of a value that is NaN).

    On the winner: Krippendorff's alpha, raw agreement, Gwet's AC1. On performance: ICC(2,k) over both sides of the debates that every
    rater rated. Of the scale: Cronbach's alpha of the eleven dimensions.
    """
    winners = _wide(table.assign(proposition_won=(table["winner"] == "proposition").astype(float).where(table["winner"].notna())))
    note = why_undefined(winners)
    rows = [
        ("winner_alpha", krippendorff_alpha(winners), winners, note),
        ("winner_agreement", raw_agreement(winners), winners, "" if note == "one_category" else note),
        ("winner_ac1", gwet_ac1(winners), winners, note),
    ]
    view = by_debater(table)
    performance = view.assign(unit=view["debate"] + "/" + view["side"]).pivot_table(
        index="unit", columns="rater", values="own.performance", dropna=False
    )
    complete = performance.dropna().to_numpy(dtype=float).reshape(-1, max(performance.shape[1], 1))
    note = why_inconsistent(complete) if len(complete) else "no_debate_rated_by_all"
    rows.append(("performance_icc_2k", icc_2k(complete), complete, note))
    scale = view[[f"own.{dimension}" for dimension in DIMENSIONS]].dropna().to_numpy(dtype=float)
    found = [{"measure": m, "value": v, "units": len(t), "raters": t.shape[1], "note": n} for m, v, t, n in rows]
    found.append(
        {"measure": "scale_alpha", "value": cronbach_alpha(scale), "units": len(scale), "raters": table["rater"].nunique(),
         "note": why_inconsistent(scale)}
    )  # fmt: skip
    return pd.DataFrame(found)


def _wide(table: pd.DataFrame) -> np.ndarray:
    """Debates by raters: 1 where the rater named the proposition, 0 the opposition, NaN where neither."""
    return table.pivot_table(index="debate", columns="rater", values="proposition_won", dropna=False).to_numpy(dtype=float)


def paired_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Paired t tests on every dimension, with Holm's correction over the eleven dimensions of each contrast.

    Contrasts: proposition against opposition, and every debater against its opponents; a pair are the two values that one rater gave
    in one debate. Columns: contrast, dimension, n, difference, t, p, p_holm, note. Where there are fewer than two pairs, or all
    differences are equal, the test is NaN with the reason.
    """
    view = by_debater(table)
    contrasts = {"proposition - opposition": view[view["side"] == "proposition"]}
    contrasts |= {f"{name} - opponents": view[(view["debater"] == name) & (view["opponent"] != name)] for name in debaters_of(table)}
    return pd.DataFrame([row for name, pairs in contrasts.items() for row in _paired(name, pairs)])


def _paired(contrast: str, pairs: pd.DataFrame) -> list[dict[str, Any]]:
    from scipy.stats import ttest_1samp

    rows = []
    for dimension in DIMENSIONS:
        d = (pairs[f"own.{dimension}"] - pairs[f"other.{dimension}"]).dropna().to_numpy()
        note = "too_few_ratings" if len(d) < 2 else "no_variance" if np.ptp(d) == 0 else ""
        t, p = (np.nan, np.nan) if note else ttest_1samp(d, 0)
        mean = d.mean() if len(d) else np.nan
        rows.append({"contrast": contrast, "dimension": dimension, "n": len(d), "difference": mean, "t": t, "p": p, "note": note})
    adjusted = holm([float(row["p"]) for row in rows])
    order = ("contrast", "dimension", "n", "difference", "t", "p", "p_holm", "note")
    return [{name: {**row, "p_holm": p}[name] for name in order} for row, p in zip(rows, adjusted, strict=True)]


def holm(p: Sequence[float]) -> list[float]:
    """P values after Holm's correction; those that are NaN stay so and do not count in the family."""
    from statsmodels.stats.multitest import multipletests

    adjusted = np.array(p, dtype=float)
    given = ~np.isnan(adjusted)
    if given.any():
        adjusted[given] = multipletests(adjusted[given], method="holm")[1]
    return adjusted.tolist()


def counts(runs: Iterable[Rated], table: pd.DataFrame) -> pd.DataFrame:
    """What was held, rated and analysed for every motion, and why the rest was not.

    Columns: motion, held, complete, rated (debates), ratings, without_winner, failed_attention, analysed (ratings).
    """
    runs = list(runs)
    rows = []
    for motion in sorted({run.session.topic.id for run in runs}):
        held = [run for run in runs if run.session.topic.id == motion]
        given = table[table["motion"] == motion]
        kept = analysed(given)
        rows.append(
            {
                "motion": motion, "held": len(held), "complete": sum(map(debated, held)),
                "rated": given["debate"].nunique(), "ratings": len(given), "without_winner": int(given["winner"].isna().sum()),
                "failed_attention": len(given) - len(kept), "analysed": int(kept["winner"].notna().sum()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
