"""Measure a hall with people: .venv/bin/python bench/people.py [GROUPS [SECONDS]]

`delibsim serve` runs in a process of its own. Groups of five people deliberate at once; each person
keeps a stream of events open, saves a draft and hands in as a browser does, over real HTTP. Who is
through makes room for the next person, so that there are always as many.
"""

import asyncio
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from record import record

from delibsim import Runs
from delibsim.store.people.register import Register
from delibsim.store.people.schema import REQUEST

GROUPS, SECONDS, SIZE = 40, 600.0, 5
SPEAKS, FILLS = 2.0, 10.0
"""Seconds for a speech, so that each of five hands one in every ten seconds; for a survey."""
ROUNDS = 4
AIM_OF_PAGES, AIM_OF_SPEECHES = 100.0, 300.0
"""Milliseconds under which 95 % are to be."""
ERRORS = "errors.txt"
"""The file of what the server wrote as errors."""
ABOUT = (
    "200 people in 40 groups of five, who were served by `delibsim serve` for ten minutes, over"
    " real HTTP from another process of the same machine: each hands something in every ten"
    " seconds or so, saves drafts, and has a stream of events open. Milliseconds from the request"
    " of a page to its last byte, and from the hand-in of a speech until it stands on the page of"
    " each of the others; megabytes of the server by the minute. The aims: 95 % of pages under 100"
    " ms, a speech under 300 ms, no submission lost, memory flat."
)
COMMAND = str(Path(sys.executable).with_name("delibsim"))
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
RADIO = re.compile(r'<input type="radio"[^>]*? name="([A-Za-z0-9_-]+)"[^>]*? value="(-?\d+)"')
RANK = re.compile(r'<input id="rank-[^"]*" name="([A-Za-z0-9_-]+)"')
SPOKEN = re.compile(r"speech[0-9]+x[0-9]+")
PEOPLE = """consent: I take part.
withdrawal: delete
debriefing: It is over.
typing: null
"""


@dataclass
class Seen:
    """What was measured by all people together."""

    end: float
    pages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reached: list[float] = field(default_factory=list)
    spoken: dict[str, float] = field(default_factory=dict)
    handed_in: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    through: int = 0


