"""Coefficients of agreement with standard errors in closed form and intervals by t.

Percent agreement, Gwet's AC1 and AC2, Brennan-Prediger, the kappas of Cohen, Conger and Fleiss, and
Krippendorff's alpha, for any number of coders and with missing codes. The variances are those of
Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., by linearisation over texts; that of the
kappa of two coders is of Fleiss, Cohen and Everitt (1969), https://doi.org/10.1037/h0028106.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.reliability.alpha import alpha_influences, alphas
from delibsim.measures.reliability.chance import CHANCES, agreeing, observed
from delibsim.measures.reliability.codes import Codes, Patterns
from delibsim.measures.reliability.weightings import Weighting, name_of, weights_of

Array = NDArray[np.float64]
NAN = float("nan")

ALPHA = "alpha"
COEFFICIENTS = (*CHANCES, ALPHA)
"""The ids of the coefficients."""
NO_PAIR, ONE_CODER, ONE_CATEGORY = "no_text_coded_twice", "one_coder", "one_category"
CODER_ABSENT = "coder_absent"
ALMOST_0 = 1e-12
"""Below this, what chance leaves over is 0 but for rounding."""


@dataclass(frozen=True)
class Estimate:
    """A coefficient of agreement.

    `weighting` names its weights, or the metric of alpha. `value` is NaN where `reason` is not "".
    `error` is the standard error, NaN where there is no closed form. `texts` have a code, `paired`
    of them two or more.
    """

    coefficient: str
    weighting: str
    value: float
    error: float
    texts: int
    paired: int
    reason: str = ""

    @property
    def df(self) -> int:
        """The degrees of freedom of the interval."""
        return self.texts - 1

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t, cut where the coefficient ends: at 1, at -1, shares at 0; NaN without
        a standard error.
        """
        low, high = t_interval(self.value, self.error, self.df, level)
        least = 0.0 if self.coefficient == "percent" else -1.0
        return (least if low < least else low), high


def coefficient(codes: Codes, name: str, weighting: Weighting = "identity") -> Estimate:
    """A coefficient of agreement with its standard error.

    `name` is one of `COEFFICIENTS`; "ac" with the weighting "identity" is AC1, with another AC2;
    "kappa" is Cohen's with two coders and Conger's with more. `weighting` is a name of
    `WEIGHTINGS`, a matrix (q, q), or for "alpha" one of `METRICS`. ValueError for other names.

    >>> from delibsim.measures.reliability.codes import codes_of
    >>> found = coefficient(codes_of([[0, 0], [1, 1], [1, 0], [0, 0]], [0, 1]), "ac")
    >>> round(found.value, 4), round(found.error, 4)
    (0.5294, 0.5001)
    """
    patterns = patterns_for(codes, [name])
    texts, paired = len(codes.places), codes.paired
    kind = name_of(weighting)
    reason = why_undefined(codes, name)
    if reason:
        return Estimate(name, kind, NAN, NAN, texts, paired, reason)
    value = float(values(patterns.times[None], patterns, name, weighting)[0])
    if np.isnan(value):
        return Estimate(name, kind, NAN, NAN, texts, paired, ONE_CATEGORY)
    moved = influences(patterns, name, weighting)
    error = NAN if moved is None else _error(moved, patterns, name)
    return Estimate(name, kind, value, error, texts, paired)


def why_undefined(codes: Codes, name: str) -> str:
    """Why a coefficient of these codes is undefined: "" where it is not, else the first that
    applies of "one_coder", "no_text_coded_twice", "one_category".

    Percent agreement is defined where one level only was used; so are AC and Brennan-Prediger, if
    another level was declared.
    """
    if name not in COEFFICIENTS:
        raise ValueError(f"unknown coefficient '{name}'; there are {', '.join(COEFFICIENTS)}")
    if not codes.paired:
        return ONE_CODER if codes.coders == 1 else NO_PAIR
    if name == "percent":
        return ""
    declared_alone = name in ("ac", "brennan_prediger")
    alike = len(codes.levels) if declared_alone else codes.used
    return ONE_CATEGORY if alike < 2 else ""


def patterns_for(codes: Codes, names: list[str]) -> Patterns:
    """The patterns that coefficients need: with the coders where it matters who gave a level."""
    by_coders = any(name in CHANCES and CHANCES[name].by_coders for name in names)
    return codes.by_coders if by_coders else codes.by_counts


def values(times: Array, patterns: Patterns, name: str, weighting: Weighting) -> Array:
    """A coefficient in each sample (samples,); `times` (samples, patterns) is how often each
    pattern occurs in a sample. NaN where it is undefined.
    """
    if name == ALPHA:
        return alphas(times, patterns, name_of(weighting))
    weights = weights_of(weighting, len(patterns.levels))
    agreed = observed(times, patterns, weights)
    chance = CHANCES[name].value(times, patterns, weights)
    left = 1 - chance
    defined = left > ALMOST_0  # NaN is not
    return np.where(defined, (agreed - chance) / np.where(defined, left, 1), np.nan)


def influences(patterns: Patterns, name: str, weighting: Weighting) -> Array | None:
    """What each pattern adds to a coefficient, 0 on average, of shape (patterns,); None where
    there is no closed form. The standard error and those of differences are made of it.
    """
    if name == ALPHA:
        return alpha_influences(patterns, name_of(weighting))
    weights = weights_of(weighting, len(patterns.levels))
    chance = float(CHANCES[name].value(patterns.times[None], patterns, weights)[0])
    value = float(values(patterns.times[None], patterns, name, weighting)[0])
    scale = patterns.times.sum() / (patterns.times @ patterns.paired)
    agreed = scale * (agreeing(patterns, weights) - chance * patterns.paired)
    by_chance = CHANCES[name].influence(patterns, weights)
    return (agreed - (1 - value) * by_chance) / (1 - chance) - value


def t_interval(value: float, error: float, df: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of an estimate by t, its upper end cut at 1; NaN without degrees of freedom or
    standard error.
    """
    from scipy.special import stdtrit

    if df < 1 or np.isnan(value + error):
        return NAN, NAN
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return value - half, min(value + half, 1.0)


def _error(moved: Array, patterns: Patterns, name: str) -> float:
    """The standard error; NaN where there is only one text to tell it from."""
    counted = patterns.times * patterns.paired if name == ALPHA else patterns.times
    n = counted.sum()
    two_coders = name == "kappa" and patterns.places.shape[1] == 2
    divisor = n * n if two_coders else n * (n - 1)
    if n < 2:
        return NAN
    return float(np.sqrt(counted @ moved**2 / divisor))
