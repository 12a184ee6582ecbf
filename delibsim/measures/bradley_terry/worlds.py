"""Texts whose strengths are known, and judges who vote on them: what designs are tried on."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.likelihood import probabilities

Array = NDArray[np.float64]
Places = NDArray[np.int64]
NODES = 80
"""The points at which the share of ties is averaged."""


@dataclass(frozen=True)
class World:
    """One group of `texts` with normal strengths of standard deviation `spread`, and a judge of the
    model of Rao and Kupper with a threshold `theta` and the advantage `delta` of the first text.
    """

    texts: int
    spread: float
    theta: float
    delta: float

    def truth(self, seed: int) -> Array:
        """The strengths of the texts (n,)."""
        return np.random.default_rng([seed, 1]).normal(0, self.spread, self.texts)

    def judged(self, sheets: Places, seed: int, repeat: int = 0) -> Counts:
        """A vote on each sheet (p, 2), drawn anew for each seed and repeat."""
        first, second = sheets.T
        truth = self.truth(seed)
        d = truth[first] - truth[second] + self.delta
        won, _, lost = probabilities("rao_kupper", d, np.full(1, self._t))
        chance = np.random.default_rng([seed, 2, repeat]).random(len(first))
        outcome = np.where(chance < won, 1, np.where(chance < won + lost, -1, 0))
        return counted(self.texts, first, second, outcome)

    @property
    def ties(self) -> float:
        """The share of ties that is expected of pairs drawn at random."""
        return float(self._weights @ probabilities("rao_kupper", self._d, np.full(1, self._t))[1])

    @cached_property
    def _t(self) -> float:
        return math.log(self.theta) if self.theta > 0 else -math.inf

    @cached_property
    def _d(self) -> Array:
        """Differences of pairs drawn at random, of a normal distribution."""
        return (
            self.delta + math.sqrt(2) * self.spread * np.polynomial.hermite_e.hermegauss(NODES)[0]
        )

    @cached_property
    def _weights(self) -> Array:
        weights = np.polynomial.hermite_e.hermegauss(NODES)[1]
        return weights / weights.sum()


def world_with(texts: int, spread: float, ties: float, place: float) -> World:
    """The world in which pairs drawn at random end in this share of ties.

    With equal texts and no place bias the threshold is 2 artanh(ties).

    >>> round(world_with(10, 0, 0.15, 0).theta, 6)  # 2 * artanh(0.15)
    0.302281
    """
    from scipy.optimize import brentq

    if ties == 0:
        return World(texts, spread, 0.0, place)

    def beyond(t: float) -> float:
        return World(texts, spread, math.exp(t), place).ties - ties

    return World(texts, spread, math.exp(float(brentq(beyond, -20.0, 4.0))), place)
