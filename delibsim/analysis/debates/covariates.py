"""Covariates of raters and debaters as predictors, and for how many of them they are given."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from delibsim.analysis.figures.style import number
from delibsim.store.instruments.own_answers import COVARIATES, WORDS, Covariates

ROLES = ("rater", "debater")
UNKNOWN = Covariates()


def predictors_of(
    view: pd.DataFrame,
    people: Mapping[str, Covariates],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The covariates as columns of numbers, a row as in the view, and the counts of `counted`.

    `view` has the columns rater, debater and kind. A column is named after role and covariate, as
    rater_age; a gender is a column for each word but the first by name, as rater_gender_woman.
    Covariates of raters stand as they are. Those of debaters are deviations from the mean of the
    debaters of their kind, so that the effect of the kind compares its average debaters; where
    nobody of a kind has a value (the age of models), the covariate does not apply and is 0.
    A value that is not given is NaN. What nobody has, or does not vary, is left out.
    """
    columns, rows = {}, []
    for role in ROLES:
        for name in COVARIATES:
            values = _values(view, role, name, people)
            row = _count(view, role, name, values)
            found = {} if row["note"] else _columns(view, role, name, values)
            if not row["note"] and not found:
                row["note"] = "no_variance"
            columns |= found
            rows.append(row)
    return pd.DataFrame(columns, index=view.index, dtype=float), pd.DataFrame(rows)


def _values(
    view: pd.DataFrame,
    role: str,
    name: str,
    people: Mapping[str, Covariates],
) -> pd.Series:
    """One covariate of each row's rater or debater; None where it is not given."""
    given = [getattr(people.get(who, UNKNOWN), name) for who in view[role]]
    return pd.Series(given, index=view.index, dtype=object)


def _applies(view: pd.DataFrame, role: str, values: pd.Series) -> pd.Series:
    """Whether the covariate applies: to all raters, and to kinds of which a debater has a value."""
    if role == "rater":
        return pd.Series(True, index=view.index)
    return view["kind"].isin(set(view.loc[values.notna(), "kind"]))


def _count(view: pd.DataFrame, role: str, name: str, values: pd.Series) -> dict[str, object]:
    """How many raters or debaters there are, of how many the covariate is given, and its values."""
    applies = _applies(view, role, values)
    given = view.loc[values.notna(), role].nunique()
    expected = view.loc[applies, role].nunique()
    there = view[role].nunique()
    return {
        "role": role,
        "covariate": name,
        "there": there,
        "given": given,
        "missing": expected - given if given else there,
        "does_not_apply": there - expected if given else 0,
        "values": _distribution(view.assign(value=values).drop_duplicates(role)["value"], name),
        "note": "" if given else "not_given",
    }


def _distribution(values: pd.Series, name: str) -> str:
    """The values of one covariate, each person counted once, in words; "" without any.

    >>> _distribution(pd.Series(["man", "woman", "man", None]), "gender")
    'man 2, woman 1'
    >>> _distribution(pd.Series([20.0, 30.0, 40.0]), "age")
    'mean 30.0, SD 10.0, 20 to 40'
    """
    given = values.dropna()
    if given.empty:
        return ""
    if name in WORDS:
        counts = given.value_counts().sort_index()
        return ", ".join(f"{word} {count}" for word, count in counts.items())
    numbers = given.astype(float)
    told = f"mean {number(numbers.mean(), 1)}"
    if len(numbers) > 1:
        told += f", SD {number(numbers.std(ddof=1), 1)}"
    return f"{told}, {numbers.min():g} to {numbers.max():g}"


def _columns(
    view: pd.DataFrame,
    role: str,
    name: str,
    values: pd.Series,
) -> dict[str, pd.Series]:
    """The columns of one covariate that vary."""
    plain = {f"{role}_{name}": values.astype(float)} if name not in WORDS else {}
    if name in WORDS:
        for word in sorted(set(values.dropna()))[1:]:
            plain[f"{role}_{name}_{word}"] = (values == word).astype(float).where(values.notna())
    if role == "debater":
        applies = _applies(view, role, values)
        plain = {column: _centred(view, own, applies) for column, own in plain.items()}
    return {column: own for column, own in plain.items() if np.ptp(own.dropna()) > 0}


def _centred(view: pd.DataFrame, values: pd.Series, applies: pd.Series) -> pd.Series:
    """Deviations from the mean of the debaters of one's kind; 0 where the covariate does not apply.

    Each debater counts once in the mean, however often it was rated.
    """
    once = view.assign(value=values).drop_duplicates("debater")
    means = once.groupby("kind")["value"].mean()
    return (values - view["kind"].map(means)).where(applies, 0.0)
