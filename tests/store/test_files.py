"""A crash at any moment leaves the old file, the new one, or one torn last line; a lock dies with
its process.
"""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.store.files import Log, append_line, locked, read_lines, write_atomically

RECORD = {"text": "Ünal said: “tea”\n次", "n": 1}


@contextmanager
def process(code, *arguments):
    """A Python process that runs `code`; killed and reaped at the end, whatever happened."""
    running = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


# Whole files


def test_a_file_is_written_with_its_folders_and_replaced_as_a_whole(tmp_path):
    path = tmp_path / "runs" / "demo" / "run.json"
    write_atomically(path, "first\nÜnal\n")
    write_atomically(path, "second")
    assert path.read_bytes() == b"second"
    assert leftovers(path.parent) == ["run.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_folder_in_the_place_of_the_file_is_left_alone(tmp_path):
    (tmp_path / "run.json").mkdir()
    with pytest.raises(OSError, match="run.json"):
        write_atomically(tmp_path / "run.json", "new")
    assert leftovers(tmp_path) == ["run.json"]
    assert (tmp_path / "run.json").is_dir()


FULL = """
import resource, sys
from pathlib import Path
from delibsim.store.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # a disk with room for 100 kB
try:
    write_atomically(Path(sys.argv[1]), "x" * 1_000_000)
except OSError as error:
    print(error.strerror)
"""


def test_a_full_disk_is_an_error_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "run.json"
    write_atomically(path, "old")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == os.strerror(errno.EFBIG)
    assert path.read_text() == "old"
    assert leftovers(tmp_path) == ["run.json"]


WRITER = """
import itertools, sys
from pathlib import Path
from delibsim.store.files import write_atomically
for i in itertools.count():
    write_atomically(Path(sys.argv[1]), f"{i % 10}" * 500_000)
    print(i, flush=True)
"""


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "run.json"
    write_atomically(path, "old")
    for pause in (0.0, 0.003, 0.01, 0.03, 0.07, 0.15):
        with process(WRITER, path) as writer:
            writer.stdout.readline()
            time.sleep(pause)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        text = path.read_text()
        assert text == "old" or (len(text) == 500_000 and len(set(text)) == 1)
        # What a killed writer leaves beside the file is hidden, and its name says that it is no
        # whole file.
        assert all(
            name == "run.json" or (name.startswith(".") and name.endswith(".tmp"))
            for name in leftovers(tmp_path)
        )
    assert path.read_text() != "old"


# Files of lines


@pytest.mark.parametrize("text", ["tea", "tea \ud83d"])
def test_no_line_holds_nan(tmp_path, text):
    with pytest.raises(ValueError, match="not JSON compliant"):
        append_line(tmp_path / "log.jsonl", {"value": float("nan"), "text": text})
    assert read_lines(tmp_path / "log.jsonl") == ([], 0)


def test_any_script_is_written_as_it_is_and_half_a_character_escaped(tmp_path):
    path = tmp_path / "log.jsonl"
    records = [RECORD, {"text": "tea \ud83d"}, {"text": "次"}]
    for record in records:
        append_line(path, record)
    assert read_lines(path) == (records, 0)
    assert [line.count("次") for line in path.read_text(encoding="utf-8").splitlines()] == [1, 0, 1]


def test_a_line_torn_anywhere_is_counted_and_what_comes_after_is_whole(tmp_path):
    whole = (json.dumps(RECORD, ensure_ascii=False) + "\n").encode()
    for cut in range(len(whole) + 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole + whole[:cut])
        complete = cut >= len(whole) - 1  # only the line end is missing, or nothing
        assert read_lines(path) == ([RECORD] * (1 + complete), int(cut > 0 and not complete))
        append_line(path, {"n": 2})
        append_line(path, {"n": 3})
        assert read_lines(path) == (
            [RECORD] * (1 + complete) + [{"n": 2}, {"n": 3}],
            int(cut > 0 and not complete),
        )


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"null",
        b"3",
        b'"text"',
        b"[1, 2]",
        b"\xff\xfe{}",
        b'{"a": "\xff"}',
        b"\x00\x00\x00\x00",
        b"{}{}",
        b"hello",
        b" ",
    ],
    ids=repr,
)
def test_a_damaged_line_is_counted_and_the_others_are_read(tmp_path, line):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line + b'\n{"n": 2}\n' + line + b"\n")
    assert read_lines(path) == ([{"n": 1}, {"n": 2}], 2)


APPENDER = """
import itertools, sys
from pathlib import Path
from delibsim.store.files import append_line
for i in itertools.count():
    append_line(Path(sys.argv[1]), {"n": i, "text": "次" * 50_000})
    print(i, flush=True)
"""


def test_a_killed_process_has_kept_every_line_it_had_appended(tmp_path):
    path = tmp_path / "log.jsonl"
    rng = random.Random(7)
    expected = 0
    for _ in range(4):
        with process(APPENDER, path) as appender:
            told = -1
            for _ in range(rng.randrange(1, 30)):
                told = int(appender.stdout.readline())
            appender.send_signal(signal.SIGKILL)
            appender.wait()
        records, damaged = read_lines(path)
        since = records[expected:]
        assert [record["n"] for record in since[: told + 1]] == list(range(told + 1))
        assert all(len(record["text"]) == 50_000 for record in records)
        assert damaged <= 4
        expected = len(records)


