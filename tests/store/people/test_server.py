"""One server at a time serves a study: who is refused, by what words, and what is taken over."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest
from server_processes import CODE, servers
from sqlalchemy import update

from delibsim.domain.errors import WrongInput
from delibsim.store.people import server
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import OWN
from delibsim.store.people.server import is_served, refuse_second, serving
from delibsim.store.runs import Runs

ONE = ("study=hall", "topic=ccps", "rounds=1", "group.size=3", "group.models=[person,citizen,citizen]")  # fmt: skip


@pytest.fixture
def opened(tmp_path, database):
    """Opens the register of the study; with a folder of its own, as another machine has it."""
    made = ExitStack()

    def register(folder="one"):
        runs = Runs(tmp_path / folder, "s")
        found = Register.of(runs, database)
        made.callback(found.close)
        return runs, found

    yield register
    made.close()


def says(register, **values):
    with register.writing() as connection:
        connection.execute(update(OWN).values(**values))


def test_a_second_server_is_refused_until_the_first_ends(opened):
    with serving(*opened()) as first:
        assert first.before is None
        assert is_served(first.register)
        with pytest.raises(WrongInput) as refused:
            refuse_second(*opened())
        with pytest.raises(WrongInput), serving(*opened()):
            pass
        first.renew()
    said = str(refused.value)
    assert f"process {os.getpid()} on {socket.gethostname()} since 20" in said
    assert f"kill {os.getpid()}" in said
    assert "If it has died" in said
    refuse_second(*opened())
    assert not is_served(first.register)
    with serving(*opened()) as second:
        assert second.before == pytest.approx(now(), abs=30)


@pytest.mark.parametrize(
    ("host", "dead", "age", "refused"),
    [
        ("elsewhere", False, 1.0, True),
        ("elsewhere", False, server.STALE + 1, False),
        ("here", False, 1.0, True),
        ("here", True, 1.0, False),
    ],
)
def test_a_server_on_another_folder_is_taken_over_once_it_is_dead(
    opened, database, host, dead, age, refused
):
    """Two machines with one PostgreSQL; a file of SQLite is on one machine, and its lock tells."""
    runs, register = opened()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        if dead:
            process.kill()
            process.wait()
        where = socket.gethostname() if host == "here" else host
        seen = now() - age
        says(register, server="x", host=where, process=process.pid, since=seen, seen=seen)
        if refused and database:
            with pytest.raises(WrongInput, match=f"process {process.pid} on {where}"):
                refuse_second(runs, register)
            with pytest.raises(WrongInput), serving(runs, register):
                pass
        else:
            with serving(runs, register) as taken:
                assert taken.before == pytest.approx(seen)
        process.kill()


def test_a_server_that_was_taken_for_dead_ends(opened, monkeypatch):
    with serving(*opened()) as first:
        monkeypatch.setattr(server, "RENEWED", 0.0)
        first.renew()
        says(first.register, server="other", host="elsewhere", process=7)
        with pytest.raises(WrongInput, match="was taken for dead and ends.*process 7 on elsewhere"):
            first.renew()


@pytest.mark.heavy
def test_a_second_process_is_refused_and_one_that_was_killed_is_followed(
    tmp_path, database, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with servers(tmp_path) as start:
        first = start(*ONE)
        words = [sys.executable, "-c", CODE, "serve", "hall", "--port", "0"]
        second = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 2
        assert f"hall is served already, by process {first.process.pid} on" in second.stderr
        first.kill()
        assert "0 of 1 session" in start("hall").stop()
