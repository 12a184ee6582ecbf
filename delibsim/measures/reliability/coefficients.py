"""Coefficients of agreement with standard errors in closed form and intervals by t.

Percent agreement, Gwet's AC1 and AC2, Brennan-Prediger, the kappas of Cohen, Conger and Fleiss, and
Krippendorff's alpha, for any number of coders and with missing codes. `times` (samples, patterns)
is how often each pattern of codes occurs in each sample of texts. Sources: Gwet (2014), Handbook of
Inter-Rater Reliability, 4th ed., for the variances by linearisation over texts; Gwet (2008),
https://doi.org/10.1348/000711006X126600; Conger (1980), https://doi.org/10.1037/0033-2909.88.2.322;
Fleiss (1971), https://doi.org/10.1037/h0031619; Krippendorff (2019), Content Analysis, 4th ed.,
ch. 12; for the variance of the kappa of two coders Fleiss, Cohen and Everitt (1969),
https://doi.org/10.1037/h0028106.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.inference.means import t_quantile
from delibsim.measures.reliability.codes import CodeMatrix, Patterns, Weighting, name_of, weights_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Chance:
    """Agreement by chance: its `value` in each sample (samples,), and the `influence` of each
    pattern on it in the sample as it is (patterns,), which is 0 on average over the texts.
    """

    value: Callable[[Array, Patterns, Array], Array]
    influence: Callable[[Patterns, Array], Array]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement, which `delibsim agreement` takes from `COEFFICIENTS`.

    `title` names it in tables, given whether it is weighted and how many coders there are. `chance`
    makes it (observed - chance) / (1 - chance); None is Krippendorff's alpha. `by_coders` says
    whether it matters who gave which level, `declared` whether it is defined where one level was
    used and another declared, `skewed` whether it falls where one level is frequent.
    """

    title: Callable[[bool, int], str]
    chance: Chance | None
    by_coders: bool = False
    declared: bool = False
    skewed: bool = False


def observed(times: Array, patterns: Patterns, weights: Array) -> Array:
    """The observed agreement of each sample: the mean over texts with two codes or more."""
    with np.errstate(invalid="ignore"):
        return (times @ agreeing(patterns, weights)) / (times @ patterns.paired)


def agreeing(patterns: Patterns, weights: Array) -> Array:
    """The share of agreeing pairs of coders in each pattern, pairs weighted; 0 without a pair."""
    counts, given = patterns.counts, patterns.given
    agreed = (counts * (counts @ weights - 1)).sum(axis=1)
    return np.where(patterns.paired, agreed / np.maximum(given * (given - 1), 1), 0)


def shares(times: Array, patterns: Patterns) -> Array:
    """The share of each level in each sample (samples, levels); every text counts alike."""
    return (times @ _own_shares(patterns)) / times.sum(axis=1, keepdims=True)


def _own_shares(patterns: Patterns) -> Array:
    return patterns.counts / patterns.given[:, None]


def _none(times: Array, _: Patterns, __: Array) -> Array:
    return np.zeros(len(times))


def _unmoved(patterns: Patterns, _: Array) -> Array:
    return np.zeros(len(patterns.times))


def _gwet(times: Array, patterns: Patterns, weights: Array) -> Array:
    q = len(weights)
    pi = shares(times, patterns)
    return weights.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=1)


def _gwet_influence(patterns: Patterns, weights: Array) -> Array:
    q = len(weights)
    pi = shares(patterns.times[None], patterns)[0]
    own = weights.sum() / (q * (q - 1)) * (_own_shares(patterns) @ (1 - pi))
    return 2 * (own - _mean(own, patterns))


def _brennan_prediger(times: Array, _: Patterns, weights: Array) -> Array:
    return np.full(len(times), weights.mean())


def _fleiss(times: Array, patterns: Patterns, weights: Array) -> Array:
    pi = shares(times, patterns)
    return ((pi @ weights) * pi).sum(axis=1)


def _fleiss_influence(patterns: Patterns, weights: Array) -> Array:
    pi = shares(patterns.times[None], patterns)[0]
    own = _own_shares(patterns) @ (weights @ pi)
    return 2 * (own - _mean(own, patterns))


def _conger(times: Array, patterns: Patterns, weights: Array) -> Array:
    """With two coders it is Cohen's: the sum of w_kl p_k p_l over both coders' own shares."""
    own, coders = _by_coder(times, patterns), patterns.places.shape[1]
    together = own.sum(axis=1)
    among_all = ((together @ weights) * together).sum(axis=1)
    with_oneself = ((own @ weights) * own).sum(axis=(1, 2))
    return (among_all - with_oneself) / (coders * (coders - 1))


def _conger_influence(patterns: Patterns, weights: Array) -> Array:
    own, coders = _by_coder(patterns.times[None], patterns)[0], patterns.places.shape[1]
    slopes = 2 / (coders * (coders - 1)) * ((own.sum(axis=0) - own) @ weights)
    n = patterns.times.sum()
    found = np.zeros(len(patterns.times))
    for coder in range(coders):
        place = patterns.places[:, coder]
        gave = place >= 0
        share = (patterns.times @ gave) / n
        moved = slopes[coder][place] - slopes[coder] @ own[coder]
        found += np.where(gave, moved, 0) / share
    return found


