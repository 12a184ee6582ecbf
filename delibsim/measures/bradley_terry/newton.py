"""Newton's method with halved steps, for strengths and parameters of judges together.

Where the likelihood is not concave at a point, expected second derivatives take the place of those
observed (Fisher's scoring), with which every step goes up.
"""

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.linear import NotPositive
from delibsim.measures.bradley_terry.problem import Point, Problem, State

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""The change of every parameter below which the step that was taken was the last one. What is left
is about its square, because steps converge quadratically and are solved for to `FINE`."""
ROUNDING = 1e-12
"""The share of the objective that rounding may take from it."""
EACH = 1e-15
"""What rounding may take from the log likelihood of one vote."""
STEPS = 100
"""The most steps; a few are enough for most data."""
LONGEST = 4.0
"""The largest change of a parameter in one step."""
ROUGH, FINE = 1e-2, 1e-7
"""How exactly the first steps are solved for, and the last: far from the maximum a step need not be
exact (Dembo, Eisenstat and Steihaug 1982, https://doi.org/10.1137/0719025)."""
HALVINGS = 40
"""How often a step is halved at most."""


def maximised(
    problem: Problem, start: Point, tolerance: float = TOLERANCE
) -> tuple[Point, int, bool]:
    """The point of the maximum, the steps it took, and whether the method converged.

    A step that changes every parameter by `tolerance` at most is the last one.
    """
    state = problem.at(start)
    value = problem.objective(state)
    votes = float(problem.counts.votes.sum())
    size = np.sqrt(ROUGH)
    for count in range(1, STEPS + 1):
        texts, judges = _step(problem, state, float(np.clip(size**2, FINE, ROUGH)))
        size = max(np.abs(texts).max(initial=0.0), np.abs(judges).max(initial=0.0))
        share = min(1.0, LONGEST / size) if size > 0 else 1.0
        least = value - ROUNDING * abs(value) - EACH * votes
        for _ in range(HALVINGS):
            moved = problem.at(state.point.moved(texts, judges, share))
            reached = problem.objective(moved)
            if reached >= least:
                break
            share /= 2
        else:
            return state.point, count, False
        state, value = moved, reached
        if size * share <= tolerance:
            return state.point, count, True
    return state.point, STEPS, False


def _step(problem: Problem, state: State, tolerance: float) -> tuple[Array, Array]:
    """The step of Newton's method: of the strengths (n,) and of all parameters of judges (3K,)."""
    for expected in (False, True):
        here = problem.at(state.point, True) if expected else state
        slope = problem.slope(here, tolerance)
        try:
            texts, judges = slope.system.solve(slope.texts[:, None], slope.judges[:, None])
        except NotPositive:
            continue
        step = texts[:, 0], judges[:, 0]
        ascent = step[0] @ slope.texts + step[1] @ slope.judges
        if np.isfinite(ascent) and ascent >= 0:
            return step[0], problem.basis @ step[1]
    # Uphill by the gradient alone, as far as the curvature of each parameter allows.
    rest = np.diag(slope.system.rest)
    texts = slope.texts / np.maximum(slope.system.diagonal, 1.0)
    return texts, problem.basis @ (slope.judges / np.maximum(rest, 1.0))
