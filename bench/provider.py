"""Measure calls to models over HTTP: .venv/bin/python bench/provider.py [--quick]

The engine is compared with bare loops of calls. A server on loopback answers every call after 200
ms (bench/loopback/server.py, a process of its own). Ideal = calls x latency / in flight.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
from record import beside

from delibsim import ModelPool, Runs, compose
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.prompts.session import fixed_prompts

LATENCY = 0.2
CALLS = 20  # of a deliberation
CPU_AIM = 0.75
"""Milliseconds of CPU that a call of ours is to take at most."""
TIMES_BARE = 1.3
"""Times the seconds of bare aiohttp that ours are to take at most."""
OURS = ("delibsim, openai_compatible", "delibsim, litellm")
BY_SCHEMA = "delibsim, openai_compatible, by schema"
"""The first of them, with a schema in every call that asks for a survey."""
SECONDS = slice(62, 70)
"""Where the seconds stand in a row."""
Ask = Callable[[list[dict[str, str]]], Awaitable[object]]


def main() -> None:
    """Run every row in a process of its own, or the one that is named."""
    if len(sys.argv) > 1 and sys.argv[1] == "--row":
        asyncio.run(one_row(*sys.argv[2:5], float(sys.argv[5])))
        return
    quick = "--quick" in sys.argv
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; .venv/bin/python"
        " bench/provider.py\n"
    )
    print(
        f"{'what':44} {'calls':>6} {'in flight':>9} {'seconds':>8} {'x ideal':>8}"
        f" {'CPU ms/call':>11}  aim",
        flush=True,
    )
    n, at_once = (20, 16) if quick else (100, 64)
    rows = [(what, n, at_once, LATENCY) for what in (*OURS, *PEERS)]
    if not quick:
        rows += [(what, 500, 512, LATENCY) for what in (OURS[0], *PEERS)]
    found: dict[tuple[str, int, int], float] = {}
    without = [(what, n, at_once, 0.0) for what in (OURS[0], BY_SCHEMA)]
    for what, sessions, seats, latency in [*rows, *without]:
        words = ["--row", what, str(sessions), str(seats), str(latency)]
        done = subprocess.run(
            [sys.executable, __file__, *words], check=True, stdout=subprocess.PIPE, text=True
        )
        print(done.stdout, end="", flush=True)
        if latency:
            found[what, sessions, seats] = float(done.stdout[SECONDS])
    print()
    for (what, sessions, seats), seconds in found.items():
        bare = found.get(("bare aiohttp", sessions, seats))
        if what in OURS and bare:
            told = beside(seconds / bare, TIMES_BARE, "times")
            print(f"{what}, {seats} in flight: {seconds / bare:.2f} times bare aiohttp  {told}")


async def one_row(what: str, sessions: str, at_once: str, latency: float) -> None:
    """Hold so many deliberations, or ask a bare loop as many calls as they have."""
    async with served(latency) as url:
        if what in (*OURS, BY_SCHEMA):
            await ours(what, url, int(sessions), int(at_once), latency)
        else:
            await bare(what, PEERS[what], url, CALLS * int(sessions), int(at_once), latency)


async def ours(what: str, url: str, n: int, at_once: int, latency: float) -> None:
    """Hold n deliberations, scoring apart, writing every exchange and run."""
    _, kind, *enforced = what.split(", ")
    name = "openai/bench" if kind == "litellm" else "bench"
    planned = compose("topic=ccps", "seed=7")
    model = {"kind": kind, "name": "bench", "model": name, "temperature": 0.0}
    model["structured"] = "json_schema" if enforced else False
    people = tuple(replace(person, model="bench") for person in planned.participants)
    sessions = [
        replace(planned, id=f"r{i}", replicate=i, participants=people, models={"bench": model})
        for i in range(1, n + 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        voices = ModelPool(Limits(concurrency=at_once), addresses={"bench": url})
        # What a first call imports is there before the clock starts, for ours as for the bare
        # loops.
        await next(iter(voices.of(sessions[0]).values())).complete(fixed_prompts(sessions[0])[0], 1)
        started, cpu = time.perf_counter(), time.process_time()
        await voices.preflight(sessions[:1])  # as `delibsim run` does
        held = await hold_all(sessions, Runs(Path(folder), "bench"), pool=voices, at_once=n)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    faults = [one.fault for one in held if one.status != "complete"]
    if faults:
        raise SystemExit(f"{what}: a run is not complete: {faults[0]}")
    name = what if latency else f"{what}, no latency"
    row(name, sum(one.asked for one in held), at_once, seconds, latency, cpu)


async def bare(
    what: str,
    peer: Callable[[str], contextlib.AbstractAsyncContextManager[Ask]],
    url: str,
    calls: int,
    at_once: int,
    latency: float,
) -> None:
    """Ask a loop of calls and nothing else, with prompts of the size that delibsim sends on
    average.
    """
    messages = [{"role": "system", "content": "s" * 2000}, {"role": "user", "content": "u" * 5000}]
    seats = asyncio.Semaphore(at_once)
    async with peer(url) as ask:

        async def one() -> None:
            async with seats:
                await ask(messages)

        await one()
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one() for _ in range(calls)))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        row(f"{what} in a gather", calls, at_once, seconds, latency, cpu)


@contextlib.asynccontextmanager
async def with_aiohttp(url: str) -> AsyncGenerator[Ask]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(messages: list[dict[str, str]]) -> object:
            body = {"model": "bench", "messages": messages}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return await response.json()

        yield ask


@contextlib.asynccontextmanager
async def with_httpx(url: str) -> AsyncGenerator[Ask]:
    import httpx

    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=60) as client:

        async def ask(messages: list[dict[str, str]]) -> object:
            body = {"model": "bench", "messages": messages}
            response = await client.post(f"{url}/chat/completions", json=body)
            return response.json()

        yield ask


@contextlib.asynccontextmanager
async def with_openai(url: str) -> AsyncGenerator[Ask]:
    import openai

    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        def ask(messages: list[dict[str, str]]) -> Awaitable[object]:
            of_sdk: Any = messages
            return client.chat.completions.create(model="bench", messages=of_sdk)

        yield ask


@contextlib.asynccontextmanager
async def with_litellm(url: str) -> AsyncGenerator[Ask]:
    from delibsim.models.clients.litellm import litellm

    yield lambda messages: litellm.acompletion(
        "openai/bench", messages, api_base=url, num_retries=0, max_retries=0
    )


PEERS = {
    "bare aiohttp": with_aiohttp,
    "bare httpx": with_httpx,
    "bare openai SDK": with_openai,
    "bare litellm": with_litellm,
}


def row(what: str, calls: int, at_once: int, seconds: float, latency: float, cpu: float) -> None:
    ideal = calls * latency / at_once
    ratio = f"{seconds / ideal:8.2f}" if ideal else f"{'-':>8}"
    each = 1000 * cpu / calls
    aim = beside(each, CPU_AIM, "ms") if what.startswith(OURS[0]) else ""
    print(
        f"{what:44} {calls:6} {at_once:9} {seconds:8.2f} {ratio} {each:11.2f}  {aim}".rstrip(),
        flush=True,
    )


@contextlib.asynccontextmanager
async def served(latency: float) -> AsyncGenerator[str]:
    """The server in a process of its own; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = Path(__file__).with_name("loopback") / "server.py"
    command = [sys.executable, str(script), str(port), str(latency)]
    server = subprocess.Popen(command)  # noqa: ASYNC220
    try:
        for _ in range(100):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=1),
            ):
                break
            await asyncio.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "none")
    main()
