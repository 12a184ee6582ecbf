"""Agreement of two judges on labels, beside what a judge reaches who always says the same."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.correlations import kappa_max
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import ALPHA, coefficient

LABELS = (1, 0, -1)
"""A, tie and B, as counts of votes know them."""


@dataclass(frozen=True, eq=False)
class LabelAgreement:
    """How far the labels of two judges on the same `n` sheets agree.

    `agreement` is the share of equal labels, `kappa` Cohen's, nominal, over three labels, `most`
    the largest kappa that these shares of labels allow, `alpha` Krippendorff's. `of_one` and
    `of_other` (3,) are the shares of A, tie and B. `always_a` and `always_tie` are what a judge
    reaches against `one` who always says so, `chance` one who draws labels with the shares of
    `other`. All are NaN without a sheet, kappa and alpha where there is one label only.
    """

    n: int
    agreement: float
    kappa: float
    most: float
    alpha: float
    of_one: NDArray[np.float64]
    of_other: NDArray[np.float64]

    @property
    def always_a(self) -> float:
        """The share that a judge reaches who always names the text shown first."""
        return float(self.of_one[0])

    @property
    def always_tie(self) -> float:
        """The share that a judge reaches who always gives a tie."""
        return float(self.of_one[1])

    @property
    def chance(self) -> float:
        """The share that a judge reaches who draws labels with the shares of the other."""
        return float(self.of_one @ self.of_other)


def agreement_of_labels(one: ArrayLike, other: ArrayLike) -> LabelAgreement:
    """The agreement of labels (n,), each 1 (A), 0 (tie) or -1 (B); `one` is what is measured by.

    Sources: Cohen (1960), https://doi.org/10.1177/001316446002000104; Krippendorff (2019).
    ValueError for another label.

    >>> found = agreement_of_labels([1, 1, 0, -1], [1, 0, 0, -1])
    >>> found.agreement, round(found.kappa, 3), found.always_a
    (0.75, 0.636, 0.5)
    """
    table = np.column_stack([np.asarray(one), np.asarray(other)])
    if table.size and not np.isin(table, LABELS).all():
        raise ValueError("a label is 1 (A), 0 (tie) or -1 (B)")
    n = len(table)
    if not n:
        unknown = np.full(3, math.nan)
        return LabelAgreement(0, *[math.nan] * 4, unknown, unknown)
    shares = np.array([(table == label).mean(axis=0) for label in LABELS]).T
    codes = codes_of(table, sorted(LABELS))
    return LabelAgreement(
        n=n,
        agreement=float((table[:, 0] == table[:, 1]).mean()),
        kappa=coefficient(codes, "kappa").value,
        most=kappa_max(*shares),
        alpha=coefficient(codes, ALPHA, "nominal").value,
        of_one=shares[0],
        of_other=shares[1],
    )
