"""How well a trained judge predicts people: each dimension with its interval, and their mean."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.seed import seed_of
from delibsim.domain.training import Record
from delibsim.measures.correlations import pearson, spearman, spearman_interval
from delibsim.measures.summaries.prediction import (
    calibration,
    errors,
    known_in_both,
    mean_defined,
    ordering,
)

RESAMPLES = 2_000
SEED = seed_of("metrics of a trained judge")
PUBLISHED_DROP = (
    "published: on questions that it was not trained on, the judge's Spearman correlation with"
    " people on representativeness falls from 0.47 to 0.20"
)


def evaluation(records: Sequence[Record], predicted: np.ndarray) -> dict[str, Any]:
    """By dimension, and their mean: n, Pearson, Spearman with its interval (2,000 resamples of
    raters with all their records), the same within questions, errors in labels, order.

    `predicted` is records x dimensions. What is undefined is None, and the mean says how many it
    leaves out.
    """
    raters = np.array([one.rater for one in records])
    questions = np.array([one.triple.question for one in records])
    instances = np.array([f"{one.rater}\n{one.instance}" for one in records])
    found: dict[str, Any] = {}
    table = scores_said(records)
    for column, name in enumerate(DIMENSIONS):
        said, own = table[:, column], predicted[:, column]
        there = ~(np.isnan(said) | np.isnan(own))
        ranked = spearman(said[there], own[there])
        low, high = spearman_interval(said[there], own[there], raters[there], RESAMPLES, SEED)
        row: dict[str, Any] = {"n": int(there.sum())}
        row["pearson"] = pearson(said[there], own[there]).value
        row |= {"spearman": ranked.value, "low": low, "high": high, "note": ranked.note}
        within = _centred(said[there], questions[there]), _centred(own[there], questions[there])
        row["spearman_within"] = spearman(*within).value
        off = errors(said, own)
        order = ordering(said, own, instances)
        row |= {"mae": off.mae, "rmse": off.rmse, "ordered": order.accuracy, "pairs": order.n}
        row |= {"ties": order.ties, "differences": order.correlation}
        found[name] = {key: _plain(value) for key, value in row.items()}
    return found | {"mean": _mean(found)}


def scores_said(records: Sequence[Record]) -> np.ndarray:
    """The scores of records (records x dimensions), NaN where missing."""
    rows = []
    for one in records:
        rows.append([one.scores.get(name, np.nan) for name in DIMENSIONS])
    return np.array(rows, dtype=float).reshape(-1, len(DIMENSIONS))


def calibrations(records: Sequence[Record], predicted: np.ndarray) -> dict[str, Any]:
    """By dimension: slope, intercept, expected calibration error and the isotonic map."""
    found = {}
    table = scores_said(records)
    for column, name in enumerate(DIMENSIONS):
        one = calibration(*known_in_both(table[:, column], predicted[:, column]))
        plain = {"n": one.n, "slope": one.slope, "intercept": one.intercept, "error": one.error}
        found[name] = {key: _plain(value) for key, value in plain.items()}
        found[name]["steps"] = [list(step) for step in one.steps]
    return found


def _mean(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The mean over the dimensions in which a figure is defined, and in how many it is not."""
    found: dict[str, Any] = {}
    for key in ("pearson", "spearman", "spearman_within", "mae", "rmse", "ordered"):
        values = [row[key] for row in rows.values()]
        mean, undefined = mean_defined([np.nan if one is None else one for one in values])
        found[key] = _plain(mean)
        found[f"{key}_undefined"] = undefined
    return found


def _centred(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    code = np.unique(groups, return_inverse=True)[1]
    if not len(values):
        return values
    means = np.bincount(code, values) / np.bincount(code)
    return values - means[code]


def _plain(value: Any) -> Any:
    """A value for a record: what is undefined is None."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
