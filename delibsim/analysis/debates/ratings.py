"""Debates compared: the table of ratings, what was held and rated, who wins and how well they
perform.

All functions take the table of `rating_table`, one row a rating of a debate, and return tables.
`analysed` leaves out the raters who failed the attention check; a missing value leaves a row out of
what needs it, and every table says how many rows it stands on. The unit that the bootstrap draws is
the debate, with all of its ratings: raters of one debate judge the same speeches.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rated, debated
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.study import cell_of
from delibsim.domain.transcript import PREPARATION

SAMPLES = 10_000
OTHER: Mapping[str, str] = {"proposition": "opposition", "opposition": "proposition"}


def rating_table(runs: Iterable[Rated]) -> pd.DataFrame:
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
        if not debated(run):
            continue
        debaters = {p.role: p for p in run.session.participants}
        words = {
            side: sum(
                len(s.text.split())
                for s in run.transcript
                if s.turn.task != PREPARATION and s.turn.speaker == debaters[side].id
            )
            for side in SIDES
        }
        for r in run.ratings:
            row: dict[str, Any] = {
                "debate": run.session.id, "cell": cell_of(run.session),
                "motion": run.session.topic.id, "replicate": run.session.replicate,
                "rater": r.rater, "source": r.source, "model": r.model,
                "wording": run.wordings.get(r.panel, ""),
                "proposition": debaters["proposition"].model, "opposition": debaters["opposition"].model,
                "first": r.first, "winner": r.winner, "attentive": r.attentive,
                "before": np.nan if r.before is None else r.before, "after": np.nan if r.after is None else r.after,
            }  # fmt: skip
            for side in SIDES:
                row |= {
                    f"{side}.{dimension}": r.of(side).get(dimension, np.nan)
                    for dimension in DIMENSIONS
                }
                row[f"{side}.words"] = words[side]
                row[f"{side}.kind"] = kind_of(run.session, debaters[side].model)
            rows.append(row)
    return pd.DataFrame(rows, columns=columns())


def columns() -> list[str]:
    """The columns of the table of ratings, in order."""
    named = ["debate", "cell", "motion", "replicate", "rater", "source", "model", "wording"]
    named += ["proposition", "opposition", "first", "winner", "attentive"]
    return [
        *named,
        "before",
        "after",
        *(f"{side}.{name}" for side in SIDES for name in (*DIMENSIONS, "words", "kind")),
    ]


def kind_of(session: Session, model: str) -> str:
    """The kind of a debater: "human" for a person at the terminal, else "model"."""
    return "human" if session.models[model].get("kind") == "human" else "model"


def analysed(table: pd.DataFrame) -> pd.DataFrame:
    """The ratings that count: all but those whose rater is known to have failed the attention
    check.
    """
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
    """Win rate and mean performance of every debater with percentile bootstrap intervals over
    debates, ranked by win rate.

    Columns: debater, debates, ratings, win_rate, win_low, win_high, performance, performance_low,
    performance_high, rank (by win rate; 1 is best; equal rates share the mean of their ranks),
    performance_rank. The win rate is the share of ratings that named the debater the winner.
    """
    view = by_debater(table)
    rows = []
    for debater in debaters_of(table):
        own = view[view["debater"] == debater]
        rng = np.random.default_rng(seed_of("standings", debater, seed))
        row = {
            "debater": debater,
            "debates": own["debate"].nunique(),
            "ratings": int(own["won"].notna().sum()),
        }
        for name, column in (("win", "won"), ("performance", "own.performance")):
            low, high = _interval(own, column, rng, samples)
            row |= {
                "win_rate" if name == "win" else name: own[column].mean(),
                f"{name}_low": low,
                f"{name}_high": high,
            }
        rows.append(row)
    found = pd.DataFrame(rows)
    if found.empty:
        return found
    found["rank"] = found["win_rate"].rank(ascending=False)
    found["performance_rank"] = found["performance"].rank(ascending=False)
    return found.sort_values(["rank", "debater"], ignore_index=True)


def _interval(
    own: pd.DataFrame, column: str, rng: np.random.Generator, samples: int
) -> tuple[float, float]:
    """The 95 percent percentile interval of a mean over ratings when whole debates are drawn; NaN
    with fewer than two debates.
    """
    sums = own.groupby("debate")[column].agg(["sum", "count"]).to_numpy(dtype=float)
    sums = sums[sums[:, 1] > 0]
    if len(sums) < 2:
        return float("nan"), float("nan")
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=samples) @ sums
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return float(low), float(high)


def counts(runs: Iterable[Rated], table: pd.DataFrame) -> pd.DataFrame:
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
        rows.append(
            {
                "motion": motion, "held": len(held), "complete": sum(map(debated, held)),
                "rated": given["debate"].nunique(), "ratings": len(given), "without_winner": int(given["winner"].isna().sum()),
                "failed_attention": len(given) - len(kept), "analysed": int(kept["winner"].notna().sum()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
