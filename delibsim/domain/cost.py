"""What recorded calls cost: the known figure, nothing for what failed for free, else unknown."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

OUTCOMES: frozenset[str] = frozenset(
    {"ok", "refusal", "length", "content_filter", "unreadable", "absent"}
)
"""Statuses that say how a model or a person behaves; the others say only that nobody could be
asked.
"""


def failed_for_free(status: str, possibly_billed: bool, used: bool) -> bool:
    """Whether an attempt cost nothing: it failed, cannot have been billed, and reported no use."""
    return status not in OUTCOMES and not possibly_billed and not used


def cost_of(attempt: Mapping[str, Any]) -> float | None:
    """US dollars of a completion or of one of its `tries` as plain values.

    0 if it failed for free, None if the cost is unknown.

    >>> cost_of({"status": "quota", "usage": {}})
    0.0
    >>> cost_of({"status": "timeout", "possibly_billed": True, "usage": {}}) is None
    True
    """
    usage = attempt.get("usage", {})
    if usage.get("cost_usd") is not None:
        return usage["cost_usd"]
    used = any(value is not None for value in usage.values())
    possibly_billed = attempt.get("possibly_billed", False)
    return 0.0 if failed_for_free(attempt["status"], possibly_billed, used) else None


def sum_of(costs: Iterable[float | None]) -> float | None:
    """US dollars of all; None as soon as one is unknown.

    >>> sum_of([0.25, 0.5]), sum_of([0.25, None])
    (0.75, None)
    """
    known = list(costs)
    return None if None in known else math.fsum(cost for cost in known if cost is not None)
