"""Measure the pages of 1,000 raters: .venv/bin/python bench/people_raters.py [RATERS [SECONDS]]

A server in a process of its own serves a pack of debates. Every rater comes at a time of her own
and then hands a page in every 30 seconds or so, over real HTTP; rows are brought into the study
meanwhile. What is timed is each page from its request to its last byte.
"""

import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import uvicorn
from record import record
from starlette.applications import Starlette

from delibsim.conduct.handing_out import Online
from delibsim.conduct.hold import hold_all
from delibsim.conduct.packs import open_pack
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.conduct.people.rater_rows import Rows, keep_bringing
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import PERSON
from delibsim.store.runs import Runs
from delibsim.web.people.raters import Rater, RaterPages
from delibsim.web.people.render import language
from delibsim.web.serve import bound

RATERS, SECONDS, EVERY = 1_000, 60.0, 30.0
DEBATES = ("format=debate", "motion=voting,nuclear", "replicate=1,2,3,4,5")
CSRF = "c" * 32
ABOUT = (
    "Milliseconds from the request of a rater's page to its last byte, over real HTTP from another"
    " process of the same machine: 1,000 raters who came within the first half minute and handed a"
    " page in every 30 seconds or so, while rows were brought into the study. The aim: 95 % of the"
    " pages under 150 ms."
)
INPUT = re.compile(r'<input[^>]*name="([A-Z0-9a-z_]+)"')
KEY = re.compile(r'name="key" value="(\w+)"')


def main() -> None:
    raters = int(sys.argv[1]) if len(sys.argv) > 1 else RATERS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        runs, task = prepared(Path(folder), raters)
        words = [sys.executable, __file__, "serve", str(runs.folder), task]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            begun = time.monotonic()
            times = asyncio.run(raters_at(address, raters, seconds))
            took = time.monotonic() - begun
            process.terminate()
    rows = [row(name, own) for name, own in times.items()]
    rows.append(row("all pages", [one for own in times.values() for one in own]))
    for one in rows:
        sys.stdout.write(f"{one}\n")
    sys.stdout.write(f"{took:.0f} s, load {os.getloadavg()[0]:.1f}\n")
    if raters == RATERS:
        record("people_raters", ABOUT, rows, ["starlette", "uvicorn", "sqlalchemy"])


def prepared(folder: Path, raters: int) -> tuple[Runs, str]:
    """A study of ten debates, a pack of it for so many raters, and these in the register."""
    asked = plan(["study=d", *DEBATES], folder, sweep=True)
    runs = Runs(folder / "runs", "d")
    runs.settle(frozen(asked))
    asyncio.run(hold_all(asked.sessions, runs))
    wording = plan(["wording=oxford"]).session.wording
    task = open_pack(runs, wording, raters, len(asked.sessions), Online()).name
    register = Register.of(runs, "")
    with register.writing() as connection:
        for n in range(raters):
            row = {"id": f"r{n}", "role": "rater", "stage": "ready", "made": now()}
            connection.execute(PERSON.insert().values(**row))
    register.close()
    return runs, task


async def serve(folder: str, task: str) -> None:
    """The server; its address is its first line."""
    runs = Runs.at(Path(folder))
    desk = RaterDesk(runs, Register.of(runs, ""))

    def known(request):
        name = request.cookies.get("who")
        return Rater(name, task, language("en"), CSRF) if name else None

    pages = RaterPages(desk, known, "", lambda person: None)
    made = bound("127.0.0.1", 0)
    desk.task(task)
    sys.stdout.write(f"http://127.0.0.1:{made.getsockname()[1]}\n")
    sys.stdout.flush()
    bringing = asyncio.create_task(keep_bringing(Rows(desk, runs.lock)))
    app = Starlette(routes=pages.routes())
    await uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off")).serve([made])
    bringing.cancel()


async def raters_at(address: str, raters: int, seconds: float) -> dict[str, list[float]]:
    """The times of all pages by what they were."""
    times: dict[str, list[float]] = {"first page": [], "next page": [], "handing in": []}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=raters)
    end = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
        await asyncio.gather(*(rate(client, n, end, times) for n in range(raters)))
    return times


async def rate(
    client: httpx.AsyncClient, number: int, end: float, times: dict[str, list[float]]
) -> None:
    """One rater, from her first page until the time is over."""
    draw = random.Random(number)
    cookie = {"cookie": f"who=r{number}"}

    async def timed(what: str, method: str, path: str, **sent) -> str:
        begun = time.monotonic()
        answer = await client.request(method, path, headers=cookie, **sent)
        times[what].append(1000 * (time.monotonic() - begun))
        assert answer.status_code in (200, 303), answer.status_code
        return answer.text

    await asyncio.sleep(draw.uniform(0, EVERY))
    await timed("first page", "GET", "/rate")
    await asyncio.sleep(draw.uniform(0, 5))
    await timed("handing in", "POST", "/rate/begin", data={"csrf": CSRF})
    page = await timed("next page", "GET", "/rate")
    while time.monotonic() < end:
        await asyncio.sleep(draw.uniform(0.5, 1.5) * EVERY)
        key = KEY.search(page)
        if key is None or time.monotonic() > end:
            return
        fields = dict.fromkeys(INPUT.findall(page), "61") | {"WINNER": "A"}
        await timed(
            "handing in", "POST", "/rate/answer", data=fields | {"key": key[1], "csrf": CSRF}
        )
        page = await timed("next page", "GET", "/rate")


def row(what: str, times: list[float]) -> dict[str, str | float | None]:
    """The figures of some pages."""
    ranked = sorted(times)
    return {
        "what": what,
        "pages": len(ranked),
        "median ms": statistics.median(ranked),
        "95 % under ms": ranked[int(0.95 * len(ranked))],
        "most ms": ranked[-1],
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(*sys.argv[2:4]))
    else:
        main()
