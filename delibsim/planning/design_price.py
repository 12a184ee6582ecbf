"""What a design of another size would cost: the estimate of a plan, in proportion to sessions."""

from dataclasses import dataclass
from typing import Any

from delibsim.planning.estimate import Estimate
from delibsim.planning.tokens import Range


@dataclass(frozen=True)
class DesignPrice:
    """US dollars of one session of a plan, on average, and the treatments of the plan.

    `unpriced` names the models whose price is unknown and that are not in it. Sessions of other
    topics, and the caches that more replicates use, are not known: the price of another design is
    proportional to its sessions.
    """

    usd: Range
    sessions: int
    treatments: int
    unpriced: tuple[str, ...]

    def of(self, sessions: int) -> Range:
        """US dollars of so many sessions."""
        return Range(self.usd.low * sessions, self.usd.high * sessions)

    def plain(self, sessions: int) -> dict[str, Any]:
        """The price of so many sessions, as plain values."""
        found = self.of(sessions)
        return {
            "sessions": sessions,
            "usd_low": found.low,
            "usd_high": found.high,
            "usd_unknown": list(self.unpriced),
            "estimated_on_sessions": self.sessions,
        }


def design_price(found: Estimate, treatments: int) -> DesignPrice | None:
    """The price of a session by an estimate; None where no session is left to be held."""
    if not found.waiting:
        return None
    low, high = found.usd.low / found.waiting, found.usd.high / found.waiting
    return DesignPrice(Range(low, high), found.waiting, treatments, tuple(found.unpriced))
