"""How many random draws the inference of a study takes, and their seed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Draws:
    """Numbers of draws; equal draws give equal results.

    `permutations` are those of a permutation test, `resamples` those of a bootstrap over topics,
    `parametric` those of the parametric bootstrap of the mixed model.
    """

    permutations: int = 10_000
    resamples: int = 10_000
    parametric: int = 2_000
    seed: int = 0
