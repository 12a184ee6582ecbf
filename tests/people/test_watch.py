"""What waits for a change of a room, and what stops it."""

import asyncio
import time

import pytest

from delibsim.people.presence import woken


async def test_a_cancellation_that_comes_together_with_the_event_is_not_lost():
    event = asyncio.Event()
    waiting = asyncio.create_task(woken(event, 60))
    await asyncio.sleep(0)
    event.set()  # what waits is due now, and has not gone on
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_waits_is_woken_by_the_event_or_goes_on_after_its_time():
    event = asyncio.Event()
    begun = time.monotonic()
    assert await woken(event, 0.05) is False
    assert time.monotonic() - begun >= 0.04
    event.set()
    assert await woken(event, 60) is True
