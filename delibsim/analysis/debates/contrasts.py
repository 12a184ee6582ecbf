"""Contrasts of debaters by three questions, each with its own error; kinds of debaters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import (
    FEWEST,
    SAMPLES,
    by_debater,
    debaters_of,
    mean_on_these,
    mean_over,
    percentile_interval,
)
from delibsim.analysis.result import entry, with_holm
from delibsim.domain.errors import unknown
from delibsim.domain.participant import SIDES
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import flipped_p

Row = dict[str, Any]


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
