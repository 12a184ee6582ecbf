"""Strengths of summarisers from comparisons with ties, with place and length held equal.

Source: Davidson (1970), https://doi.org/10.1080/01621459.1970.10481082:

    P(A), P(B), P(tie)  proportional to  exp(eta / 2), exp(-eta / 2), nu
    eta = strength of A - strength of B + place + length * log(words of A / words of B)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
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
    eta = np.clip(x @ beta[:k], -60, 60)
    weights = [np.exp(eta / 2), np.exp(-eta / 2)]
    nu = np.exp(beta[k]) if ties else 0.0
    total = weights[0] + weights[1] + nu
    first, second, tie = weights[0] / total, weights[1] / total, nu / total
    mean = (first - second) / 2
    variance = (first + second) / 4 - mean**2
    gradient = x.T @ (said / 2 - mean)
    information = (x * variance[:, None]).T @ x
    if not ties:
        return gradient, information
    cross = -(x.T @ (tie * mean))
    own = (tie * (1 - tie)).sum()
    wide = np.block([[information, cross[:, None]], [cross[None, :], np.array([[own]])]])
    return np.append(gradient, ((said == 0) - tie).sum()), wide


def _none(k: int, note: str) -> Preferences:
    nan = float("nan")
    return Preferences(np.full(k, nan), np.full(k, nan), nan, nan, nan, nan, nan, note)
