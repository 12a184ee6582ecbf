"""The models of a vote with their derivatives, and the penalties that hold strengths together.

All take the votes `a`, `tie`, `b` (m,), the difference `d` (m,) of strengths on the log odds scale,
and a parameter `t` (m,) of the judge. Sources: Bradley and Terry (1952),
https://doi.org/10.2307/2334029; Rao and Kupper (1967),
https://doi.org/10.1080/01621459.1967.10482901; Davidson (1970),
https://doi.org/10.1080/01621459.1970.10481082; Chen, Bennett, Collins-Thompson and Horvitz (2013),
https://doi.org/10.1145/2433396.2433420.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kind = Literal["bt", "rao_kupper", "davidson", "crowd"]
SMALLEST = 1e-300
"""What a probability of 0 counts as where it is divided by."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The log likelihood of each row (m,) and its derivatives by d and t.

    Where they are expected, second derivatives are minus the Fisher information.
    """

    value: Array
    d: Array
    t: Array
    dd: Array
    dt: Array
    tt: Array


def terms(
    kind: Kind,
    votes: tuple[Array, Array, Array],
    d: Array,
    t: Array,
    expected: bool = False,
) -> Terms:
    """The terms of one model; `expected` asks for expected second derivatives.

    `t` is the logarithm of theta (rao_kupper) or nu (davidson), the log odds of eta (crowd), and
    without meaning for bt.
    """
    return _TERMS[kind](votes, d, t, expected)


def probabilities(kind: Kind, d: Array, t: Array) -> tuple[Array, Array, Array]:
    """The probabilities of a vote for the first text, of a tie, and of one for the second."""
    if kind == "davidson":
        top = np.maximum(np.abs(d) / 2, t)
        parts = [np.exp(d / 2 - top), np.exp(t - top), np.exp(-d / 2 - top)]
        total = parts[0] + parts[1] + parts[2]
        return parts[0] / total, parts[1] / total, parts[2] / total
    if kind == "rao_kupper":
        theta = np.exp(t)
        a, b = sigmoid(d - theta), sigmoid(-d - theta)
        return a, np.expm1(2 * theta) * a * b, b
    if kind == "crowd":
        eta = sigmoid(t)
        a = eta * sigmoid(d) + (1 - eta) * sigmoid(-d)
        return a, np.zeros_like(a), 1 - a
    return sigmoid(d), np.zeros_like(d), sigmoid(-d)


def information(kind: Kind, d: Array, t: Array) -> Array:
    """The expected Fisher information of one vote about the difference d, which is above 0."""
    vote = (np.ones_like(d), np.zeros_like(d), np.zeros_like(d))  # whatever it says
    return -terms(kind, vote, d, t, expected=True).dd


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow."""
    from scipy.special import expit

    return expit(x)


def log_sigmoid(x: Array) -> Array:
    """The logarithm of `sigmoid`, without overflow."""
    from scipy.special import log_expit

    return log_expit(x)


def _bt(votes: tuple[Array, Array, Array], d: Array, t: Array, expected: bool) -> Terms:
    a, _, b = votes
    log_won, lost = _log_and_rest(d)
    curvature = -(a + b) * lost * (1 - lost)
    zero = np.zeros_like(d)
    value = (a + b) * log_won - b * d
    return Terms(value, a * lost - b * (1 - lost), zero, curvature, zero, zero)


def _rao_kupper(votes: tuple[Array, Array, Array], d: Array, t: Array, expected: bool) -> Terms:
    a, tie, b = votes
    theta = np.exp(t)
    first, second = a + tie, b + tie
    log_a, u = _log_and_rest(d - theta)
    log_b, v = _log_and_rest(-d - theta)
    safe = np.where(theta > 0, theta, 1.0)
    growth = np.where(theta > 0, 2 / -np.expm1(-2 * safe), 0.0)
    value = first * log_a + second * log_b + tie * (2 * safe + np.log(-np.expm1(-2 * safe)))
    won_a, won_b = first * u, second * v
    slope_d, slope_t = won_a - won_b, theta * (tie * growth - won_a - won_b)
    if expected:
        return _expected_rao_kupper(a + tie + b, (u, v), theta, growth, (value, slope_d, slope_t))
    left, right = won_a * (1 - u), won_b * (1 - v)
    both = left + right
    bend = 1 / np.sinh(np.minimum(safe, 300.0)) ** 2
    second_theta = slope_t - theta**2 * (tie * bend + both)
    return Terms(value, slope_d, slope_t, -both, theta * (left - right), second_theta)


def _log_and_rest(x: Array) -> tuple[Array, Array]:
    """The logarithm of sigma(x), and 1 - sigma(x), by one exponential for both.

    This is several times as fast as two functions of scipy, and most of what a fit takes.
    """
    small = np.exp(-np.abs(x))
    whole = 1 + small
    log_won = np.minimum(x, 0.0) - np.log(whole)
    return log_won, np.where(x > 0, small, 1.0) / whole


