"""What recorded calls cost: the known figure, nothing for what failed for free, else unknown."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.domain.text import counted

OUTCOMES: frozenset[str] = frozenset(
    {"ok", "refusal", "length", "content_filter", "unreadable", "absent"}
)
"""Statuses that say how a model or a person behaves; the others say only that nobody could be
asked.
"""


@dataclass(frozen=True, slots=True)
class Money:
    """What the calls of a record have cost, in US dollars.

    `spent_usd` is known. `reserved_usd` is the most that so many calls (`reserved`) may have cost
    whose cost is not known; `unknown` counts the calls whose cost nothing bounds. `cut_off` of
    those reserved were sent and have no answer on record: at most `cut_off_usd` of what is
    reserved.
    """

    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    reserved: int = 0
    unknown: int = 0
    cut_off_usd: float = 0.0
    cut_off: int = 0

    def __str__(self) -> str:
        """In words (see `told`)."""
        return self.told()

    def told(self, in_flight: bool = False) -> str:
        """In words; `in_flight` where calls without an answer may still get one.

        >>> str(Money(1.5)), str(Money(0.25, unknown=1))
        ('1.50 USD spent', '0.2500 USD spent, 1 call of unknown cost')
        >>> str(Money(0, 0.01, 2))
        '0 USD spent, up to 0.0100 USD reserved for 2 calls whose cost is not known'
        >>> str(Money(0.5, 0.012, 1, cut_off_usd=0.012, cut_off=1))
        '0.5000 USD spent, 1 call that was cut off may have cost up to 0.0120 USD'
        """
        told = [f"{dollars(self.spent_usd)} USD spent"]
        if answered := self.reserved - self.cut_off:
            most = dollars(max(0.0, self.reserved_usd - self.cut_off_usd))
            calls = counted(answered, "call")
            told.append(f"up to {most} USD reserved for {calls} whose cost is not known")
        if self.cut_off:
            calls, most = counted(self.cut_off, "call"), dollars(self.cut_off_usd)
            if in_flight:
                told.append(f"{calls} without an answer by now may cost up to {most} USD")
            else:
                was = "was" if self.cut_off == 1 else "were"
                told.append(f"{calls} that {was} cut off may have cost up to {most} USD")
        if self.unknown:
            told.append(f"{counted(self.unknown, 'call')} of unknown cost")
        return ", ".join(told)


def total_of(parts: Iterable[Money]) -> Money:
    """What several parts of a record have cost together."""
    known = list(parts)
    return Money(
        math.fsum(part.spent_usd for part in known),
        math.fsum(part.reserved_usd for part in known),
        sum(part.reserved for part in known),
        sum(part.unknown for part in known),
        math.fsum(part.cut_off_usd for part in known),
        sum(part.cut_off for part in known),
    )


MOST_USD = 1e9
"""No call costs so much: a record that says so is damaged."""


def dollars(usd: float) -> str:
    """An amount of US dollars: to the cent, below a dollar to a hundredth of one.

    >>> dollars(1234.567), dollars(0.01234), dollars(0), dollars(0.00001)
    ('1,234.57', '0.0123', '0', 'less than 0.0001')
    """
    if abs(usd) < 1e-12:  # what sums of fractions leave
        return "0"
    if abs(usd) < 0.0001:
        return "less than 0.0001"
    return f"{usd:,.2f}" if abs(usd) >= 1 else f"{usd:.4f}"


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
    """US dollars of all; None as soon as one is unknown, or is more than a call can cost.

    >>> sum_of([0.25, 0.5]), sum_of([0.25, None]), sum_of([0.25, 1e308])
    (0.75, None, None)
    """
    given = list(costs)
    known = [cost for cost in given if cost is not None and abs(cost) < MOST_USD]
    return math.fsum(known) if len(known) == len(given) else None
