"""Kinds of debaters: models against people, or one debater against the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import by_debater, debaters_of
from delibsim.domain.errors import unknown
from delibsim.domain.participant import SIDES


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
    return pd.Series([_meeting(pair) for pair in pairs], index=table.index, dtype=object)


def _meeting(pair: Sequence[str]) -> str:
    return " v ".join(sorted(pair))


def sign_of(table: pd.DataFrame, focus: Focus) -> pd.Series:
    """Which side the kind in focus took: +1 proposition, -1 opposition, in each rating's debate.

    NaN where the two kinds did not meet.
    """
    pairs = list(zip(table["proposition.kind"], table["opposition.kind"], strict=True))
    signs = {(focus.kind, focus.rest): 1.0, (focus.rest, focus.kind): -1.0}
    return pd.Series([signs.get(pair, np.nan) for pair in pairs], index=table.index, dtype=float)
