"""How well a judge predicts people: labels, errors, calibration, strengths of summarisers.

A rated summary has its rating r in 1..5. The one it was compared with has r plus or minus c - 3,
with c the comparison from 1 (A much better) to 5 (B much better). Neither is clamped, so that
labels lie in -1..7. Scores are normalised, y = (r + 1) / 8; errors are in labels, 8 times those of
y. Source: Zhu et al. (2025), https://arxiv.org/abs/2510.05154; calibration and intervals are ours.
Strengths are those of Davidson (1970), https://doi.org/10.1080/01621459.1970.10481082:

    P(A), P(B), P(tie)  proportional to  exp(eta / 2), exp(-eta / 2), nu
    eta = strength of A - strength of B + place + length * log(words of A / words of B)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.likelihood import terms
from delibsim.measures.correlations import agreement_of_scores

Array = NDArray[np.float64]
BINS = 10
FEWEST = 4
"""Records below which nothing is said of a calibration."""


@dataclass(frozen=True)
class Errors:
    """Mean absolute and root mean squared error over `n` records, in labels; NaN where n is 0."""

    n: int
    mae: float
    rmse: float


def errors(said: ArrayLike, predicted: ArrayLike) -> Errors:
    """The errors of predictions, over the records for which both are known.

    >>> errors([0.25, 0.5], [0.375, 0.5])
    Errors(n=2, mae=0.5, rmse=0.7071067811865476)
    """
    y, p = known_in_both(said, predicted)
    if not len(y):
        return Errors(0, float("nan"), float("nan"))
    off = SPAN * (p - y)
    return Errors(len(y), float(np.abs(off).mean()), float(np.sqrt((off**2).mean())))


@dataclass(frozen=True)
class Ordering:
    """Of instances with two records: `n` in which the person preferred one, `ties` in which not,
    the share of the n that is ordered as the person did, and the correlation of the differences.

    A predicted tie counts as half ordered. NaN where there is nothing to count.
    """

    n: int
    ties: int
    accuracy: float
    correlation: float


def ordering(said: ArrayLike, predicted: ArrayLike, instance: ArrayLike) -> Ordering:
    """Whether the two records of an instance are ordered as the person did; other instances, and
    records of which something is missing, are left out.

    >>> ordering([0.5, 0.25, 0.5, 0.75, 0.5, 0.5], [0.6, 0.5, 0.6, 0.5, 0.1, 0.2],
    ...          ["a", "a", "b", "b", "c", "c"])
    Ordering(n=2, ties=1, accuracy=0.5, correlation=0.0)
    """
    y, p = np.asarray(said, dtype=float), np.asarray(predicted, dtype=float)
    names = np.asarray(instance)
    there = ~(np.isnan(y) | np.isnan(p))
    y, p, names = y[there], p[there], names[there]
    order = np.argsort(names, kind="stable")
    starts = np.flatnonzero(np.r_[True, names[order][1:] != names[order][:-1]])
    sizes = np.diff(np.r_[starts, len(order)]) if len(order) else np.array([], dtype=int)
    first = starts[sizes == 2] if len(order) else starts[:0]
    a, b = order[first], order[first + 1] if len(first) else order[:0]
    theirs, ours = y[a] - y[b], p[a] - p[b]
    preferred = theirs != 0
    agreed = np.sign(theirs[preferred]) * np.sign(ours[preferred])
    accuracy = float(np.mean((agreed + 1) / 2)) if preferred.any() else float("nan")
    return Ordering(
        int(preferred.sum()), int((~preferred).sum()), accuracy, agreement_of_scores(theirs, ours).r
    )


@dataclass(frozen=True)
class Calibration:
    """How predictions are to be read: a person's y is about `intercept` + `slope` times them.

    `error` is the expected calibration error over ten bins of equal counts. `steps` is the isotonic
    map: predictions, and what people said there, both rising. NaN and empty where undefined.
    """

    n: int
    slope: float
    intercept: float
    error: float
    steps: tuple[tuple[float, float], ...] = ()


def calibration(said: ArrayLike, predicted: ArrayLike) -> Calibration:
    """The calibration of predictions by what people said.

    >>> found = calibration([0.2, 0.4, 0.6, 0.8], [0.1, 0.2, 0.3, 0.4])
    >>> round(found.slope, 6), abs(round(found.intercept, 6)), len(found.steps)
    (2.0, 0.0, 4)
    """
    y, p = known_in_both(said, predicted)
    nothing = float("nan")
    if len(y) < FEWEST or np.ptp(p) == 0:
        return Calibration(len(y), nothing, nothing, nothing)
    slope, intercept = np.polyfit(p, y, 1)
    bins = np.array_split(np.argsort(p, kind="stable"), min(BINS, len(p)))
    gaps = [len(own) * abs(y[own].mean() - p[own].mean()) for own in bins]
    return Calibration(len(y), float(slope), float(intercept), sum(gaps) / len(y), _isotonic(p, y))


def _isotonic(p: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """The rising map that is nearest to what people said, by its corners."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    corners = zip(fitted.X_thresholds_, fitted.y_thresholds_, strict=True)
    return tuple((float(x), float(value)) for x, value in corners)


