"""Judges who differ: silent, discriminating, reversed, or right with a probability (Crowd-BT).

Source: Chen, Bennett, Collins-Thompson and Horvitz (2013), https://doi.org/10.1145/2433396.2433420.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts, Graph, graph_of
from delibsim.measures.bradley_terry.likelihood import Dummy, Penalty, sigmoid
from delibsim.measures.bradley_terry.problem import (
    ALPHA,
    THRESHOLD,
    NotPositive,
    Point,
    Problem,
    maximised,
)

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

NOT_CONVERGED = "not_converged"
NO_TIES, ALL_TIES = "no_ties", "all_ties"
ALWAYS_A, ALWAYS_B = "always_a", "always_b"
ALPHA_ZERO = "alpha_zero"
FLAT = np.log(1e-3)
"""The logarithm of the share of the largest alpha below which a fit that does not converge has an
alpha run to 0. It is a share because the geometric mean of all is 1: where most judges toss coins,
the alphas of the others grow without bound while theirs stay in sight."""
GONE = np.log(1e-6)
"""The same of a fit that seems to have converged because nothing changes any more."""
GAIN = 1e-9
"""By how much turning a judge round must raise the objective."""


def mute(votes: Counts, order: bool, threshold: bool, ties: bool) -> tuple[list[str], Marks]:
    """A note on each judge (K,), and which judges say nothing of texts.

    A judge who only gives ties, or always names the text in one place where place bias (`order`)
    is estimated, is explained in full by a parameter that grows without bound. `threshold` says
    whether that of ties is estimated, `ties` whether the model has ties.
    """
    k = votes.judges
    a, tie, b = (np.bincount(votes.judge, part, k) > 0 for part in (votes.a, votes.tie, votes.b))
    decided = a | b
    always = order & decided & ~(a & b)
    ties_alone = ties & tie & ~decided
    found = (
        (NO_TIES, ties & decided & ~tie),
        (ALL_TIES, ties_alone),
        (ALWAYS_A, always & a),
        (ALWAYS_B, always & b),
    )
    notes: list[str] = []
    for judge in range(k):
        notes.append(" ".join(code for code, of in found if of[judge]))
    return notes, always | (ties_alone & threshold)


def basis(free: Marks) -> Array:
    """The columns (3K, q) in which free parameters of judges (3, K) move.

    Those of ln alpha add up to 0, so that the geometric mean of the alphas is 1.
    """
    unit = np.eye(free.size)
    able = ALPHA * free.shape[1] + np.flatnonzero(free[ALPHA])
    alone = unit[:, np.flatnonzero(free[:ALPHA])]
    return np.hstack([alone, unit[:, able[:-1]] - unit[:, able[-1:]]])


def discriminating(
    problem: Problem, point: Point, free: Marks, signed: bool
) -> tuple[Problem, Point, bool]:
    """The fit with alphas from one without, and whether it converged.

    `free` (3, K) are the parameters that are estimated. A judge whose alpha runs to 0 keeps an
    alpha of 0, and no part in the geometric mean. With `signed`, judges are turned round one after
    the other as long as this raises the objective.
    """
    problem = replace(problem, basis=basis(free))
    found, converged = maximised(problem, point)
    if signed:
        problem, found, converged = _turned(problem, found, converged)
    least = _of_largest(free, found)
    while least.min() < (GONE if converged else FLAT) and np.isfinite(least).sum() > 1:
        coin = int(least.argmin())
        free, signs = free.copy(), problem.signs.copy()
        free[ALPHA, coin], signs[coin] = False, 0.0
        problem = replace(problem, basis=basis(free), signs=signs)
        found, converged = maximised(problem, _level(point))
        least = _of_largest(free, found)
    return problem, found, converged


def _of_largest(free: Marks, found: Point) -> Array:
    """The logarithms of the alphas that are free (K,) less the largest; infinite for others."""
    alphas = np.where(free[ALPHA], found.judges[ALPHA], np.nan)
    return np.nan_to_num(alphas - np.nanmax(alphas), nan=np.inf)


def _turned(problem: Problem, found: Point, converged: bool) -> tuple[Problem, Point, bool]:
    """The best of the fits with the sign of one judge after the other turned."""
    best = problem.objective(problem.at(found)) if converged else -np.inf
    judge, since = 0, 0
    while since < problem.counts.judges:
        signs = problem.signs.copy()
        signs[judge] *= -1
        other = replace(problem, signs=signs)
        tried, reached = maximised(other, _level(found))
        since += 1
        if reached and other.objective(other.at(tried)) > best + GAIN:
            problem, found, converged, since = other, tried, True, 0
            best = problem.objective(problem.at(found))
        judge = (judge + 1) % problem.counts.judges
    if problem.signs.sum() < 0:  # the same likelihood: most judges are taken to be the right way
        centre = 0.0 if problem.penalty is None else problem.penalty.centre
        problem = replace(problem, signs=-problem.signs)
        found = Point(2 * centre - found.s, found.judges)
    return problem, found, converged


def _level(point: Point) -> Point:
    """The point with all alphas at 1."""
    judges = point.judges.copy()
    judges[ALPHA] = 0.0
    return Point(point.s, judges)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the difference of two log likelihoods, its degrees of freedom, and p by chi-squared."""

    statistic: float
    df: int
    p: float