def _by_coder(times: Array, patterns: Patterns) -> Array:
    """Each coder's own share of each level, of shape (samples, coders, levels); NaN for a coder
    without a code in a sample.
    """
    parts = []
    for coder in range(patterns.places.shape[1]):
        gave = patterns.places[:, coder, None] == np.arange(len(patterns.levels))
        counts = times @ gave
        with np.errstate(invalid="ignore"):
            parts.append(counts / counts.sum(axis=1, keepdims=True))
    return np.stack(parts, axis=1)


def _mean(values: Array, patterns: Patterns) -> float:
    return float(values @ patterns.times / patterns.times.sum())


METRICS = ("nominal", "ordinal", "interval", "ratio")
"""How far two levels are apart: equal or not, by the ranks of all codes, by values, by ratios."""


def alphas(times: Array, patterns: Patterns, metric: str) -> Array:
    """Alpha of each sample: `times` (samples, patterns) is how often each pattern occurs in it.

    NaN where no text has two codes, or where only one level was given. ValueError for an unknown
    metric, and for ratios of levels of which one is below 0.
    """
    paired = patterns.paired
    counts, given = patterns.counts[paired], patterns.given[paired]
    repeats = times[:, paired]
    totals = repeats @ counts
    size = totals.sum(axis=1)
    if metric == "ordinal":
        within, among = _ordinal_sums(repeats, counts, given, totals)
    else:
        apart = differences(patterns.levels, metric)
        own = ((counts @ apart) * counts).sum(axis=1) / (given - 1)
        within, among = repeats @ own, ((totals @ apart) * totals).sum(axis=1)
    varied = ((totals > 0).sum(axis=1) > 1) & (among > 0)
    expected = np.where(varied, among, 1) / np.maximum(size - 1, 1)
    return np.where(varied, 1 - within / expected, np.nan)


def differences(levels: Array, metric: str) -> Array:
    """The squared differences (q, q) between levels, apart from those of the ordinal metric, which
    depend on the codes.
    """
    if metric not in METRICS or metric == "ordinal":
        raise ValueError(f"unknown metric '{metric}'; there are {', '.join(METRICS)}")
    apart = np.abs(levels[:, None] - levels)
    if metric == "nominal":
        return (apart > 0).astype(float)
    if metric == "interval":
        return apart**2
    if (levels < 0).any():
        raise ValueError("a ratio scale has no level below 0")
    sums = levels[:, None] + levels
    return (apart / np.where(sums > 0, sums, 1)) ** 2


def _ordinal_sums(
    repeats: Array, counts: Array, given: Array, totals: Array
) -> tuple[Array, Array]:
    """The differences within texts and among all codes, for the ordinal metric.

    The sum of the codes from one level to another, less half of both ends, is the difference of
    their mean ranks, so that alpha is that of an interval scale of ranks.
    """
    size = totals.sum(axis=1)
    ranks = totals.cumsum(axis=1) - totals / 2 - size[:, None] / 2
    squares, sums = counts @ (ranks**2).T, counts @ ranks.T
    own = (given[:, None] * squares - sums**2) / (given - 1)[:, None]
    within = (repeats * own.T).sum(axis=1)
    among = size * (totals * ranks**2).sum(axis=1) - (totals * ranks).sum(axis=1) ** 2
    return 2 * within, 2 * among


def alpha_influences(patterns: Patterns, metric: str) -> Array | None:
    """What each pattern adds to alpha, 0 on average over the texts with two codes and 0 for the
    others, of shape (patterns,); None for the ordinal metric, which has no closed form.

    As in Gwet, the correction of alpha for few codes is left out here: it is of order 1 / codes.
    """
    if metric == "ordinal":
        return None
    apart = differences(patterns.levels, metric)
    weights = 1 - apart / apart.max()
    paired = patterns.paired
    counts, given, times = patterns.counts[paired], patterns.given[paired], patterns.times[paired]
    n = times.sum()
    mean = times @ given / n
    agreed = (counts * (counts @ weights - 1)).sum(axis=1) / (mean * (given - 1))
    observed = times @ agreed / n
    pi = times @ counts / n / mean
    chance = pi @ weights @ pi
    value = (observed - chance) / (1 - chance)
    unequal = (given - mean) / mean
    own = agreed - observed * unequal
    by_chance = counts @ (weights @ pi) / mean - chance * unequal
    moved = own - chance - 2 * (1 - value) * (by_chance - chance)
    found = np.zeros(len(patterns.times))
    found[paired] = moved / (1 - chance) - value
    return found


NAN = float("nan")

