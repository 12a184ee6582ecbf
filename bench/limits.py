"""Measure how limits are used and kept: .venv/bin/python bench/limits.py [MINUTES]

The fake provider counts, by its own clock, in every window of sixty seconds after the first minute.
"""

import asyncio
import contextlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from delibsim import ModelPool, Runs, compose
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.testing.provider import FakeProvider

MINUTE = 60.0


class Meter(FakeProvider):
    """A fake provider that notes when each call came in and what it billed for it."""

    def __init__(self) -> None:
        super().__init__(models=("bench",), latency=0.2)
        self.billed_at: list[tuple[float, int]] = []

    async def _completion(self, call, rule):
        body = await super()._completion(call, rule)
        self.billed_at.append((call.came, body["usage"]["total_tokens"]))
        return body


async def main(minutes: float) -> None:
    print(f"{'limits':44} {'binding':>9} {'most in 60 s':>13} {'used, mean':>11}")
    for rpm, tpm in ((600, None), (600, 50_000)):
        await measure(rpm, tpm, minutes)


async def measure(rpm: int, tpm: int | None, minutes: float) -> None:
    """Hold sessions for some minutes, and see what came in."""
    planned = compose("topic=ccps", "seed=7")
    people = tuple(replace(person, model="bench") for person in planned.participants)
    model = {
        "kind": "openai_compatible",
        "name": "bench",
        "model": "bench",
        "temperature": 0.0,
        "max_tokens": 2048,
    }
    sessions = [
        replace(planned, id=f"r{i}", replicate=i, participants=people, models={"bench": model})
        for i in range(1, 1000)
    ]
    limits = Limits(concurrency=32, requests_per_minute=rpm, tokens_per_minute=tpm)
    async with Meter() as provider:
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(TimeoutError):
            voices = ModelPool(limits, addresses={"bench": provider.base_url})
            holding = hold_all(sessions, Runs(Path(folder), "bench"), pool=voices, at_once=64)
            await asyncio.wait_for(holding, minutes * MINUTE)
    amounts = [(at, n if tpm else 1) for at, n in provider.billed_at]
    first, last, limit = min(amounts)[0] + MINUTE, max(amounts)[0] - MINUTE, tpm or rpm
    most = max(used_in_minute(amounts, start) for start, _ in amounts)
    # Until the first minute is over, nothing is known of what calls use; the windows begin after
    # it, at every second.
    starts = [first + s for s in range(int(last - first) + 1)]
    mean = fmean(used_in_minute(amounts, start) for start in starts)
    tokens = f", {tpm:,} tokens" if tpm else ""
    name = f"{rpm} requests{tokens} a minute"
    print(f"{name:44} {limit:9,} {most / limit:13.1%} {mean / limit:11.1%}", flush=True)


def used_in_minute(amounts: list[tuple[float, int]], start: float) -> int:
    """What was used in the minute from `start`, of amounts with their times."""
    return sum(n for at, n in amounts if start <= at < start + MINUTE)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 4))
