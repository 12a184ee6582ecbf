"""P values corrected for the number of tests in a family."""

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """P values after Holm's correction; those that are NaN stay so, outside the family.

    Source: Holm (1979), https://www.jstor.org/stable/4615733.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    # statsmodels collects all garbage of the process at each call, which takes longer than the
    # rest of a report.
    adjusted = np.array(p, dtype=float)
    given = np.flatnonzero(~np.isnan(adjusted))
    ascending = given[np.argsort(adjusted[given])]
    stepped = adjusted[ascending] * np.arange(len(ascending), 0, -1)
    adjusted[ascending] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted.tolist()


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The q of each p: the false discovery rate at which it would be called; NaN stays NaN.

    Source: Benjamini and Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    adjusted = np.array(p, dtype=float)
    given = ~np.isnan(adjusted)
    if given.any():
        adjusted[given] = false_discovery_control(adjusted[given])
    return adjusted.tolist()