def likelihood_ratio(smaller: float, larger: float, df: int) -> LikelihoodRatio:
    """Whether `df` more parameters explain more than chance does (Wilks 1938).

    `smaller` and `larger` are the log likelihoods without and with them, or the objectives where
    both fits have the same penalty; then p is approximate. Against `own_bias`, `discriminating` has
    one parameter a judge more, less one. ValueError where there is no further parameter.

    >>> found = likelihood_ratio(-570.838407929, -551.499459293, 2)
    >>> round(found.statistic, 6), found.p < 1e-8
    (38.677897, True)
    """
    from scipy.special import chdtrc

    if df < 1:
        raise ValueError("the larger model has no further parameter")
    statistic = 2 * (larger - smaller)
    return LikelihoodRatio(statistic, df, float(chdtrc(df, max(statistic, 0.0))))


BETA = (10.0, 2.0)
"""The prior of eta: judges are mostly right."""
STARTS = (0.6, 0.75, 0.9, 0.98)
"""Values of eta, for all judges, from which the maximum is looked for."""
SAME = 1e-6
"""The difference between objectives below which two maxima are one."""
STARTS_DIFFER = "starts_differ"


@dataclass(frozen=True, eq=False)
class CrowdFit:
    """Strengths `raw` (n,) where the penalty places them, `scores` (n,) that add up to 0 in each
    component, and `eta` (K,), the probability that a judge says what the strengths say.

    `eta_low` and `eta_high` are the 95 percent interval, on the log odds of eta. `flags` has
    "starts_differ" where several starts led to several maxima, of which this is the best.
    """

    raw: Array
    scores: Array
    eta: Array
    eta_low: Array
    eta_high: Array
    objective: float
    flags: tuple[str, ...]
    graph: Graph


def crowd_bt(
    counts: Counts,
    penalty: Penalty | None = None,
    beta: tuple[float, float] = BETA,
) -> CrowdFit:
    """The estimate with a penalty on strengths (dummy 0.5 unless told), ties dropped.

    The prior of each eta is Beta with the parameters `beta`, both above 1. ValueError for others:
    without such a prior eta can run to 1 or 0.
    """
    if not min(beta) > 1:
        raise ValueError(f"both parameters of the prior of eta are above 1, not {beta}")
    votes = counts.without_ties("dropped")
    graph = graph_of(votes)
    free = np.zeros((3, votes.judges), dtype=bool)
    free[THRESHOLD] = True
    used = penalty or Dummy(0.5)
    exponents = (beta[0] - 1, beta[1] - 1)
    ones = np.ones(votes.judges)
    problem = Problem("crowd", votes, used, basis(free), ones, graph.component, exponents)
    ends = []
    for eta in STARTS:
        judges = np.zeros((3, votes.judges))
        judges[THRESHOLD] = np.log(eta / (1 - eta))
        point, converged = maximised(problem, Point(np.full(votes.n, used.centre), judges))
        ends.append((converged, problem.objective(problem.at(point)), point))
    converged, objective, point = max(ends, key=lambda end: end[:2])
    reached = [end[1] for end in ends if end[0]]
    flags = [] if converged else [NOT_CONVERGED]
    if reached and max(reached) - min(reached) > SAME:
        flags.append(STARTS_DIFFER)
    raw = point.s if converged else np.full(votes.n, np.nan)
    low, high = _eta_interval(problem, point)
    eta = sigmoid(point.judges[THRESHOLD])
    return CrowdFit(raw, graph.centred(raw), eta, low, high, objective, tuple(flags), graph)


def _eta_interval(problem: Problem, point: Point) -> tuple[Array, Array]:
    """The ends of the 95 percent intervals of eta; NaN where the point is no maximum."""
    n, k = problem.counts.n, problem.counts.judges
    try:
        system = problem.slope(problem.at(point))[1]
        covariance = system.solve(np.eye(n + k)[:, n:])[n:]
    except NotPositive:
        return np.full(k, np.nan), np.full(k, np.nan)
    half = 1.959963984540054 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    t = point.judges[THRESHOLD]
    return sigmoid(t - half), sigmoid(t + half)