def test_a_log_is_kept_open_and_each_line_is_there_when_append_returns(tmp_path):
    path = tmp_path / "log.jsonl"
    with closing(Log(path)) as log:
        for n in range(3):
            log.append(RECORD | {"n": n})
            assert read_lines(path) == ([RECORD | {"n": i} for i in range(n + 1)], 0)


# Logs that are kept open


def test_a_log_closes_a_line_that_was_torn_before_it_or_by_somebody_else(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n"')
    with closing(Log(path)) as log:
        log.append({"n": 2})
        with path.open("ab") as other:
            other.write(b'{"other"')
        log.append({"n": 3})
        log.append({"n": 4})
    assert read_lines(path) == ([{"n": n} for n in (1, 2, 3, 4)], 2)


def test_a_log_that_is_removed_is_begun_anew_and_one_without_a_folder_is_an_error(tmp_path):
    path = tmp_path / "s1" / "log.jsonl"
    path.parent.mkdir()
    with closing(Log(path)) as log:
        log.append({"n": 1})
        path.unlink()
        log.append({"n": 2})
        assert read_lines(path) == ([{"n": 2}], 0)
        path.unlink()
        path.parent.rmdir()
        with pytest.raises(FileNotFoundError, match=r"log\.jsonl"):
            log.append({"n": 3})


ROOM = """
import resource, signal, sys
from pathlib import Path
from delibsim.store.files import Log
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = Log(Path(sys.argv[1]))
log.append({"n": 1})
resource.setrlimit(resource.RLIMIT_FSIZE, (50, resource.RLIM_INFINITY))  # a disk that is full
try:
    log.append({"n": 2, "text": "x" * 100})
except OSError as error:
    print(error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.append({"n": 3})
"""


def test_after_a_full_disk_a_log_closes_the_line_that_it_tore(tmp_path):
    path = tmp_path / "log.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", ROOM, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == os.strerror(errno.EFBIG)
    assert read_lines(path) == ([{"n": 1}, {"n": 3}], 1)


FEW = """
import os, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
from delibsim.store.files import MOST_OPEN, Log
folder = Path(sys.argv[1])
logs = [Log(folder / f"{n}.jsonl") for n in range(100)]
for n in range(3):
    for log in logs:
        log.append({"n": n})
one = Log(folder / "0.jsonl")
numbers = []
for closed in (0, 5):
    for log in logs[:closed]:
        log.close()
    one.append({"n": "more"})
    numbers.append(os.dup(0))
    os.close(numbers[-1])
print(MOST_OPEN, *numbers)
"""


def test_logs_leave_most_files_of_a_process_to_others_and_are_all_written(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FEW, str(tmp_path)], capture_output=True, text=True, check=True
    )
    most, while_all, after_five = map(int, done.stdout.split())
    assert most == 12
    assert while_all < 12 + 10  # the next free number: few besides the logs are open
    assert after_five < while_all
    for n in range(1, 100):
        assert read_lines(tmp_path / f"{n}.jsonl") == ([{"n": i} for i in range(3)], 0)


# Locks

HOLDER = """
import sys, time
from pathlib import Path
from delibsim.store.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_and_told_which_one_holds_the_folder(tmp_path):
    with process(HOLDER, tmp_path / "demo") as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(
                WrongInput, match=rf"demo is in use by process {holder.pid}; wait for it, or end it"
            ),
            locked(tmp_path / "demo"),
        ):
            raise AssertionError("the lock was given twice")
        # A refusal takes nothing from the holder: it is named to the third as well.
        with pytest.raises(WrongInput, match=str(holder.pid)), locked(tmp_path / "demo"):
            raise AssertionError("the lock was given twice")


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path):
    with process(HOLDER, tmp_path / "demo") as holder:
        holder.stdout.readline()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with locked(tmp_path / "demo"):
            held_by = (tmp_path / "demo" / ".lock").read_text()
    assert held_by == str(os.getpid())


def test_folders_are_locked_one_by_one(tmp_path):
    with (
        locked(tmp_path / "one"),
        locked(tmp_path / "two"),
        pytest.raises(WrongInput),
        locked(tmp_path / "one"),
    ):
        raise AssertionError("the lock was given twice")


def test_a_durable_line_is_on_the_disk_before_it_counts(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync

    def noted(handle):
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        synced.append((path.name, path.stat().st_size if path.is_file() else None))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    log = tmp_path / "study" / "session" / "exchanges.jsonl"
    write_atomically(log.with_name("session.json"), "{}", durable=True)
    made = [name for name, size in synced if size is None]
    assert made == ["study", tmp_path.name, "session"]  # the names of two folders and a file
    synced.clear()
    append_line(log, {"n": 1}, durable=True)
    append_line(log, {"n": 2}, durable=True)
    assert synced == [("exchanges.jsonl", 8), ("session", None), ("exchanges.jsonl", 16)]
    append_line(log, {"n": 3})
    assert len(synced) == 3
