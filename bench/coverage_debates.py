"""Measure how often intervals of the models of ratings hold the truth: python
bench/coverage_debates.py

Tournaments without any difference between models and people, in which the raters of a debate have
something in common; of each table of `delibsim rate report` the interval over debates beside that
which takes ratings one by one, as published. Run it by hand, never in CI; it takes five minutes.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from record import Value, record

from delibsim.analysis.debates.dimensions import correlation_tests
from delibsim.analysis.debates.ratings import MODELS_AND_PEOPLE, columns
from delibsim.analysis.debates.stance import mixed_models, stance_after, stance_models
from delibsim.analysis.debates.winner import winner_model
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.participant import SIDES

SIDE_SD, RATER_SD, RESIDUAL_SD, STANCE_SD = 6.0, 5.0, 8.0, 4.0
DESIGNS = ((12, 20, 5), (24, 6, 6), (100, 50, 5))
ABOUT = f"""How often 95% intervals of the models of ratings hold the truth: tournaments of people
and models of which nobody is better, each debate on one of ten motions rated by so many of the
raters. Points: a side of a debate has an SD of {SIDE_SD:g} on each dimension, raters of
{RATER_SD:g}, what is left of {RESIDUAL_SD:g}; all raters of a debate move by a common amount
(SD {STANCE_SD:g}).
`over debates` is the interval that the tables print, `ratings one by one` the published one.
Neither the side nor the kind of debater matters in truth; the constant of the winner model is 0."""


def drawn(debates: int, raters: int, each: int, seed: int) -> tuple[pd.DataFrame, float]:
    """A table of ratings, and the true correlation of two dimensions among these raters."""
    rng = np.random.default_rng(seed)
    leniency = rng.normal(0, RATER_SD, raters)
    sheets = [rng.permutation(raters) for _ in range(-(-debates * each // raters))]
    places = np.concatenate(sheets)[: debates * each].reshape(debates, each)
    rows = []
    for debate in range(debates):
        kinds = rng.permutation(["model", "human"])
        quality = rng.normal(60, SIDE_SD, (2, len(DIMENSIONS)))
        common = rng.normal(0, STANCE_SD)
        for k in places[debate]:
            marks = quality + leniency[k] + rng.normal(0, RESIDUAL_SD, quality.shape)
            odds = (marks[0] - marks[1]).mean() / 5 + common / 8
            won = rng.random() < 1 / (1 + np.exp(-odds))
            before = float(rng.integers(30, 71))
            after = before + (3 if won else -3) + common + rng.normal(0, RESIDUAL_SD)
            row: dict[str, object] = {
                "debate": f"d{debate}",
                "motion": f"m{debate % 10}",
                "rater": f"r{k}",
            }
            row |= {"winner": SIDES[0] if won else SIDES[1], "before": before}
            row |= {"after": float(np.clip(after, 0, 100)), "attentive": True}
            for side, kind, own in zip(SIDES, kinds, marks, strict=True):
                row |= {side: f"{kind} {debate % 4}", f"{side}.kind": str(kind)}
                row |= {f"{side}.{name}": mark for name, mark in zip(DIMENSIONS, own, strict=True)}
            rows.append(row)
    shared = float(((leniency - leniency.mean()) ** 2).mean())
    truth = shared / (shared + SIDE_SD**2 + RESIDUAL_SD**2)
    return pd.DataFrame(rows, columns=columns()), truth


def looked_at(table: pd.DataFrame, truth: float) -> Iterator[tuple[str, pd.Series, float]]:
    """Rows of tables, and what their coefficients are in truth."""
    stance = stance_models(table).query("model == 'winner and proposition_is_model'")
    yield "stance: side", stance.set_index("term").loc["proposition_is_model"], 0.0
    after = stance_after(table).query("model == 'stance before and side'")
    yield "stance after: side", after.set_index("term").loc["proposition_is_model"], 0.0
    for model in mixed_models(table, MODELS_AND_PEOPLE, {}):
        terms = model.terms.set_index("term")
        if model.terms["model"].iloc[0] == "performance by kind and rater (ours)":
            yield "performance: kind", terms.loc["is_human"], 0.0
        elif model.terms["model"].iloc[0] == "stance after":
            yield "stance after by raters: side", terms.loc["proposition_is_model"], 0.0
    winner = winner_model(table).query("contrast == 'proposition - opposition'")
    if len(winner) > 1:
        yield "winner: constant", winner.set_index("term").loc["constant"], 0.0
    row = correlation_tests(table).iloc[0]
    alone = {"low": row["low"], "high": row["high"]}
    half = 1.959963984540054 / np.sqrt(row["n"] - 3)
    alone |= {"ratings_low": np.tanh(np.arctanh(row["r"]) - half)}
    alone |= {"ratings_high": np.tanh(np.arctanh(row["r"]) + half)}
    yield "correlation of two dimensions", pd.Series(alone), truth


def covered(design: tuple[int, int, int], repeats: int) -> Iterator[dict[str, Value]]:
    """How often each interval holds the truth in one design."""
    inside: dict[str, list[tuple[float, float]]] = {}
    for seed in range(repeats):
        table, truth = drawn(*design, seed)
        for name, row, value in looked_at(table, truth):
            pair = []
            for kind in ("", "ratings_"):
                low, high = row[f"{kind}low"], row[f"{kind}high"]
                pair.append(float(low <= value <= high) if low == low else np.nan)
            inside.setdefault(name, []).append((pair[0], pair[1]))
    debates, raters, each = design
    for name, pairs in inside.items():
        given = np.array(pairs)
        given = given[~np.isnan(given).any(axis=1)]
        shares = given.mean(axis=0).tolist() if len(given) else [None, None]
        row: dict[str, Value] = {"interval": name, "debates": debates, "raters": raters}
        row |= {"raters of a debate": each, "over debates": shares[0]}
        row |= {"ratings one by one": shares[1], "tournaments": len(given)}
        print(row, flush=True)
        yield row


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    given = parser.parse_args()
    rows = [row for design in DESIGNS for row in covered(design, given.repeats)]
    record("coverage_debates", ABOUT, rows, ["numpy", "scipy", "statsmodels"])


if __name__ == "__main__":
    main()
