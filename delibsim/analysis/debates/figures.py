"""The figures of a tournament: data/figures/debates.yaml, drawn from its tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import analysed, by_debater
from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.domain.participant import SIDES

GRID = 201
"""Points at which a density is drawn."""


def figures(found: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document, as far as there is something to draw."""
    return {drawing.name: drawing.svg() for drawing in drawings(found)}


def drawings(found: Mapping[str, pd.DataFrame]) -> list[Drawing]:
    """Win rates, performance, strengths, densities, correlations; residuals of every mixed model,
    against fitted values and against the normal distribution.
    """
    tables: dict[str, Any] = {**found, **_densities(analysed(found["ratings"]))}
    tables["correlations"] = _long(found["dimension_correlations"].dropna())
    residuals = found["residuals"]
    if len(residuals):
        tables["residuals"] = residuals.assign(distance=residuals["residual"].abs())
        models = residuals.groupby("model", sort=False)
        tables["quantiles"] = pd.concat([_quantiles(own) for _, own in models])
    return drawings_of("debates", tables)


def _densities(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Densities of performance by kind of debater, of the change of stance, and of stances."""
    view = by_debater(ratings)
    change = ratings["after"].astype(float) - ratings["before"].astype(float)
    groups = {
        "density_performance": {
            str(kind): own["own.performance"] for kind, own in view.groupby("kind")
        },
        "density_stance_change": {
            f"{side} won": change[ratings["winner"] == side] for side in SIDES
        },
        "density_stance": {name: ratings[name].astype(float) for name in ("before", "after")},
    }
    return {name: density(own) for name, own in groups.items()}


def density(groups: Mapping[str, pd.Series]) -> pd.DataFrame:
    """A density for each group, by normal kernels with Scott's bandwidth: series, at, density, and
    mean, sd and n of its values. A group that does not vary has none.
    """
    from scipy.stats import gaussian_kde

    given = {group: values.dropna().to_numpy(dtype=float) for group, values in groups.items()}
    given = {group: own for group, own in given.items() if len(own) > 1 and np.ptp(own) > 0}
    if not given:
        return pd.DataFrame()
    together = np.concatenate(list(given.values()))
    at = np.linspace(together.min(), together.max(), GRID)
    found = []
    for group, own in given.items():
        told = {"series": group, "mean": own.mean(), "sd": own.std(ddof=1), "n": len(own)}
        found.append(pd.DataFrame({"at": at, "density": gaussian_kde(own)(at), **told}))
    return pd.concat(found, ignore_index=True)


def _long(correlated: pd.DataFrame) -> pd.DataFrame:
    """The correlations of the dimensions, one a row."""
    if correlated.empty:
        return correlated
    keys = ["debaters", "n", "dimension"]
    names = list(dict.fromkeys(correlated["dimension"]))
    return correlated.melt(keys, names, var_name="other", value_name="r")


def _quantiles(own: pd.DataFrame) -> pd.DataFrame:
    """Standardised residuals of a model and quantiles of the normal distribution (Blom 1958)."""
    from scipy.special import ndtri

    residuals = own["residual"].to_numpy(dtype=float)
    n = len(residuals)
    found = np.sort((residuals - residuals.mean()) / (residuals.std() or 1.0))
    expected = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    apart = np.abs(found - expected)
    columns = {"expected": expected, "found": found, "distance": apart}
    return pd.DataFrame({"model": own["model"].iloc[0], **columns})