def mean_defined(values: ArrayLike) -> tuple[float, int]:
    """The mean of the values that are defined, and how many are not; NaN where none is.

    >>> mean_defined([0.5, float("nan"), 0.25])
    (0.375, 1)
    """
    found = np.asarray(values, dtype=float)
    defined = found[~np.isnan(found)]
    mean = float(defined.mean()) if len(defined) else float("nan")
    return mean, int(len(found) - len(defined))


def known_in_both(said: ArrayLike, predicted: ArrayLike) -> tuple[Array, Array]:
    """Two series without the places at which one of them is missing."""
    y, p = np.asarray(said, dtype=float), np.asarray(predicted, dtype=float)
    there = ~(np.isnan(y) | np.isnan(p))
    return y[there], p[there]


SAME = 3
"""The comparison that prefers neither."""
LOWEST, SPAN = -1, 8
"""The least label, and how far the greatest lies above it."""


def derived(rating: ArrayLike, comparison: ArrayLike, rated_is_a: ArrayLike) -> Array:
    """The label of the summary that a rated one was compared with; NaN where either is missing.

    >>> derived([4, 4, 3], [1, 5, 4], [True, True, False]).tolist()
    [2.0, 6.0, 2.0]
    """
    lead = np.asarray(comparison, dtype=float) - SAME
    sign = np.where(np.asarray(rated_is_a, dtype=bool), 1.0, -1.0)
    return np.asarray(rating, dtype=float) + sign * lead


def linear(comparison: ArrayLike) -> Array:
    """The comparison itself as a label: 2c - 3, so that 1..5 becomes -1, 1, 3, 5, 7.

    >>> linear([1, 5]).tolist()
    [-1.0, 7.0]
    """
    return 2 * np.asarray(comparison, dtype=float) - SAME


def normalised(label: ArrayLike) -> Array:
    """A label from 0 to 1: (r + 1) / 8; a rating of 1..5 is thus 0.25..0.75.

    >>> normalised([-1, 1, 2, 3, 4, 5, 7]).tolist()
    [0.0, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0]
    """
    return (np.asarray(label, dtype=float) - LOWEST) / SPAN


def label_of(score: ArrayLike) -> Array:
    """The label of a normalised score: 8y - 1.

    >>> label_of(0.625).tolist()
    4.0
    """
    return SPAN * np.asarray(score, dtype=float) + LOWEST


STEPS, CLOSE = 100, 1e-10
LARGEST = 15.0
"""Log odds beyond which a strength has no estimate: somebody won or lost all."""
NOT_CONNECTED, ONE_WAY = "not_connected", "one_way"


