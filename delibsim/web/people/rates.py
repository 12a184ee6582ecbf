"""How often somebody may ask: many requests of a person, few of who tries links and passwords;
and how many streams of events may be open.
"""

import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterable
from typing import Any

from sse_starlette import EventSourceResponse
from starlette.responses import Response

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

PING = 15
"""Seconds between two signs of life of a stream of events."""


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


class Streams:
    """Streams of events that are open, at most `most` of anybody: a place is taken before a stream
    is opened, so that many requests at once open no more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def answer(self, who: str, lines: AsyncIterable[dict[str, str]]) -> Response:
        """The answer that sends these lines to somebody; 429 where no place is free."""
        if self._open[who] >= self.most:
            return Response(status_code=429, headers={"retry-after": "10"})
        self._open[who] += 1
        return _Stream(self, who, lines)

    def close(self, who: str) -> None:
        """Give a place back."""
        self._open[who] -= 1
        if not self._open[who]:
            del self._open[who]


class _Stream(EventSourceResponse):
    """A stream that gives its place back however it ends, also before its first line."""

    def __init__(self, streams: Streams, who: str, lines: AsyncIterable[dict[str, str]]) -> None:
        super().__init__(lines, ping=PING, headers={"x-accel-buffering": "no"})
        self._streams, self._who = streams, who

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.close(self._who)
