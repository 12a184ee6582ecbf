"""The limits of a minute: never more than the limit, nearly all of it, nobody starves; time is
scaled so that a minute takes a moment.
"""

import asyncio
import random
import time

import pytest

from delibsim.models.base import Usage
from delibsim.models.limits import RateLimiter, TokenWindow

PERIOD = 0.6


async def through(window, calls, seconds=0.01):
    """Let (estimate, most out, used in, used out) through, all at once; when each was sent and what
    it used.
    """
    sent = []

    async def one(asked, most, used, said):
        taken = await window.take(Usage(input_tokens=asked, output_tokens=most))
        taken.when = asyncio.get_running_loop().time()
        sent.append((taken.when, used + said))
        await asyncio.sleep(seconds)
        window.settle(taken, Usage(input_tokens=used, output_tokens=said))

    await asyncio.gather(*(one(*call) for call in calls))
    return sent


def most_in_a_window(sent, period):
    return max(sum(n for at, n in sent if start <= at < start + period) for start, _ in sent)


def drawn(n, seed=1):
    draw = random.Random(seed)
    asked = [draw.randint(1500, 3500) for _ in range(n)]
    return [
        (a, 500, int(a * draw.uniform(0.70, 0.76)), draw.choice([60, 70, 200, 250])) for a in asked
    ]


async def test_a_call_takes_no_longer_where_thousands_were_made_within_the_minute():
    window = TokenWindow(10**9, period=60)

    async def seconds(n):
        began = time.process_time()
        for _ in range(n):
            taken = await window.take(Usage(input_tokens=900, output_tokens=100))
            window.settle(taken, Usage(input_tokens=800, output_tokens=50))
        return time.process_time() - began

    first = await seconds(500)
    await seconds(6_000)
    # A call that looks at all calls of the minute would take thirteen times as long.
    assert await seconds(500) < 6 * first + 0.1


async def test_the_limit_is_never_exceeded_and_nearly_all_of_it_used():
    window = TokenWindow(50_000, PERIOD)
    sent = await through(window, drawn(160))
    assert most_in_a_window(sent, PERIOD * 0.999) <= 50_000
    first, last = min(sent)[0] + PERIOD, max(sent)[0] - PERIOD
    middle = sum(n for at, n in sent if first <= at < last)
    assert middle / ((last - first) / PERIOD) > 0.9 * 50_000


async def test_what_a_call_did_not_use_is_free_for_others_at_once():
    window = TokenWindow(1000, period=60)
    taken = await window.take(Usage(input_tokens=600, output_tokens=300))
    waiting = asyncio.create_task(window.take(Usage(input_tokens=600, output_tokens=300)))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    window.settle(taken, Usage(input_tokens=90, output_tokens=10))
    await asyncio.wait_for(waiting, 1)


async def test_the_largest_is_not_passed_over_for_more_than_a_window():
    window = TokenWindow(1000, PERIOD)
    small = [(120, 0, 120, 0)] * 60
    sent = await through(
        window, [(600, 0, 600, 0), (600, 0, 600, 0), (600, 0, 600, 0), *small], seconds=0
    )
    start = min(sent)[0]
    large = sorted(when - start for when, n in sent if n == 600)
    assert large[0] < 0.1 < large[-1] < 4 * PERIOD
    assert most_in_a_window(sent, PERIOD * 0.999) <= 1000


async def test_a_call_that_is_given_up_gives_its_tokens_back():
    window = TokenWindow(1000, period=60)
    held = await window.take(Usage(input_tokens=900))
    waiting = [asyncio.create_task(window.take(Usage(input_tokens=800))) for _ in range(2)]
    await asyncio.sleep(0.01)
    waiting[0].cancel()
    window.settle(held, Usage(input_tokens=100, output_tokens=0))
    await asyncio.wait_for(waiting[1], 1)
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]


@pytest.mark.parametrize("per_minute", [1, 7, 90, 157])
async def test_requests_are_spread_over_the_minute_and_never_too_many(per_minute):
    period = 0.5
    pace, sent = RateLimiter(per_minute, period), []

    async def one(i):
        await pace.take()
        sent.append((asyncio.get_running_loop().time(), i))

    await asyncio.gather(*(one(i) for i in range(2 * per_minute + 1)))
    assert [i for _, i in sent] == sorted(i for _, i in sent)
    times = [at for at, _ in sent]
    assert (
        max(sum(start <= at < start + 0.99 * period for at in times) for start in times)
        <= per_minute
    )
    # No burst: a tenth of a minute holds a tenth of its requests, and never more than two of the
    # spans that they are spread over.
    together = max(1, per_minute // 60)
    assert (
        max(sum(start <= at < start + period / 10 for at in times) for start in times)
        <= per_minute / 10 + 2 * together
    )
