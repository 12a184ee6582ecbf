"""While a database fails one at a time waits for it: real locks of SQLite, real threads."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from delibsim.store.people import register as registers
from delibsim.store.people.persons import add_person, persons
from delibsim.store.people.register import Outage, Register, Unavailable
from delibsim.store.runs import Runs


def test_one_lock_that_takes_too_long_is_no_outage():
    outage = Outage()
    outage.failed("a lock", gone=False)
    with outage.waiting() as first, outage.waiting() as second:
        assert first
        assert second
    assert outage.within(60)


@pytest.mark.sqlite
def test_one_of_many_waits_for_a_file_that_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(registers, "BUSY", 1.0)
    register = Register.of(Runs(tmp_path, "hall"), "")
    lock = sqlite3.connect(tmp_path / "hall" / registers.FILE, isolation_level=None)
    lock.execute("begin immediate")

    def seconds(_):
        begun = time.monotonic()
        with pytest.raises(Unavailable, match="locked"):
            add_person(register, "participant")
        return time.monotonic() - begun

    assert seconds(0) > 0.9
    ready = threading.Barrier(10)

    def at_once(n):
        ready.wait()
        return seconds(n)

    with ThreadPoolExecutor(10) as pool:
        took = sorted(pool.map(at_once, range(10)))
    assert sum(one > 0.9 for one in took) == 1
    assert persons(register) == []  # it can be read
    lock.execute("rollback")
    lock.close()
    assert add_person(register, "participant")
    register.close()
