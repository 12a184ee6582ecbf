"""A server of raters that is killed: nothing handed in is lost, and no row is written twice."""

import os
import re
import signal
from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import warm
from people_site import until
from rated import all_of, debates_online, desk_of, person, study_of_debates

from delibsim.people.raters import AnswerWriter
from delibsim.store.answers import PanelRatings
from delibsim.store.files import read_lines
from delibsim.store.people.assignments import note_task
from delibsim.store.people.persons import log_in
from delibsim.store.people.schema import Role
from delibsim.web.people.visits import COOKIE

CSRF = re.compile(r'name="csrf" value="([\w-]+)"')
TESTS = Path(__file__).parents[2]
INPUT = re.compile(r'<input[^>]*name="([A-Z0-9a-z_]+)"[^>]*>')


@contextmanager
def server(runs, every):
    """A server in a process of its own; its address, and the process."""
    code = "import asyncio, sys; from rater_server import serve; asyncio.run(serve(*sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    words = ["-c", code, runs.folder, every]
    with warm.Piped(words, runs.folder, environment) as process:
        yield process.stdout.readline().strip(), process


def ann(address, cookie):
    return httpx.Client(base_url=address, cookies={COOKIE: cookie}, follow_redirects=True)


def cookie_of(runs, task):
    """The cookie of a rater of a task."""
    register = desk_of(runs).register
    note_task(register, person(register, "ann"), task)
    return log_in(register, "ann", Role.RATER)


def rows_of(runs):
    records, damaged = read_lines(PanelRatings.of(runs, "people").files.people)
    assert damaged == 0
    return Counter((record["session"], record["rater"]) for record in records)


def fields_of(page):
    """A form, filled in."""
    fields = dict.fromkeys(INPUT.findall(page), "61") | {"WINNER": "A"}
    for name in ("key", "csrf"):
        fields[name] = re.search(rf'name="{name}" value="([\w-]+)"', page)[1]
    return fields


def test_killed_between_the_hand_in_and_the_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = study_of_debates(tmp_path)
    task = debates_online(runs, raters=1, each=2)
    cookie = cookie_of(runs, task)
    with server(runs, 600) as (address, process), ann(address, cookie) as client:
        page = client.get("/rate").text
        page = client.post("/rate/begin", data={"csrf": CSRF.search(page)[1]}).text
        page = client.post("/rate/answer", data=fields_of(page)).text
        ballot = fields_of(page)
        page = client.post("/rate/answer", data=ballot).text
        draft = {**fields_of(page), "S1": "17"}
        assert client.post("/rate/draft", data=draft).json()["kept"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert rows_of(runs) == Counter()
    with server(runs, 0.1) as (address, _), ann(address, cookie) as client:
        page = client.get("/rate").text
        assert 'value="17"' in page
        assert "handed in already" in client.post("/rate/answer", data=ballot).text
        page = client.post("/rate/answer", data=fields_of(page)).text
        page = client.post("/rate/answer", data=fields_of(page)).text
        assert "handed in everything" in page
        until(lambda: sum(rows_of(runs).values()) == 2)
    assert set(rows_of(runs).values()) == {1}


def test_killed_while_rows_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = study_of_debates(tmp_path)
    task = debates_online(runs, raters=4, each=8)
    desk = desk_of(runs)
    for number in range(4):
        all_of(desk, desk.join(person(desk.register, f"p{number}"), task))
    for _ in range(3):
        before = sum(rows_of(runs).values())
        with server(runs, 0.01) as (_, process):
            until(
                lambda known=before: sum(rows_of(runs).values()) > known or known == 32, step=0.002
            )
            process.send_signal(signal.SIGKILL)
            process.wait()
    AnswerWriter(desk, nullcontext).bring()
    found = rows_of(runs)
    assert len(found) == 32
    assert set(found.values()) == {1}
    assert set(Counter(debate for debate, _ in found).values()) == {4}
