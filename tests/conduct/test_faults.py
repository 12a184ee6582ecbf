"""Processes that are killed, stopped, doubled or out of room: the same command goes on, and nothing
is paid for twice.
"""

import json
import os
import signal
import time
from collections import Counter

import pytest
from plugin.installed import Workplace

COMMAND = (
    "run",
    "--quiet",
    "study=s",
    "model=slow",
    "topic=ccps",
    "group.size=3",
    "rounds=2",
    "seed=7",
)
SESSION = "runs/s/ccps.normative.slow_size3.r1"
CALLS = 12
DELAY = 0.08  # seconds a call: long enough to be stopped in, short enough to wait for


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, package):
    """The bytes of the run that nobody disturbed."""
    place = Workplace(tmp_path_factory.mktemp("undisturbed"), package, DELAY)
    code, _, errors = place.call(*COMMAND)
    assert (code, errors) == (0, "")
    assert len(place.asked) == CALLS
    return (place.folder / SESSION / "run.json").read_bytes()


@pytest.fixture
def place(tmp_path, package):
    return Workplace(tmp_path, package, DELAY)


def recorded(place):
    """What was answered and stands whole in the log: participant/occasion/attempt."""
    path = place.folder / SESSION / "exchanges.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    records = [
        record for record in map(json.loads, lines) if record["completion"]["status"] == "ok"
    ]
    return ["{participant}/{occasion}/{attempt}".format(**record["purpose"]) for record in records]


def given_up(place):
    """The calls that the log says were given up in flight."""
    lines = (place.folder / SESSION / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        record for record in map(json.loads, lines) if record["completion"]["status"] == "cancelled"
    ]


def wait_until(condition, process):
    """Wait for a moment in the life of a process; it must still be running then."""
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, f"ended before its moment: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_asked_to_stop_says_how_to_go_on(place, undisturbed, stop):
    process = place.start(*COMMAND)
    wait_until(lambda: len(recorded(place)) >= 5, process)
    began = time.monotonic()
    process.send_signal(stop)
    output, errors = process.communicate(timeout=20)
    assert time.monotonic() - began < 10
    kept = recorded(place)
    assert 5 <= len(kept) < CALLS
    assert output == ""
    assert "Traceback" not in errors
    assert process.returncode == 3
    assert "the same command goes on" in errors
    asked = place.asked
    stopped = given_up(place)
    assert len(stopped) == len(asked) - len(kept) <= 3, "one line for every call in flight"
    assert all(record["completion"]["possibly_billed"] for record in stopped)
    code, _, _ = place.call(*COMMAND)
    assert code == 0
    assert given_up(place) == stopped
    assert not set(place.asked[len(asked) :]) & set(kept)
    assert (place.folder / SESSION / "run.json").read_bytes() == undisturbed


def test_a_process_that_is_asked_twice_leaves_at_once_and_can_go_on(place, undisturbed):
    process = place.start(*COMMAND)
    wait_until(lambda: len(recorded(place)) >= 5, process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert process.returncode != 0
    kept, asked = recorded(place), place.asked
    assert place.call(*COMMAND)[0] == 0
    assert not set(place.asked[len(asked) :]) & set(kept)
    assert (place.folder / SESSION / "run.json").read_bytes() == undisturbed


def test_a_second_process_on_a_study_is_refused_and_the_first_is_not_disturbed(place, undisturbed):
    first = place.start(*COMMAND)
    wait_until(lambda: place.asked, first)
    first.send_signal(signal.SIGSTOP)
    code, output, errors = place.call(*COMMAND)
    first.send_signal(signal.SIGCONT)
    assert (code, output) == (2, "")
    assert f"in use by process {first.pid}" in errors
    assert "Traceback" not in errors
    first.communicate(timeout=30)
    assert first.returncode == 0
    assert Counter(place.asked) == Counter(recorded(place))
    assert len(place.asked) == CALLS
    assert (place.folder / SESSION / "run.json").read_bytes() == undisturbed


def test_a_full_disk_stops_the_session_with_a_clear_error_and_no_further_call(place, undisturbed):
    room = 60_000  # bytes a file may have: the log outgrows them in the middle of the deliberation
    code, output, errors = place.call(*COMMAND, room=room)
    assert (code, output) == (4, "")
    assert "File too large" in errors
    assert "runs/s" in errors
    assert "Traceback" not in errors
    kept = recorded(place)
    assert 3 < len(kept) < CALLS - 3
    assert len(place.asked) == len(kept) + 1

    code, _, errors = place.call(*COMMAND)
    assert code == 0
    assert "1 damaged line" in errors
    assert Counter(place.asked) == Counter(set(place.asked)) + Counter([place.asked[len(kept)]])
    assert (place.folder / SESSION / "run.json").read_bytes() == undisturbed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_a_clear_error(place):
    (place.folder / "runs").mkdir(mode=0o500)
    code, output, errors = place.call(*COMMAND)
    assert (code, output) == (4, "")
    assert "Permission denied" in errors
    assert "Traceback" not in errors
    assert place.asked == []


def test_a_plug_in_that_raises_is_a_typed_fault_and_no_data(place, undisturbed):
    secret = "sk-canary-0123456789abcdef"
    (place.folder / "down.txt").write_text(f"no such shelf, says {secret}", encoding="utf-8")
    code, output, errors = place.call(*COMMAND)
    assert (code, output) == (4, "")
    assert "internal: KeyError: 'no such shelf, says [hidden]' (slow.py, line " in errors
    assert "Traceback" not in errors
    lines = (place.folder / SESSION / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["completion"]["status"] for line in lines} == {"internal"}
    assert secret not in errors + "".join(lines)
    assert not (place.folder / SESSION / "run.json").exists()
    (place.folder / "down.txt").unlink()
    assert place.call(*COMMAND)[0] == 0
    assert (place.folder / SESSION / "run.json").read_bytes() == undisturbed
