"""How often somebody may ask: many requests of a person, few of who tries links and passwords."""

import time
from collections import OrderedDict, deque

OFTEN = (240, 10.0)
"""Requests that one cookie may make within so many seconds."""
OF_ADDRESS = (3_000, 10.0)
"""Requests without a good cookie that one address may make: hundreds may come from one building."""
TRIES = (30, 60.0)
"""Links and cookies that are none which one address may try; good ones never count."""
PASSWORDS = (6, 60.0)
"""Passwords that one address may try."""
PASSWORDS_OF_ALL = (60, 60.0)
"""Passwords that all addresses together may try."""
NEWCOMERS = (400, 600.0)
"""New people whom an open link lets in from one address: hundreds may sit in one building."""
KEPT = 20_000
"""How many askers are remembered; who has not asked for longest is forgotten first."""


class Rates:
    """Who has asked how often of late, by any name that tells one asker from another."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()

    def is_over(self, who: str, rate: tuple[int, float]) -> bool:
        """Whether somebody has asked more often than the rate allows; this time counts."""
        most, within = rate
        asked = self._asked.setdefault(who, deque(maxlen=most + 1))
        self._asked.move_to_end(who)
        moment = time.monotonic()
        asked.append(moment)
        while moment - asked[0] > within:
            asked.popleft()
        if len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return len(asked) > most