PERCENT, ALPHA = "percent", "alpha"
COEFFICIENTS: Mapping[str, Coefficient] = {
    PERCENT: Coefficient(lambda *_: "percent agreement", Chance(_none, _unmoved), declared=True),
    "ac": Coefficient(
        lambda weighted, _: f"Gwet's AC{1 + weighted}",
        Chance(_gwet, _gwet_influence),
        declared=True,
    ),
    "brennan_prediger": Coefficient(
        lambda *_: "Brennan-Prediger", Chance(_brennan_prediger, _unmoved), declared=True
    ),
    "kappa": Coefficient(
        lambda _, coders: "Cohen's kappa" if coders < 3 else "Conger's kappa",
        Chance(_conger, _conger_influence),
        by_coders=True,
        skewed=True,
    ),
    "fleiss": Coefficient(
        lambda *_: "Fleiss' kappa", Chance(_fleiss, _fleiss_influence), skewed=True
    ),
    ALPHA: Coefficient(lambda *_: "Krippendorff's alpha", None, skewed=True),
}
"""The coefficients by id, in the order of reports."""
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


def coefficient(codes: CodeMatrix, name: str, weighting: Weighting = "identity") -> Estimate:
    """A coefficient of agreement with its standard error.

    `name` is one of `COEFFICIENTS`; "ac" with the weighting "identity" is AC1, with another AC2;
    "kappa" is Cohen's with two coders and Conger's with more. `weighting` is a name of
    `WEIGHTINGS`, a matrix (q, q), or for "alpha" one of `METRICS`. ValueError for other names.

    >>> from delibsim.measures.reliability.codes import codes_of
    >>> found = coefficient(codes_of([[0, 0], [1, 1], [1, 0], [0, 0]], [0, 1]), "ac")
    >>> round(found.value, 4), round(found.error, 4)
    (0.5294, 0.5001)
    """
    reason = why_undefined(codes, name)
    patterns = patterns_for(codes, [name])
    texts, paired = len(codes.places), codes.paired
    kind = name_of(weighting)
    if reason:
        return Estimate(name, kind, NAN, NAN, texts, paired, reason)
    value = float(values(patterns.times[None], patterns, name, weighting)[0])
    if np.isnan(value):
        return Estimate(name, kind, NAN, NAN, texts, paired, ONE_CATEGORY)
    moved = influences(patterns, name, weighting)
    error = NAN if moved is None else _error(moved, patterns, name)
    return Estimate(name, kind, value, error, texts, paired)


def why_undefined(codes: CodeMatrix, name: str) -> str:
    """Why a coefficient of these codes is undefined: "" where it is not, else the first that
    applies of "one_coder", "no_text_coded_twice", "one_category".

    Percent agreement is defined where one level only was used; so are AC and Brennan-Prediger, if
    another level was declared.
    """
    if name not in COEFFICIENTS:
        raise ValueError(f"unknown coefficient '{name}'; there are {', '.join(COEFFICIENTS)}")
    if not codes.paired:
        return ONE_CODER if codes.coders == 1 else NO_PAIR
    if name == PERCENT:
        return ""
    alike = len(codes.levels) if COEFFICIENTS[name].declared else codes.used
    return ONE_CATEGORY if alike < 2 else ""


def patterns_for(codes: CodeMatrix, names: list[str]) -> Patterns:
    """The patterns that coefficients need: with the coders where it matters who gave a level."""
    by_coders = any(COEFFICIENTS[name].by_coders for name in names)
    return codes.by_coders if by_coders else codes.by_counts


def values(times: Array, patterns: Patterns, name: str, weighting: Weighting) -> Array:
    """A coefficient in each sample (samples,); `times` (samples, patterns) is how often each
    pattern occurs in a sample. NaN where it is undefined.
    """
    chances = COEFFICIENTS[name].chance
    if chances is None:
        return alphas(times, patterns, name_of(weighting))
    weights = weights_of(weighting, len(patterns.levels))
    agreed = observed(times, patterns, weights)
    chance = chances.value(times, patterns, weights)
    left = 1 - chance
    defined = left > ALMOST_0  # NaN is not
    return np.where(defined, (agreed - chance) / np.where(defined, left, 1), np.nan)


def influences(patterns: Patterns, name: str, weighting: Weighting) -> Array | None:
    """What each pattern adds to a coefficient, 0 on average, of shape (patterns,); None where
    there is no closed form. The standard error and those of differences are made of it.
    """
    chances = COEFFICIENTS[name].chance
    if chances is None:
        return alpha_influences(patterns, name_of(weighting))
    weights = weights_of(weighting, len(patterns.levels))
    chance = float(chances.value(patterns.times[None], patterns, weights)[0])
    value = float(values(patterns.times[None], patterns, name, weighting)[0])
    scale = patterns.times.sum() / (patterns.times @ patterns.paired)
    agreed = scale * (agreeing(patterns, weights) - chance * patterns.paired)
    by_chance = chances.influence(patterns, weights)
    return (agreed - (1 - value) * by_chance) / (1 - chance) - value


def t_interval(value: float, error: float, df: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of an estimate by t, its upper end cut at 1; NaN without degrees of freedom or
    standard error.
    """
    if df < 1 or np.isnan(value + error):
        return NAN, NAN
    half = t_quantile(df, level) * error
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
