"""Crowd-BT: judges who name the better text with a probability of their own.

Source: Chen, Bennett, Collins-Thompson and Horvitz (2013), https://doi.org/10.1145/2433396.2433420.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts
from delibsim.measures.bradley_terry.graph import Graph, graph_of
from delibsim.measures.bradley_terry.judges import basis
from delibsim.measures.bradley_terry.likelihood import sigmoid
from delibsim.measures.bradley_terry.linear import NotPositive
from delibsim.measures.bradley_terry.newton import maximised
from delibsim.measures.bradley_terry.penalty import Dummy, Penalty
from delibsim.measures.bradley_terry.problem import THRESHOLD, Point, Problem

Array = NDArray[np.float64]
BETA = (10.0, 2.0)
"""The prior of eta: judges are mostly right."""
STARTS = (0.6, 0.75, 0.9, 0.98)
"""Values of eta, for all judges, from which the maximum is looked for."""
SAME = 1e-6
"""The difference between objectives below which two maxima are one."""
STARTS_DIFFER, NOT_CONVERGED = "starts_differ", "not_converged"


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
        point, _, converged = maximised(problem, Point(np.full(votes.n, used.centre), judges))
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
    k = problem.counts.judges
    try:
        system = problem.slope(problem.at(point)).system
        _, covariance = system.solve(np.zeros((problem.counts.n, k)), np.eye(k))
    except NotPositive:
        return np.full(k, np.nan), np.full(k, np.nan)
    half = 1.959963984540054 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    t = point.judges[THRESHOLD]
    return sigmoid(t - half), sigmoid(t + half)