@dataclass(frozen=True, eq=False)
class Preferences:
    """Strengths (k,) about their mean with standard errors, place and length with theirs.

    `tie` is nu, 0 where nobody gave a tie. What is undefined is NaN, and `note` says why.
    """

    strengths: Array
    errors: Array
    place: float
    place_error: float
    length: float
    length_error: float
    tie: float
    note: str = ""


def preferences(
    first: ArrayLike, second: ArrayLike, outcome: ArrayLike, log_ratio: ArrayLike, k: int
) -> Preferences:
    """The strengths of `k` summarisers from comparisons (n,): the numbers of those shown as A and
    B, the outcome (1 A, -1 B, 0 a tie), and the log of the words of A over those of B.

    >>> said = [1, 1, 1, -1, -1, -1, -1, 1]  # the first wins three of four, at either place
    >>> ratio = [0.1, -0.1, 0.2, -0.2, 0.2, -0.2, 0.1, -0.1]
    >>> found = preferences([0] * 4 + [1] * 4, [1] * 4 + [0] * 4, said, ratio, 2)
    >>> bool(found.strengths[0] > 0), found.note
    (True, '')
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    said, ratio = np.asarray(outcome, dtype=np.int64), np.asarray(log_ratio, dtype=float)
    n = len(said)
    x = np.zeros((n, k))
    rows, own = np.arange(n), a != b
    x[rows[own], a[own]] += 1.0
    x[rows[own], b[own]] -= 1.0
    x = np.column_stack([x[:, : k - 1], np.ones(n), ratio])  # the last strength is 0
    ties = bool((said == 0).any())
    if n <= k or np.linalg.matrix_rank(x) < x.shape[1]:
        return _none(k, NOT_CONNECTED)
    beta, covariance = _fitted(x, said, ties)
    if covariance is None or np.abs(beta[: k + 1]).max() > LARGEST:
        return _none(k, ONE_WAY)
    centre = np.eye(k)[:, : k - 1] - np.full((k, k - 1), 1 / k)
    strengths = centre @ beta[: k - 1]
    spread = centre @ covariance[: k - 1, : k - 1] @ centre.T
    errors = np.sqrt(np.diag(covariance))
    return Preferences(
        strengths=strengths,
        errors=np.sqrt(np.maximum(np.diag(spread), 0)),
        place=float(beta[k - 1]),
        place_error=float(errors[k - 1]),
        length=float(beta[k]),
        length_error=float(errors[k]),
        tie=float(np.exp(beta[-1])) if ties else 0.0,
    )


def _fitted(x: Array, said: NDArray[np.int64], ties: bool) -> tuple[Array, Array | None]:
    """The maximum of the likelihood by Newton's method, and the inverse of the information; None
    where it does not come to an end.
    """
    p = x.shape[1] + ties
    beta = np.zeros(p)
    for _ in range(STEPS):
        gradient, information = _slopes(beta, x, said, ties)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return beta, None
        beta = beta + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < CLOSE:
            return beta, np.asarray(np.linalg.inv(information), dtype=float)
        if np.abs(beta).max() > 2 * LARGEST:
            return beta, None
    return beta, None


def _slopes(beta: Array, x: Array, said: NDArray[np.int64], ties: bool) -> tuple[Array, Array]:
    """First derivatives of the log likelihood, and the information."""
    k = x.shape[1]
    nu = np.full(len(x), beta[k] if ties else -np.inf)
    votes = (said > 0).astype(float), (said == 0).astype(float), (said < 0).astype(float)
    found = terms("davidson", votes, x @ beta[:k], nu)
    gradient, information = x.T @ found.d, -(x * found.dd[:, None]).T @ x
    if not ties:
        return gradient, information
    cross, own = -(x.T @ found.dt)[:, None], np.array([[-found.tt.sum()]])
    return np.append(gradient, found.t.sum()), np.block([[information, cross], [cross.T, own]])


def _none(k: int, note: str) -> Preferences:
    nan = float("nan")
    return Preferences(np.full(k, nan), np.full(k, nan), nan, nan, nan, nan, nan, note)
