"""How far asking is: answers, calls a minute, what is left, money; as one line now and then."""

import time
from collections import Counter
from collections.abc import Callable

from delibsim.domain.text import counted
from delibsim.models.pool import ModelPool

EVERY = 5.0
"""Seconds between two lines of progress."""


class AskingProgress:
    """Counts answers as they come, and says now and then how many there are and what is left.

    `noun` is what one of them is called, such as "sample".
    """

    def __init__(
        self, total: int, pool: ModelPool, say: Callable[[str], None], noun: str = "sample"
    ) -> None:
        self._total, self._pool, self._say, self._noun = total, pool, say, noun
        self._begun = self._last = time.monotonic()
        self._done = 0
        self.missing: Counter[str] = Counter()
        """How many answers are missing, by the code of the reason."""

    def expect(self, total: int) -> None:
        """Say how many answers there will be at most."""
        self._total = total

    def note(self, missing: str) -> None:
        """Take note of an answer; `missing` is the code of the reason why it is missing, or ""."""
        self._done += 1
        if missing:
            self.missing[missing] += 1
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self._say(self.line())

    def line(self) -> str:
        """How asking stands, in one line."""
        seconds = max(time.monotonic() - self._begun, 0.001)
        parts = [
            f"{self._done:,} of {counted(self._total, self._noun)}",
            f"{60 * self._done / seconds:,.0f} a minute",
        ]
        parts += [f"{n:,} {code}" for code, n in self.missing.most_common()]
        budget = self._pool.budget
        if budget.usd is not None:
            parts.append(f"{budget.spent_usd:.2f} of {budget.usd:g} USD spent or reserved")
        elif budget.spent_usd:
            parts.append(f"{budget.spent_usd:.2f} USD spent or reserved")
        left = self._total - self._done
        if self._done and left:
            minutes, rest = divmod(round(left * seconds / self._done), 60)
            parts.append(f"about {minutes} min {rest} s left")
        return ", ".join(parts)
