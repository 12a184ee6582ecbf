"""The design of a study's mixed model: its fixed effects, and its random terms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.sample.silent_sessions import shares
from delibsim.measures.inference.reml import Term, estimable, independent, term

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """The design of a model: `treatments` with the reference first, the columns of the fixed
    effects (intercept, treatments, then settings), the random terms, and why terms were left out.
    """

    treatments: Sequence[str]
    fixed: Array
    terms: Sequence[Term]
    left_out: dict[str, str]

    @property
    def named(self) -> list[str]:
        """The terms of the table: the intercept and every treatment but the reference."""
        return ["intercept", *self.treatments[1:]]

    def weights(self) -> Array:
        """What a unit of each variance adds to that of a session, on average; the residual last."""
        return np.array([*[float(np.mean(one.values**2)) for one in self.terms], 1.0])


def design_of(data: pd.DataFrame, paired: bool) -> Design:
    """The design of the mixed model of these rows; terms that it cannot tell apart are left out."""
    treatments = treatments_of(data)
    dummies = [column(data["treatment"] == name) for name in treatments[1:]]
    fixed = np.column_stack([np.ones(len(data)), *dummies, settings_of(data)])
    fixed = fixed[:, independent(fixed)]
    terms = [term("topic", data["topic"].astype(str)), term("model", data["model"].astype(str))]
    for name, dummy in zip(treatments[1:], dummies, strict=True):
        terms.append(term(f"slope of {name} by model", data["model"].astype(str), dummy))
    if paired:
        pairs = data["topic"].astype(str) + "\n" + data["replicate"].astype(str)
        terms.append(term("topic x replicate", pairs))
    kept, left_out = estimable(fixed, terms)
    return Design(treatments, fixed, kept, left_out)


def settings_of(data: pd.DataFrame) -> Array:
    """The settings of the sessions as columns (n, settings) about their mean.

    At 0 in all of them a session stands at the mean of the settings, and so does one without
    interaction that is compared with all of them. Columns may depend on each other.
    """
    found = shares(data, list(dict.fromkeys(data["setting"]))).to_numpy()
    held = found[:, found.any(axis=0)]
    return held - 1 / held.shape[1]


def column(values: pd.Series) -> Array:
    """A column as numbers."""
    return values.to_numpy(dtype=float)