def main() -> None:
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    waves = 2 + int(seconds // 30)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), groups * waves) as server:
        address, process = server
        links = invited(Path(folder), groups * waves * SIZE)
        seen = Seen(time.monotonic() + seconds)
        sizes = asyncio.run(measured(address, links, groups * SIZE, process.pid, seen))
        cpu = processor(process.pid)
        process.terminate()
        process.wait(30)
        lost = seen.handed_in - kept(Path(folder))
        lines = (Path(folder) / ERRORS).read_text(encoding="utf-8").splitlines()
    told = Counter(line for line in lines if line.startswith("delibsim serve: "))
    everything = [one for own in seen.pages.values() for one in own]
    rows = [row(name, own, AIM_OF_PAGES) for name, own in sorted(seen.pages.items())]
    rows.append(row("all pages", everything, AIM_OF_PAGES))
    rows.append(row("a speech reaches the others", seen.reached, AIM_OF_SPEECHES))
    for one in rows:
        cells = (f"{name} {value:,.4g}" for name, value in list(one.items())[1:])
        sys.stdout.write(f"{one['what']}: {'; '.join(cells)}\n")
    for line, n in told.most_common(5):
        sys.stdout.write(f"the server said {n} times: {line}\n")
    rate = len(seen.handed_in) / seconds
    sys.stdout.write(
        f"{len(seen.handed_in)} submissions, {rate:.1f} a second; {len(lost)} lost;"
        f" {len(seen.faults)} faults {sorted(set(seen.faults))[:5]}; {seen.through} people through;"
        f" MB {[round(size) for size in sizes]}; {cpu:.0f} s of processor time of the server,"
        f" {1000 * cpu / max(1, len(everything)):.2f} ms a page;"
        f" load {os.getloadavg()[0]:.1f}\n"
    )
    if groups == GROUPS and seconds >= SECONDS:
        rows += [count("submissions", len(seen.handed_in)), count("submissions lost", len(lost))]
        rows += [count("MB of the server after a minute", sizes[1])]
        rows += [count("MB of the server at the end", sizes[-1])]
        record("people", ABOUT, rows, ["starlette", "uvicorn", "sqlalchemy"])


@contextmanager
def served(folder: Path, rooms: int) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The address of `delibsim serve` over so many rooms, and its process."""
    (folder / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    seats = ",".join(["person"] * SIZE)
    settings = ["study=hall", "topic=ccps", "treatment=normative", f"rounds={ROUNDS}"]
    sweep = ["-m", f"replicate=range(1,{rooms + 1})"]
    words = [COMMAND, "serve", *settings, f"group.models=[{seats}]"]
    with (
        (folder / ERRORS).open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [*words, *sweep, "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def invited(folder: Path, people: int) -> list[str]:
    """The links of so many people."""
    words = [COMMAND, "people", "invite", "hall", "--n", str(people)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    with (folder / "links.csv").open(encoding="utf-8", newline="") as file:
        return ["/i/" + one["link"].rpartition("/i/")[2] for one in csv.DictReader(file)]


async def measured(
    address: str, links: list[str], people: int, process: int, seen: Seen
) -> list[float]:
    """Let people come until the time is over; the megabytes of the server, by the minute."""
    waiting = iter(links)
    places = [asyncio.create_task(place(address, waiting, n, people, seen)) for n in range(people)]
    sizes = []
    while time.monotonic() < seen.end:
        await asyncio.sleep(min(60.0, max(0.1, seen.end - time.monotonic())))
        sizes.append(megabytes(process))
    for one in places:
        one.cancel()
    await asyncio.gather(*places, return_exceptions=True)
    return sizes


async def place(address: str, links: Iterator[str], number: int, people: int, seen: Seen) -> None:
    """One person after another, the first within the first ten seconds."""
    await asyncio.sleep(10 * number / people)
    while time.monotonic() < seen.end:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(address, cookie_jar=jar) as http:
            try:
                await Visitor(http, number, seen).takes_part(next(links))
                seen.through += 1
            except (aiohttp.ClientError, AssertionError, TimeoutError) as error:
                seen.faults.append(f"{type(error).__name__}: {error}"[:80])


class Visitor:
    """One person with her browser."""

    def __init__(self, http: aiohttp.ClientSession, number: int, seen: Seen) -> None:
        self.http, self.number, self.seen = http, number, seen
        self.known: set[str] = set()

    async def takes_part(self, link: str) -> None:
        """From the link to the debriefing."""
        await self.send("a link", link)
        page = await self.get("a page", "/me")
        page = await self.send("consent", "/me/consent", page, agree="1")
        while 'action="/me/information"' in page:
            page = await self.send("consent", "/me/information", page)
        asked = asyncio.Event()
        reading = asyncio.create_task(self.read(asked))
        try:
            while "You have reached the end" not in page:
                if 'action="/me/answer"' in page:
                    page = await self.answer(page)
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(asked.wait(), 20)
                asked.clear()
                page = await self.get("a page", "/me")
        finally:
            reading.cancel()
            (fault,) = await asyncio.gather(reading, return_exceptions=True)
            if not isinstance(fault, asyncio.CancelledError):
                self.seen.faults.append(f"reading: {fault!r}"[:80])

    async def read(self, asked: asyncio.Event) -> None:
        """Look at the part that changes whenever there is an event; `asked` when a page is due."""
        last = ("", "")
        async for _ in self.events():
            begun = time.monotonic()
            async with self.http.get("/me/part") as answer:
                part = await answer.json()
            self.seen.pages["what changed"].append(1000 * (time.monotonic() - begun))
            for speech in set(SPOKEN.findall(part["html"])) - self.known:
                self.known.add(speech)
                self.seen.reached.append(1000 * (time.monotonic() - self.seen.spoken[speech]))
            now = part["key"], part["waits"]
            if now != last and (part["key"] or part["waits"] != "wait"):
                asked.set()
            last = now

    async def events(self) -> AsyncIterator[bytes]:
        """The events of the stream; a stream that was lost is opened again."""
        while True:
            unbounded = aiohttp.ClientTimeout(total=None)
            async with self.http.get("/me/events", timeout=unbounded) as stream:
                if stream.status != 200:
                    await asyncio.sleep(1)
                    continue
                async for line in stream.content:
                    if line.startswith(b"event: change"):
                        yield line
            await asyncio.sleep(1)

    async def answer(self, page: str) -> str:
        """Fill the form of a page, save a draft in between, and hand in; the next page."""
        form = page[page.index('action="/me/answer"') :]
        fields = dict(RADIO.findall(form))
        fields |= {name: str(n) for n, name in enumerate(dict.fromkeys(RANK.findall(form)), 1)}
        speaks = 'name="text"' in form
        words = f"speech{self.number}x{len(self.known)}{time.monotonic_ns() % 100_000}"
        if speaks:
            fields["text"] = f"I hear you, and I say so: {words}. It is a matter of care."
        elif 'name="R"' in form:
            fields["R"] = f"I say so: {words}."
        await asyncio.sleep((SPEAKS if speaks else FILLS) / 2)
        await self.send("a draft", "/me/draft", page, **fields)
        await asyncio.sleep((SPEAKS if speaks else FILLS) / 2)
        if speaks:
            self.known.add(words)
            self.seen.spoken[words] = time.monotonic()
        key = dict(HIDDEN.findall(page))["key"]
        after = await self.send("handing in", "/me/answer", page, **fields)
        self.seen.handed_in.add(key)
        return after

    async def get(self, what: str, path: str) -> str:
        """A page, timed."""
        begun = time.monotonic()
        async with self.http.get(path) as answer:
            text = await answer.text()
        self.seen.pages[what].append(1000 * (time.monotonic() - begun))
        assert answer.status == 200, f"{path} {answer.status}"
        return text

    async def send(self, what: str, path: str, page: str = "", **fields: str) -> str:
        """A form with the hidden fields of its page, timed; the page after it is timed alone."""
        given = dict(HIDDEN.findall(page)) | fields
        begun = time.monotonic()
        async with self.http.post(path, data=given, allow_redirects=False) as answer:
            text = await answer.text()
        self.seen.pages[what].append(1000 * (time.monotonic() - begun))
        assert answer.status in (200, 303), f"{path} {answer.status}"
        if answer.status == 303 and path != "/me/draft" and page:
            return await self.get("a page", answer.headers["location"])
        return text


def kept(folder: Path) -> set[str]:
    """The keys of every request that the register holds an answer of."""
    register = Register.of(Runs(folder / "runs", "hall"), "")
    with register.reading() as connection:
        rows = connection.execute(REQUEST.select().where(REQUEST.c.status == "ok")).mappings()
        found = {row["key"] for row in rows if row["reply"]}
    register.close()
    return found


def megabytes(process: int) -> float:
    """The memory that a process has in use."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # ty: ignore[not-subscriptable]


def processor(process: int) -> float:
    """The seconds that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(what: str, times: list[float], aim: float) -> dict[str, str | float | None]:
    """The figures of some times; `ratio` is that of the 95 % to their aim."""
    ranked = sorted(times) or [float("nan")]
    most = ranked[int(0.95 * len(ranked))]
    return {
        "what": what,
        "n": len(times),
        "median ms": statistics.median(ranked),
        "95 % under ms": most,
        "most ms": ranked[-1],
        "aim ms": aim,
        "ratio": most / aim,
    }


def count(what: str, number: float) -> dict[str, str | float | None]:
    """A count, or a size, as a row."""
    return {"what": what, "n": number} | dict.fromkeys(list(row("", [], 1.0))[2:])


if __name__ == "__main__":
    main()
