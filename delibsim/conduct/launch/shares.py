"""How limits, budget and sessions are divided among workers."""

import math
from collections.abc import Sequence
from dataclasses import replace

from delibsim.domain.run import Session
from delibsim.models.limits import Limits

COUNTS = ("concurrency", "requests_per_minute", "tokens_per_minute", "budget_tokens")
"""The limits that are whole numbers and are divided."""


def most_workers(
    limits: Limits,
    wanted: int,
    largest: int = 1,
    usd: float | None = None,
    dearest: float = 0.0,
) -> int:
    """Among how many workers, at most `wanted`, limits can be divided so that the share of each
    lets a call of `largest` tokens through, and one that costs the `dearest` US dollars; `usd` are
    left.

    A gate lets a call that is larger than its limit through when nothing else was, so smaller
    shares would add up to too much.
    """
    most = [wanted]
    for calls in (limits.concurrency, limits.requests_per_minute):
        if calls is not None:
            most.append(calls)
    for tokens in (limits.tokens_per_minute, limits.budget_tokens):
        if tokens is not None:
            most.append(tokens // max(1, largest))
    if usd is not None and dearest > 0:
        most.append(int(min(usd / dearest, wanted)))
    return max(1, min(most))


def shares(limits: Limits, workers: int) -> list[Limits]:
    """What each of so many workers may use. The shares add up to the limits and never to more; no
    limit stays none.
    """
    usd = limits.budget_usd
    if usd is not None and workers > 1:
        usd = math.nextafter(usd / workers, 0.0)  # a quotient may have been rounded up
    divided = []
    for k in range(workers):
        counts = {name: _part(getattr(limits, name), workers, k) for name in COUNTS}
        divided.append(replace(limits, budget_usd=usd, **counts))
    return divided


def _part(whole: int | None, workers: int, k: int) -> int | None:
    """The share of worker `k`; the first workers take one more each until nothing remains."""
    return None if whole is None else whole // workers + (k < whole % workers)


def batches(sessions: Sequence[Session], workers: int) -> list[list[Session]]:
    """Sessions dealt out to workers like cards, so that every worker has its part of every
    combination of models and every topic.
    """
    dealt = sorted(sessions, key=lambda session: (sorted(session.models), session.topic.id))
    return [dealt[k::workers] for k in range(workers)]
