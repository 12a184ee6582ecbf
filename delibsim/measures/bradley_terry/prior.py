"""How much texts differ, estimated from their votes: the standard deviation of a normal prior."""

import math
from dataclasses import replace

from delibsim.measures.bradley_terry.counts import Counts
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.penalty import Normal
from delibsim.measures.bradley_terry.uncertainty import Uncertainty, uncertainty

START = 1.5
"""The standard deviation to begin with."""
BOUNDS = (0.05, 20.0)
"""What a standard deviation is kept between: votes that contradict each other say 0, and votes that
never do say infinity.
"""
STEP = 0.5
"""How far apart, on the logarithm, standard deviations are tried."""


def with_prior(counts: Counts, model: Model, start: float = START) -> Uncertainty:
    """A fit whose strengths have a normal prior, with the standard deviation that fits the votes.

    It is that of `found.fit.model.penalty`: the maximum of the probability of the votes, all else
    integrated out in Laplace's approximation (Tierney and Kadane 1986,
    https://doi.org/10.1080/01621459.1986.10478240), by a parabola through the best that were tried.
    Errors are those of the posterior, not clustered. ValueError for more than 2,000 texts.
    """
    low, high = (math.log(bound) for bound in BOUNDS)
    tried: dict[int, Uncertainty] = {}
    middle = min(max(math.log(start), low), high)

    def at(place: int) -> float:
        if place not in tried:
            log_tau = middle + place * STEP
            if not low <= log_tau <= high:
                return -math.inf
            tried[place] = _fitted(counts, model, math.exp(log_tau), tried.get(best))
        return evidence(tried[place])

    best = 0
    while True:
        around = [(at(place), -abs(place - best), place) for place in (best - 1, best, best + 1)]
        if max(around)[2] == best:
            break
        best = max(around)[2]
    left, mid, right = (value for value, _, _ in around)
    if math.isinf(left) or math.isinf(right):
        return tried[best]
    bend = left - 2 * mid + right
    share = (left - right) / (2 * bend) if bend < 0 else 0.0
    return _fitted(counts, model, math.exp(middle + (best + share) * STEP), tried[best])


def evidence(found: Uncertainty) -> float:
    """The logarithm of the probability of the votes under the normal prior of a fit, less a
    constant: strengths and parameters of judges are integrated out in Laplace's approximation.
    """
    penalty = found.fit.model.penalty
    if not isinstance(penalty, Normal):
        raise ValueError("this needs a normal prior")
    size = len(found.fit.raw)
    return found.fit.objective - size * math.log(penalty.tau) - found.log_determinant() / 2


def _fitted(counts: Counts, model: Model, tau: float, near: Uncertainty | None) -> Uncertainty:
    """The fit with this standard deviation, which begins at one that is near."""
    start = None if near is None else near.fit
    found = fit(counts, replace(model, penalty=Normal(tau)), start)
    return uncertainty(found, clustered=False)
