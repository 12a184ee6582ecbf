"""Queries can be stopped as everything else can."""

import signal
import threading

import pytest

from delibsim.store.tables.sheets import offline_database

LONG = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(100000) b"


def _query():
    with offline_database(threads=1) as database:
        database.execute(LONG).fetchall()


def test_a_query_that_is_stopped_ends_like_other_code():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stop = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    try:
        stop.start()
        with pytest.raises(KeyboardInterrupt):
            _query()
    finally:
        stop.cancel()
        signal.signal(signal.SIGINT, before)


def test_nothing_is_fetched():
    with offline_database(threads=1) as database:
        fetches = "autoinstall_known_extensions"
        assert database.execute(f"SELECT current_setting('{fetches}')").fetchall() == [(False,)]
