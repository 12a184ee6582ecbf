"""Performance and winning by the expertise of the person who debates, with clustered contrasts."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.debates.fits import Inestimable, ols
from delibsim.analysis.debates.ratings import by_debater
from delibsim.analysis.debates.units import FEWEST, of_t
from delibsim.measures.inference.means import holm
from delibsim.store.instruments.own_answers import Covariates

Array = NDArray[np.float64]
UNKNOWN = Covariates()
OUTCOMES: Mapping[str, str] = {"performance": "own.performance", "win_rate": "won"}
"""What is compared between groups, and its column."""
CLUSTERS = ("debate", "person")
"""The columns of the units by which errors are clustered."""


def debaters_expertise(view: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.Series:
    """The expertise that each row stands for: the debater's own or, of a kind that has none, the
    opponent's.

    `view` has the columns debater, opponent, kind and other_kind. Models have no expertise, so that
    their rows carry that of the person whom they debate, as published. NaN where it is not given,
    and where two debaters meet of whose kinds nobody has any.
    """
    own = _given(view["debater"], people)
    other = _given(view["opponent"], people)
    having = set(view.loc[own.notna(), "kind"])
    return own.where(view["kind"].isin(having), other)


def _given(names: pd.Series, people: Mapping[str, Covariates]) -> pd.Series:
    """The expertise of each of these debaters, NaN where it is not given."""
    values = [people.get(who, UNKNOWN).expertise for who in names]
    return pd.Series(values, names.index, dtype=float)


def person_of(view: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.Series:
    """Whose expertise it is: the debater or, where it is the opponent's, the opponent."""
    own = _given(view["debater"], people)
    having = set(view.loc[own.notna(), "kind"])
    return view["debater"].where(view["kind"].isin(having), view["opponent"])


def by_expertise(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Mean and SD of performance and win rate by kind of debater and expertise of the person.

    A group is, for instance, "human, expertise 2" (people of that expertise) or "model, expertise
    2" (models against such people). Columns: outcome, group, kind, expertise, mean, sd, n
    (ratings), debates, persons.
    """
    rows = []
    data = _grouped(table, people)
    for outcome, column in OUTCOMES.items():
        for group, own in _parts(data).items():
            values = own[column].dropna()
            row = {"outcome": outcome, "group": group, "kind": own["kind"].iloc[0]}
            row |= {"expertise": own["expertise"].iloc[0]}
            row |= {"mean": values.mean(), "sd": values.std(ddof=1)}
            rows.append(row | _size(own.loc[values.index]))
    names = "outcome group kind expertise mean sd n debates persons".split()
    return pd.DataFrame(rows, columns=names)


def expertise_contrasts(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Differences between the groups of `by_expertise`, by OLS with clustered errors.

    Errors are clustered by debate (all ratings of a debate judge the same two persons' speeches,
    and the expertise is the same for all of them), and once more by the person who debates: the
    first speaks of these debaters, the second of debaters like these. The sandwich has the factor
    G / (G - 1) * (n - 1) / (n - k) for G clusters and k groups, t has G - k degrees of freedom.
    Compared are groups of one kind, and groups of one expertise. There is no interval where one of
    the two has fewer than five clusters ("few_debates", "few_persons").

    Columns: outcome, contrast, unit ("debate" or "person"), units (clusters in both groups), n,
    difference, se, low, high, df, p, p_holm (over the contrasts of one outcome and unit), note.
    """
    data = _grouped(table, people)
    rows: list[dict[str, Any]] = []
    for outcome, column in OUTCOMES.items():
        for unit in CLUSTERS:
            rows += _contrasts(data.dropna(subset=[column]), outcome, column, unit)
    names = "outcome contrast unit units n difference se low high df p p_holm note".split()
    return pd.DataFrame(rows, columns=names)


def _grouped(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Two rows a rating with expertise, person and group; without those whose expertise is not
    known.
    """
    view = by_debater(table)
    view = view.assign(expertise=debaters_expertise(view, people), person=person_of(view, people))
    view = view.dropna(subset=["expertise"])
    names = zip(view["kind"], view["expertise"], strict=True)
    return view.assign(group=[f"{kind}, expertise {level:g}" for kind, level in names])


def _parts(data: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each group, in order of kind and expertise."""
    ordered = data.sort_values(["kind", "expertise"], kind="stable")
    return {str(group): own for group, own in ordered.groupby("group", sort=False)}


def _contrasts(data: pd.DataFrame, outcome: str, column: str, unit: str) -> list[dict[str, Any]]:
    """All contrasts of one outcome with errors clustered by one unit."""
    parts = _parts(data)
    if len(parts) < 2:
        return []
    names = list(parts)
    kinds = [own["kind"].iloc[0] for own in parts.values()]
    levels = [own["expertise"].iloc[0] for own in parts.values()]
    clusters = [set(own[unit]) for own in parts.values()]
    means = [own[column].mean() for own in parts.values()]
    df = float(len(set(data[unit])) - len(parts))
    errors = _errors(data, column, unit, names) if df >= 1 else None
    rows = []
    for i, j in combinations(range(len(parts)), 2):
        if kinds[i] != kinds[j] and levels[i] != levels[j]:
            continue
        row: dict[str, Any] = {"outcome": outcome, "contrast": f"{names[i]} - {names[j]}"}
        row |= {"unit": unit, "units": len(clusters[i] | clusters[j])}
        row |= {"n": sum(data["group"].isin([names[i], names[j]]))}
        row |= {"difference": means[i] - means[j], "df": df}
        few = min(len(clusters[i]), len(clusters[j])) < FEWEST
        rows.append(row | _tested(row["difference"], errors, (i, j), df, f"few_{unit}s" * few))
    corrected = holm([float(row["p"]) for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, corrected, strict=True)]


def _errors(data: pd.DataFrame, column: str, unit: str, names: list[str]) -> Array:
    """The covariance of the means of the groups, clustered by one unit."""
    x = pd.DataFrame({name: (data["group"] == name).astype(float) for name in names})
    groups = pd.factorize(data[unit])[0]
    spread = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    try:
        return ols(data[column].astype(float), x, **spread).cov_params().to_numpy()
    except Inestimable:  # the ratings of each group are the same
        return np.zeros((len(names), len(names)))


def _tested(
    difference: float,
    errors: Array | None,
    pair: tuple[int, int],
    df: float,
    few: str,
) -> dict[str, Any]:
    """Error, interval and p of the difference between two means, or why there are none."""
    none = dict.fromkeys(("se", "low", "high", "p"), np.nan)
    if errors is None:
        return none | {"note": few or "too_few_ratings"}
    i, j = pair
    se = float(np.sqrt(max(errors[i, i] + errors[j, j] - 2 * errors[i, j], 0.0)))
    if few or not se > 0:
        return none | {"se": se, "note": few or "no_variance"}
    half, p = of_t(difference, se, df)
    return {"se": se, "low": difference - half, "high": difference + half, "p": p, "note": ""}


def _size(own: pd.DataFrame) -> dict[str, int]:
    return {
        "n": len(own),
        "debates": own["debate"].nunique(),
        "persons": own["person"].nunique(),
    }
