"""Holding a planned study from Python: what is checked, what an observer learns, and how far it is."""

from dataclasses import replace

import pytest

from delibsim import Runs, WrongInput, compose
from delibsim.conduct.hold import hold_all
from delibsim.conduct.outcome import Observer, StudyProgress, exit_code
from delibsim.conduct.retry import ended_in, final_statuses, plan_again, without_run
from delibsim.conduct.study import hold_plan, hold_prepared, prepare
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan

SWEEP = ["study=s", "topic=ccps", "treatment=none", "group.size=2", "replicate=1,2,3"]


class Diary(Observer):
    """Keeps what it learns, in order."""

    def __init__(self):
        self.entries = []

    def on_event(self, event):
        self.entries.append(("event", event.session, event.done))

    def on_exchange(self, exchange):
        self.entries.append(("exchange", exchange.purpose.participant, exchange.completion.status))

    def on_session(self, outcome):
        self.entries.append(("session", outcome.session.id, outcome.status))


@pytest.fixture
def planned(tmp_path):
    return plan(SWEEP, tmp_path, sweep=True)


@pytest.fixture
def runs(planned):
    return Runs(planned.root, planned.study)


async def test_an_observer_learns_of_events_exchanges_and_sessions(planned, runs):
    diary = Diary()
    outcomes = await hold_plan(planned, runs, diary)
    assert [outcome.status for outcome in outcomes] == ["complete"] * 3
    assert exit_code(outcomes) == 0
    kinds = [kind for kind, *_ in diary.entries]
    assert (kinds.count("event"), kinds.count("exchange"), kinds.count("session")) == (24, 12, 3)
    for session in planned.sessions:
        own = [entry for entry in diary.entries if entry[1] == session.id]
        assert own[0] == ("event", session.id, False)
        assert own[-1] == ("session", session.id, "complete")


async def test_notices_of_the_preflight_reach_who_asked_for_them(tmp_path):
    hosted = plan([*SWEEP, "model=local", "base_url=http://127.0.0.1:9/v1"], tmp_path, sweep=True)
    notices = []
    with pytest.raises(WrongInput, match="nothing was asked and nothing was paid"):
        await prepare(hosted, Runs(hosted.root, "s"), notices.append)
    assert [notice.split(":")[:2] for notice in notices] == [["error", " local"]]
    assert not (hosted.root / "s" / "study.json").exists()


async def test_progress_counts_sessions_calls_and_money(planned, runs):
    prepared = await prepare(planned, runs)
    progress = StudyProgress(prepared.waiting, prepared.pool)
    assert progress.line().startswith("0/3 sessions, 0 running, 0 calls")
    assert progress.seconds_left() is None
    await hold_prepared(prepared, progress)
    assert (progress.finished, progress.calls, progress.sessions_left()) == (3, 12, 0)
    assert progress.line().endswith(" in all")
    assert progress.table() == [("citizen", 3, 3, 0, 0, 0)]


async def test_sessions_without_a_run_are_planned_again_as_they_were(planned, runs):
    await hold_plan(planned, runs)
    assert without_run(runs) == []
    cut = planned.sessions[0]
    (runs.path(cut.id) / "run.json").unlink()
    assert without_run(runs) == [cut]
    assert final_statuses(runs, cut.id) == {"ok"}
    assert ended_in(runs, [cut], ["timeout"]) == []
    again = plan_again(runs, [cut], ["limits.concurrency=3"])
    assert (again.sessions, again.limits) == ((cut,), Limits(concurrency=3))
    with pytest.raises(WrongInput, match="would change what was planned"):
        plan_again(runs, [cut], ["rounds=4"])


async def test_one_session_that_is_refused_lets_the_others_finish(tmp_path):
    runs = Runs(tmp_path, "together")
    first, second = (
        replace(compose("topic=ccps", "group.size=2", "rounds=1"), id=name)
        for name in ("first", "second")
    )
    runs.plan(replace(first, seed=1))
    with pytest.raises(WrongInput, match="planned differently"):
        await hold_all([first, second], runs, at_once=2)
    assert not runs.held("first")
    assert runs.run("second").status == "complete"
