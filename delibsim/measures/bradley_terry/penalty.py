"""Penalties that hold strengths together where votes alone do not, in natural logarithms."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.likelihood import log_sigmoid, sigmoid

Array = NDArray[np.float64]


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
