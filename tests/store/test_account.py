"""The account of a study: what study.json plans, what was begun, what is held."""

from dataclasses import replace

import pytest

from delibsim import Runs, compose
from delibsim.store.manifest import Manifest
from delibsim.store.places import account_of


@pytest.fixture
def runs(tmp_path):
    """A study that plans three sessions, of which two were begun."""
    runs = Runs(tmp_path, "s")
    runs.settle(Manifest("s", {}, {}, sessions=("c", "a", "b")))
    session = compose("topic=ccps", "group.size=2", "rounds=1", home=tmp_path)
    for name in ("a", "b"):
        runs.plan(replace(session, id=name))
    return runs


def test_sessions_are_planned_begun_and_held(runs):
    account = account_of(runs)
    assert (account.planned, account.begun, account.held) == (("a", "b", "c"), ("a", "b"), ())
    assert account.not_begun == ("c",)
    assert account.notice().startswith("1 session was never begun, of 3 that the study plans")


def test_a_session_that_study_json_does_not_name_is_planned_where_it_was_begun(runs, tmp_path):
    session = runs.planned("a")
    runs.plan(replace(session, id="d"))
    assert account_of(runs).planned == ("a", "b", "c", "d")
    other = Runs(tmp_path, "without a manifest")
    other.plan(session)
    account = account_of(other)
    assert (account.planned, account.not_begun, account.notice()) == (("a",), (), "")
