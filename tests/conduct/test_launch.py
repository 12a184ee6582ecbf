"""Dividing a study among workers: the limits add up, the sessions are all dealt out, and a batch is
held as one process would hold it.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from fake_provider import FakeProvider
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from delibsim import Runs, WrongInput
from delibsim.conduct.hold import hold_all
from delibsim.conduct.launch.folder import batches, most_workers, shares, write_batches
from delibsim.conduct.launch.workers import ADDRESSES, EXTRAS, check, hold_batch, start
from delibsim.domain.participant import Participant
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan
from delibsim.store.files import append_line

COUNTS = ("concurrency", "requests_per_minute", "tokens_per_minute", "budget_tokens")
counts = st.none() | st.integers(1, 10_000_000)
limits_of = st.builds(
    Limits, concurrency=st.integers(1, 500), requests_per_minute=counts, tokens_per_minute=counts, budget_tokens=counts,
    budget_usd=st.none() | st.floats(0, 1e6),
)  # fmt: skip


@given(limits_of, st.integers(1, 64), st.integers(1, 50_000))
def test_the_shares_add_up_to_the_limits_and_never_to_more(limits, wanted, largest):
    workers = most_workers(limits, wanted, largest)
    given = shares(limits, workers)
    assert len(given) == workers <= wanted
    for name in COUNTS:
        whole, parts = getattr(limits, name), [getattr(share, name) for share in given]
        assert sum(parts) == whole if whole is not None else parts == [None] * workers
        assert whole is None or (min(parts) >= 1 and max(parts) - min(parts) <= 1)
    if limits.budget_usd is None:
        assert {share.budget_usd for share in given} == {None}
    else:
        total = sum(Fraction(share.budget_usd) for share in given)
        assert (
            Fraction(limits.budget_usd) * (1 - Fraction(1, 10**9)) - Fraction(1, 10**9)
            <= total
            <= Fraction(limits.budget_usd)
        )
    assert {(share.tries, share.longest_wait) for share in given} == {
        (limits.tries, limits.longest_wait)
    }


@given(limits_of, st.integers(2, 64), st.integers(1, 50_000))
def test_the_largest_call_fits_into_every_share_or_there_is_one_worker(limits, wanted, largest):
    workers = most_workers(limits, wanted, largest)
    least = min(
        (
            share.tokens_per_minute
            for share in shares(limits, workers)
            if share.tokens_per_minute is not None
        ),
        default=largest,
    )
    assert workers == 1 or least >= largest


def test_fewer_workers_where_a_limit_is_smaller():
    assert most_workers(Limits(), 64) == 16
    assert most_workers(Limits(requests_per_minute=3), 8) == 3
    assert most_workers(Limits(tokens_per_minute=50_000), 8, largest=12_000) == 4
    assert most_workers(Limits(tokens_per_minute=5_000), 8, largest=12_000) == 1
    assert most_workers(Limits(budget_usd=1.0), 8, usd=1.0, dearest=0.3) == 3
    assert most_workers(Limits(budget_usd=1.0), 8, usd=0.1, dearest=0.3) == 1
    assert most_workers(Limits(), 8, dearest=0.3) == 8
    assert [share.concurrency for share in shares(Limits(), 3)] == [6, 5, 5]


@pytest.fixture
def planned(tmp_path):
    """Twelve of the smallest sessions, of two topics and three replicates, with and without
    speech.
    """
    cells = [
        "topic=ccps,acp",
        "treatment=none,basic",
        "replicate=range(1,4)",
        "group.size=2",
        "rounds=1",
    ]
    return plan(["study=s", *cells], tmp_path, sweep=True)


def test_every_batch_has_its_part_of_every_topic_and_every_set_up(planned):
    def voiced_by(name, session):
        people = tuple(Participant(f"Participant {k}", model=name) for k in (1, 2))
        return replace(
            session,
            id=f"{session.id}{name}",
            participants=people,
            models={name: {"kind": "citizen"}},
        )

    sessions = [voiced_by(name, session) for session in planned.sessions for name in "ab"]
    dealt = batches(sessions, 4)
    assert sorted(s.id for batch in dealt for s in batch) == sorted(s.id for s in sessions)
    for cells in (Counter((s.topic.id, *s.models) for s in batch) for batch in dealt):
        assert len(cells) == 4
        assert max(cells.values()) - min(cells.values()) <= 1


@pytest.fixture
def runs(planned, tmp_path):
    """The folder of the study, begun."""
    runs = Runs(tmp_path / "runs", "s")
    runs.settle(planned.manifest)
    return runs


def test_batches_are_held_as_one_process_holds_them(planned, runs, tmp_path):
    whole = Runs(tmp_path / "whole", "s")
    asyncio.run(hold_all(planned.sessions, whole))
    with runs.lock() as share:
        launch = write_batches(runs, planned.sessions, Limits(), (None, None), 3)
        share(launch.name)
        start(launch, "basic", [], {})
    for session in planned.sessions:
        assert (runs.path(session.id) / "run.json").read_bytes() == (
            whole.path(session.id) / "run.json"
        ).read_bytes()
    outcomes = launch.outcomes(planned.sessions, "no word")
    assert [(held.session, held.status, held.fault) for held in outcomes] == [
        (s, "complete", "") for s in planned.sessions
    ]
    assert sum(held.asked for held in outcomes) == sum(
        len(runs.exchanges(s.id)[0]) for s in planned.sessions
    )
    assert runs.sessions() == sorted(s.id for s in planned.sessions)
    assert len(list(launch.place.glob("*.batch.jsonl"))) == 3


def test_a_worker_that_comes_too_late_leaves_the_study_alone(planned, runs):
    with runs.lock() as share:
        launch = write_batches(runs, planned.sessions, Limits(), (None, None), 1)
        share(launch.name)
    with runs.lock() as share:
        with pytest.raises(WrongInput, match="in use by process"):
            start(launch, "basic", [], {})
        share("another")
        with pytest.raises(WrongInput, match="came too late"):
            start(launch, "basic", [], {})
    assert runs.sessions() == []
    assert {held.fault for held in launch.outcomes(planned.sessions, "no word")} == {"no word"}


def test_while_a_worker_lives_nobody_else_can_take_the_study(planned, runs):
    with runs.lock() as share:
        share("batch")
    with (
        runs.joined("batch"),
        pytest.raises(WrongInput, match=rf"process {os.getpid()} or by workers it began \(batch\)"),
        runs.lock(),
    ):
        raise AssertionError("the lock was given twice")
    with runs.lock():
        pass


def test_workers_that_are_asked_to_stop_do_so(planned, runs):
    with runs.lock() as share:
        launch = write_batches(runs, planned.sessions, Limits(), (None, None), 2)
        share(launch.name)
        launch.stop()
        start(launch, "basic", [], {})
    assert launch.stopped
    assert runs.sessions() == []


def test_what_a_batch_has_cost_is_part_of_its_budget(planned, runs):
    """A worker that is started anew counts everything its batch has cost; the remainder is divided,
    and no more.
    """
    first = planned.sessions[0]
    asyncio.run(hold_all([first], runs))
    exchanges, _ = runs.exchanges(first.id)
    for exchange in exchanges:
        usage = {
            "input_tokens": 90,
            "cached_tokens": 0,
            "output_tokens": 10,
            "reasoning_tokens": 0,
            "cost_usd": 0.5,
        }
        runs.record(first.id, exchange | {"completion": exchange["completion"] | {"usage": usage}})
    cost = 0.5 * len(exchanges)
    launch = write_batches(runs, planned.sessions, Limits(), (1.0, 1000), 2)
    mine = [first.id in (launch.place / f"{k}.batch.jsonl").read_text() for k in range(2)]
    assert sorted(mine) == [False, True]
    for own, share in zip(mine, launch.limits, strict=True):
        assert share.budget_usd == pytest.approx(0.5 + cost * own)
        assert share.budget_tokens == 500 + 100 * len(exchanges) * own


def test_of_a_session_held_twice_the_better_word_counts(planned, runs):
    launch = write_batches(runs, planned.sessions, Limits(), (None, None), 2)
    session = planned.sessions[0]
    line = {
        "session": session.id,
        "status": "",
        "fault": "refused",
        "recorded": 0,
        "asked": 1,
        "damaged_lines": 0,
        "unchecked": [],
    }
    for change in (
        {},
        {"status": "complete", "fault": "", "asked": 20},
        {"status": "complete", "fault": "", "asked": 0},
    ):
        append_line(launch.place / "1.told.jsonl", line | change)
    assert [(held.status, held.asked) for held in launch.outcomes([session], "no word")] == [
        ("complete", 20)
    ]


@pytest.mark.parametrize("where", ["with the task", "in the environment"])
async def test_addresses_come_with_the_task_or_through_the_environment(
    where, runs, monkeypatch, tmp_path
):
    cells = ["model=local", "topic=ccps", "treatment=none", "replicate=1,2", "group.size=2"]
    async with FakeProvider() as provider:
        hosted = plan(["study=s", *cells, "base_url=http://127.0.0.1:9/v1"], tmp_path, sweep=True)
        addresses = {"local": provider.base_url}
        with runs.lock() as share:
            launch = write_batches(runs, hosted.sessions, Limits(tries=1), (None, None), 1)
            share(launch.name)
            if where == "in the environment":
                monkeypatch.setenv(ADDRESSES, json.dumps(addresses))
                addresses = {}
            await asyncio.to_thread(
                hold_batch, OmegaConf.create({"batch": 0}), launch=launch, addresses=addresses
            )
        assert [held.status for held in launch.outcomes(hosted.sessions, "no word")] == [
            "complete",
            "complete",
        ]
        assert provider.calls == 8


def test_a_launcher_that_holds_no_study_is_refused_with_the_names_of_those_that_do():
    for name in ("basic", "sunrise"):
        with pytest.raises(
            WrongInput,
            match=(
                f"hydra/launcher={name} holds no study; there are delibsim, joblib,"
                " submitit_local.*installed: delibsim"
            ),
        ):
            check(name, ())
    with pytest.raises(
        WrongInput, match=r"hydra\.launcher\.n_jobs=2' is for a launcher that starts processes"
    ):
        check("delibsim", ("hydra.launcher.n_jobs=2",))
    check("delibsim", ())


@pytest.mark.parametrize("name", EXTRAS)
def test_a_launcher_that_is_not_installed_is_refused_with_the_extra_that_brings_it(
    name, monkeypatch
):
    monkeypatch.setattr("delibsim.conduct.launch.workers.find_spec", lambda name: None)
    with pytest.raises(
        WrongInput, match=rf"pip install '\.\[{EXTRAS[name]}\]' in the clone of delibsim \("
    ):
        check(name, ())


WRITE = """
import sys, time
from pathlib import Path
from delibsim.store.runs import Runs
runs = Runs(Path(sys.argv[1]), "s")
while not Path(sys.argv[1], "go").exists():
    time.sleep(0.001)
for k in range(40):
    runs.answering.note("m", f"answers {k % 4}", "fp", "call", "now")
"""


def test_processes_that_share_a_study_note_once_who_answered(runs, tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(runs.folder.parent)]) for _ in range(3)
    ]
    time.sleep(1)
    (runs.folder.parent / "go").touch()
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = [
        json.loads(line) for line in (runs.folder / "fingerprints.jsonl").read_text().splitlines()
    ]
    assert sorted(line["model_returned"] for line in lines) == [f"answers {k}" for k in range(4)]
    assert [bool(line["warning"]) for line in lines] == [False, True, True, True]


def test_an_interrupted_worker_ends_in_order(planned, runs):
    many = [replace(s, id=f"{s.id}.{k}") for s in planned.sessions for k in range(20)]

    def interrupt():
        while not launch.reported():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # as the command does; a shell may have it ignored
    try:
        with runs.lock() as share:
            launch = write_batches(runs, many, Limits(concurrency=1), (None, None), 1)
            share(launch.name)
            interrupting = threading.Thread(target=interrupt)
            interrupting.start()
            start(launch, "basic", [], {})
            interrupting.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert 0 < len(launch.reported()) < len(many)
