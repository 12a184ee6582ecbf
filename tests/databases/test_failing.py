"""Databases that fail while people are in the room: locked, full, read-only, stopped, cut off."""

import os
import shutil
import sqlite3
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
from people_site import PLAIN, Browser, filled, hall_of, hidden, link_for, served, take_part
from postgres import PASSWORD
from sqlalchemy import select

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Limit
from delibsim.people import hall as halls
from delibsim.people import presence
from delibsim.store.people import register as registers
from delibsim.store.people.requests import request_of
from delibsim.store.people.schema import REQUEST

ONE = "[person,citizen,citizen]"
PATIENCE = 8.0
"""Seconds that a page may take while a database fails: two waits of three, and a busy machine."""
WORDS = "What I say is not lost, whatever becomes of the database."


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Stopped rooms are tried again at once, and every page notes that its person is there."""
    monkeypatch.setattr(halls, "AGAIN", 1.0)
    monkeypatch.setattr(presence, "SEEN", 0.0)


def speech(browser):
    """Answer what is asked until a speech is asked."""
    while "<textarea" not in browser.asked():
        assert browser.answer().status_code == 200


def refused(browser, words=WORDS):
    """Hand in a speech that cannot be kept: the page says so, and holds it; the form to send."""
    begun = time.monotonic()
    answer = browser.post("/me/answer", **filled(browser.page.text, words))
    assert time.monotonic() - begun < PATIENCE
    assert answer.status_code == 503, answer.text
    assert words in answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert PASSWORD not in answer.text
    return hidden(answer.text)


def sent_again(browser, form, seconds=20):
    """Send a form until it is taken."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = browser.http.post("/me/answer", data=form)
        if answer.status_code == 303:
            assert answer.headers["location"] == "/me"
            return
        assert answer.status_code == 503, answer.text
        time.sleep(0.3)
    raise AssertionError(answer.text)


def complete(hall, browser):
    """The room goes on by itself to its end, and holds what was said, once."""
    take_part(browser)
    (name,) = hall.runs.sessions()
    run = hall.runs.run(name)
    assert run.status == "complete"
    own = [one for one in run.transcript if one.text == WORDS]
    assert len(own) == 1
    found, _ = hall.runs.exchanges(name)
    asked = [(one["purpose"]["participant"], one["purpose"]["occasion"]) for one in found]
    assert len(asked) == len(set(asked))


def acknowledged(hall):
    """The replies that the register holds, by their requests."""
    with hall.register.reading() as connection:
        rows = connection.execute(select(REQUEST.c.key, REQUEST.c.reply)).all()
    return {row.key: row.reply for row in rows if row.reply}


def fill(path):
    """Write zeros until the disk is full."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (4096, 512, 1):
            with suppress(OSError):
                while os.write(file, bytes(size)):
                    pass
    finally:
        os.close(file)


@contextmanager
def locking(file):
    """Another process writes to a file of SQLite."""
    lock = sqlite3.connect(file, isolation_level=None)
    lock.execute("begin immediate")
    try:
        yield
    finally:
        lock.execute("rollback")
        lock.close()


@pytest.mark.sqlite
def test_a_file_that_another_process_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(registers, "BUSY", 0.5)
    hall = hall_of(tmp_path, models=ONE)
    with served(hall) as address:
        browser = Browser(address).enter(link_for(hall)[1])
        speech(browser)
        before = acknowledged(hall)
        with locking(hall.register.engine.url.database):
            form = refused(browser)
            assert browser.get().status_code == 200  # it can still be read
            assert "<textarea" in browser.page.text
        sent_again(browser, form)
        assert before.items() <= acknowledged(hall).items()
        complete(hall, browser)


@pytest.mark.sqlite
def test_models_go_on_after_a_lock_and_no_limit_ends_what_could_not_be_sent(tmp_path, monkeypatch):
    """The time of a turn that binds is over while the register fails."""
    monkeypatch.setattr(registers, "BUSY", 0.2)
    hosting = replace(PLAIN, turn=Limit(0.05, binds=True))  # three seconds
    hall = hall_of(tmp_path, models=ONE, hosting=hosting)
    with served(hall) as address:
        browser = Browser(address).enter(link_for(hall)[1])
        speech(browser)
        with locking(hall.register.engine.url.database):
            form = refused(browser)
            time.sleep(4)
        sent_again(browser, form)
        assert request_of(hall.register, form["key"]).status == "ok"
        complete(hall, browser)


@pytest.mark.sqlite
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_is_full(tmp_path, monkeypatch):
    disk = tmp_path / "runs"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        hall = hall_of(tmp_path, models=ONE)
        with served(hall) as address:
            browser = Browser(address).enter(link_for(hall)[1])
            speech(browser)
            before = acknowledged(hall)
            fill(disk / "filler")
            form = refused(browser, WORDS)
            (disk / "filler").unlink()
            sent_again(browser, form)
            assert before.items() <= acknowledged(hall).items()
            complete(hall, browser)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.sqlite
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk to read alone")
def test_a_disk_that_can_only_be_read(tmp_path):
    disk = tmp_path / "runs"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        hall = hall_of(tmp_path, models=ONE)
        hall.register.close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(WrongInput, match=r"cannot be opened.*[Rr]ead-?only"):
            hall_of(tmp_path, models=ONE)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.heavy
def test_postgresql_stops_and_starts_while_people_are_in_the_room(tmp_path, postgres, monkeypatch):
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", postgres.database())
    hall = hall_of(tmp_path, models=ONE)
    with served(hall) as address:
        browser = Browser(address).enter(link_for(hall)[1])
        speech(browser)
        before = acknowledged(hall)
        postgres.stop("immediate")
        try:
            form = refused(browser)
            page = browser.get()
            assert page.status_code == 503
            assert PASSWORD not in page.text
            time.sleep(2)
        finally:
            postgres.start()
        sent_again(browser, form)
        assert before.items() <= acknowledged(hall).items()
        complete(hall, browser)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path


@pytest.mark.heavy
def test_connections_that_are_cut_off(tmp_path, postgres, monkeypatch):
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", postgres.database())
    hall = hall_of(tmp_path, models=ONE)
    name = hall.register.engine.url.database
    with served(hall) as address:
        browser = Browser(address).enter(link_for(hall)[1])
        speech(browser)
        end = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        for _ in range(5):
            assert "t" in postgres.sql(end)
            form = hidden(browser.page.text) | filled(browser.page.text, WORDS)
            assert browser.get().status_code in (200, 503)
        sent_again(browser, form)
        complete(hall, browser)


@pytest.mark.heavy
def test_a_table_that_is_locked_holds_no_page_for_long(tmp_path, postgres, monkeypatch):
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", postgres.database())
    hall = hall_of(tmp_path, models=ONE)
    with served(hall) as address:
        browser = Browser(address).enter(link_for(hall)[1])
        speech(browser)
        other = hall.register.engine.connect()
        try:
            other.exec_driver_sql("lock table request in access exclusive mode")
            form = refused(browser)
        finally:
            other.close()
        sent_again(browser, form)
        complete(hall, browser)


@pytest.mark.sqlite
def test_a_file_that_is_no_database(tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    hall.register.close()
    file = hall.runs.folder / registers.FILE
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    shutil.copy(__file__, file)
    with pytest.raises(WrongInput, match="not a database"):
        hall_of(tmp_path, models=ONE)
