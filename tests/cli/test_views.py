"""What a terminal shows while sessions are held: on a pseudo-terminal, read to its end."""

import asyncio
import os
import pty
import sys
import threading
from dataclasses import replace

import pytest
from rich.console import Console

from delibsim import Completion, ModelPool, Runs, Usage
from delibsim.cli.study import StudyView, WorkersView, keep_ticking
from delibsim.conduct.outcome import SessionOutcome
from delibsim.conduct.study import Prepared
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange
from delibsim.planning.compose import plan
from delibsim.prompts.prompt import Purpose

SMALL = ("topic=ccps", "group.size=2", "rounds=1")
SESSIONS, CALLS = 1000, 40


class Terminal:
    """A pseudo-terminal: a file to write to, and all that was written to it."""

    def __init__(self):
        self.master, slave = pty.openpty()
        self.file = os.fdopen(slave, "w", encoding="utf-8")
        self.written = b""
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return
            if not piece:
                return
            self.written += piece

    def text(self):
        """Everything that was written; the terminal is closed."""
        self.file.close()
        self._reading.join(timeout=10)
        os.close(self.master)
        return self.written.decode()


@pytest.fixture
def prepared(tmp_path):
    """A thousand sessions that wait, without a plan on disk."""
    planned = plan(["study=s", *SMALL], tmp_path)
    many = tuple(replace(planned.session, id=f"s.r{k}", replicate=k) for k in range(SESSIONS))
    plans = replace(planned, sessions=many)
    return Prepared(plans, Runs(planned.root, "s"), (), many, ModelPool())


@pytest.fixture
def restless_threads():
    """Threads that take turns so often that one reads what another is changing."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def exchange_of(status):
    usage = Usage(input_tokens=90, output_tokens=10, cost_usd=0.0)
    return Exchange(
        hash="",
        model="citizen",
        seed=1,
        purpose=Purpose("Participant 1", "pre"),
        messages=(),
        form="",
        started="2026-01-01T00:00:00+00:00",
        seconds=0.1,
        completion=Completion("text", status, "", usage),
    )


async def hold(view, sessions):
    """Let a view learn what it would learn of sessions that are held at once."""
    for session in sessions:
        view.observer.on_event(Event(session.id, "pre", "Participant 1"))
        for k in range(CALLS):
            view.observer.on_exchange(exchange_of("timeout" if k == 1 else "ok"))
        await asyncio.sleep(0)
        fault = "" if session.replicate else "the budget is spent"
        status = "complete" if session.replicate else ""
        view.observer.on_session(SessionOutcome(session, None, status, fault, asked=CALLS))


async def test_a_thousand_sessions_are_painted_while_their_calls_come_back(
    prepared, restless_threads, monkeypatch
):
    """A thread that paints would read the calls of the last minute while others are appended."""
    monkeypatch.setattr("delibsim.cli.study.TICK", 0.02)
    terminal = Terminal()
    screen = Console(file=terminal.file, force_terminal=True, width=100)
    before = threading.enumerate()
    with StudyView(prepared, screen) as view:
        ticking = asyncio.create_task(keep_ticking(view))
        await hold(view, prepared.waiting)
        assert painters(before) == []
        ticking.cancel()
    text = terminal.text()
    assert text.count("sessions, ") > 3
    assert "999/1000 sessions, 40,000 calls" in text.split("\x1b[2K")[-1]
    assert "last failure: s.r0: the budget is spent" in text


def painters(before):
    """The threads that were not there before."""
    return [thread.name for thread in threading.enumerate() if thread not in before]


def test_workers_are_shown_in_one_line(prepared):
    terminal = Terminal()
    screen = Console(file=terminal.file, force_terminal=True, width=100)
    with WorkersView(prepared, 3, screen, quiet=False) as view:
        for session in prepared.waiting[1:11]:
            view.observer.on_session(SessionOutcome(session, None, "complete", asked=12))
        view.tick()
    assert "10/1000 sessions, 3 workers, 120 calls of sessions that are over" in terminal.text()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["run", *SMALL], ["deliberation 2/2", "survey after 2/2", "6 calls"]),
        (["run", "-m", *SMALL, "replicate=1,2"], ["2/2 sessions, 12 calls", "citizen"]),
    ],
)
def test_what_is_painted_goes_to_stderr_and_ends_with_the_last_state(
    delibsim, monkeypatch, words, shown
):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", terminal.file)
    answer = delibsim(*words, "study=s")
    text = terminal.text()
    assert answer.code == 0
    assert "\x1b" not in answer.out
    last = text.split("\x1b[2K")[-1]
    assert [piece for piece in shown if piece not in last] == []
