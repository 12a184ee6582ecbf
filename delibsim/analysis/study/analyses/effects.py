"""The mean of differences over topics or over models: interval, spread, test."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.blocks import Compared
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import NOTHING
from delibsim.measures.inference.resampling import cluster_interval

EQUAL = "equal_conditions: equal by construction or in fact"
SUMMARY = ("estimate", "low", "high", "median", "sd", "share_positive", "n", "p")


def bootstrap_seed(draws: Draws, units: str) -> int:
    """The seed of all bootstraps over these units, so that all tables resample the same ones."""
    return seed_of(draws.seed, "bootstrap", units)


def noted(*sentences: str) -> str:
    """Sentences as one note."""
    return "; ".join(sentence for sentence in sentences if sentence)


def too_few(units: str, count: int) -> str:
    """What a note says where fewer than two topics, or models, give an interval; "" for more."""
    if count > 1:
        return ""
    code = f"one_{units}" if count else f"no_{units}s"
    return f"{code}: fewer than two {units}s give no interval and no test over {units}s"


def mean_of(
    differences: ArrayLike,
    units: str,
    draws: Draws,
) -> tuple[dict[str, Any], str]:
    """What independent differences (n,) give, one of each topic or model, and a note.

    The keys are those of SUMMARY: mean, percentile bootstrap interval, median, standard deviation,
    share above 0, number, and the p of a one-sample t test. What is undefined is NaN.
    """
    found = np.asarray(differences, dtype=float)
    if not len(found):
        return dict.fromkeys(SUMMARY, np.nan) | {"n": 0}, too_few(units, 0)
    numbers, seed = np.arange(len(found)), bootstrap_seed(draws, units)
    low, high = cluster_interval(found, numbers, draws.resamples, seed)
    summary = {
        "estimate": float(found.mean()),
        "low": low,
        "high": high,
        "median": float(np.median(found)),
        "sd": float(found.std(ddof=1)) if len(found) > 1 else np.nan,
        "share_positive": float((found > 0).mean()),
        "n": len(found),
        "p": one_sample_p(found),
    }
    note = too_few(units, len(found))
    if not found.any():
        note = noted(EQUAL, note)
    elif len(found) > 1 and alike(found):
        note = f"no_variance: all {units}s have the same difference"
    return summary, note


def alike(differences: np.ndarray) -> bool:
    """Whether all differences are equal, but for rounding."""
    return bool(np.ptp(differences) <= NOTHING * np.abs(differences).max())


def one_sample_p(differences: Sequence[float] | np.ndarray) -> float:
    """The two-sided p of a t test of a mean against 0; 1 where all are 0, NaN where all are equal.

    Differences that are equal but not 0 have no variance, and t is not defined.
    """
    from scipy.special import stdtr

    found = np.asarray(differences, dtype=float)
    if not found.any():
        return 1.0 if len(found) else np.nan
    if len(found) < 2 or alike(found):
        return np.nan
    error = found.std(ddof=1) / np.sqrt(len(found))
    # A tenth of the time of scipy.stats.ttest_1samp, which a study would call some hundred times.
    return float(2 * stdtr(len(found) - 1, -abs(found.mean() / error)))


def note_of(comparison: Compared) -> str:
    """What was left out of a comparison, behind whether its treatments are equal."""
    equal = EQUAL if comparison.equal else ""
    return noted(equal, *comparison.left_out)