def _expected_rao_kupper(
    n: Array,
    lost: tuple[Array, Array],
    theta: Array,
    growth: Array,
    known: tuple[Array, Array, Array],
) -> Terms:
    u, v = lost
    tie = np.maximum(u + v - 1, 0.0)
    of_tie = theta * (growth - u - v)
    dd = (1 - u) * u**2 + (1 - v) * v**2 + tie * (u - v) ** 2
    dt = theta * ((1 - v) * v**2 - (1 - u) * u**2) + tie * (u - v) * of_tie
    tt = theta**2 * ((1 - u) * u**2 + (1 - v) * v**2) + tie * of_tie**2
    return Terms(*known, -n * dd, -n * dt, -n * tt)


def _davidson(votes: tuple[Array, Array, Array], d: Array, t: Array, expected: bool) -> Terms:
    a, tie, b = votes
    n = a + tie + b
    log_z = np.logaddexp(np.abs(d) / 2 + np.log1p(np.exp(-np.abs(d))), t)
    first, tied, second = probabilities("davidson", d, t)
    half = (first - second) / 2
    of_ties = np.where(tie > 0, tie * np.where(tie > 0, t, 0.0), 0.0)
    return Terms(
        value=(a - b) * d / 2 + of_ties - n * log_z,
        d=(a - b) / 2 - n * half,
        t=tie - n * tied,
        dd=-n * ((first + second) / 4 - half**2),
        dt=n * half * tied,
        tt=-n * tied * (1 - tied),
    )


def _crowd(votes: tuple[Array, Array, Array], d: Array, t: Array, expected: bool) -> Terms:
    a, _, b = votes
    eta, won = sigmoid(t), sigmoid(d)
    sure, spread = 2 * eta - 1, eta * (1 - eta)
    bent = won * (1 - won)
    p = 1 - eta + sure * won
    q = 1 - p
    by_d, by_t = sure * bent, spread * (2 * won - 1)
    slope = a / np.maximum(p, SMALLEST) - b / np.maximum(q, SMALLEST)
    value = a * np.log(np.maximum(p, SMALLEST)) + b * np.log(np.maximum(q, SMALLEST))
    if expected:
        weight = -(a + b) / np.maximum(p * q, SMALLEST)
        extra = (0.0, 0.0, 0.0)
    else:
        weight = -(a / np.maximum(p, SMALLEST) ** 2 + b / np.maximum(q, SMALLEST) ** 2)
        second_t = spread * (1 - 2 * eta) * (2 * won - 1)
        extra = (slope * sure * bent * (1 - 2 * won), slope * 2 * spread * bent, slope * second_t)
    return Terms(
        value=value,
        d=slope * by_d,
        t=slope * by_t,
        dd=weight * by_d**2 + extra[0],
        dt=weight * by_d * by_t + extra[1],
        tt=weight * by_t**2 + extra[2],
    )


_TERMS: Mapping[str, Callable[[tuple[Array, Array, Array], Array, Array, bool], Terms]] = {
    "bt": _bt,
    "rao_kupper": _rao_kupper,
    "davidson": _davidson,
    "crowd": _crowd,
}


@dataclass(frozen=True)
class Dummy:
    """Each text won and lost `weight` times against a dummy of strength `centre`.

    The penalty is weight * sum(ln sigma(s - centre) + ln sigma(centre - s)). Source: Gienapp,
    Stein, Hagen and Potthast (2020), https://doi.org/10.18653/v1/2020.acl-main.511. ValueError for
    a weight that is not above 0.
    """

    weight: float = 0.1
    centre: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a weight that is no penalty."""
        if not (self.weight > 0 and math.isfinite(self.weight)):
            raise ValueError(f"the weight of a dummy is above 0, not {self.weight:g}")

    def terms(self, s: Array) -> tuple[float, Array, Array]:
        """The penalty, and its first and second derivatives (n,) by the strengths `s` (n,)."""
        x = s - self.centre
        p = sigmoid(x)
        value = self.weight * float((log_sigmoid(x) + log_sigmoid(-x)).sum())
        return value, self.weight * (1 - 2 * p), -2 * self.weight * p * (1 - p)


@dataclass(frozen=True)
class Normal:
    """Strengths come from a normal distribution with mean 0 and standard deviation `tau`.

    The penalty is -sum(s^2) / (2 tau^2). ValueError for a tau that is not above 0.
    """

    tau: float

    def __post_init__(self) -> None:
        """Refuse a standard deviation that is none."""
        if not (self.tau > 0 and math.isfinite(self.tau)):
            raise ValueError(f"the standard deviation tau is above 0, not {self.tau:g}")

    @property
    def centre(self) -> float:
        """Where the penalty places a text without votes."""
        return 0.0

    def terms(self, s: Array) -> tuple[float, Array, Array]:
        """The penalty, and its first and second derivatives (n,) by the strengths `s` (n,)."""
        precision = self.tau**-2
        value = -float((s**2).sum()) * precision / 2
        return value, -precision * s, np.full_like(s, -precision)


Penalty = Dummy | Normal
