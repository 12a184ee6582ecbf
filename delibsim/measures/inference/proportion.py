"""The Wilson interval of a proportion: it keeps its width where all or none succeeded."""

import math
from statistics import NormalDist


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of `successes` out of `n`; NaN twice where n is 0.

    Source: Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953. ValueError for successes
    outside 0 to n.

    >>> [round(end, 7) for end in wilson(50, 50)]
    [0.9286524, 1.0]
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no proportion")
    if not n:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return low, high
