"""Large studies: how often a run is read, and what is kept of a session in memory."""

import asyncio
import shutil
import sys
import tracemalloc
from contextlib import suppress

import pytest

from delibsim.cli.main import main
from delibsim.conduct.hold import hold_all
from delibsim.conduct.outcome import Observer
from delibsim.conduct.score import score_study, usual_scorers
from delibsim.conduct.status import effects_in, study_status
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.runs import Runs
from delibsim.store.tables.study import rows_of

FEW, MANY = 30, 130
SMALL = ("topic=ccps", "group.size=2", "rounds=1")
opened = {}
"""How often each file was opened, by name, while `count` is in it."""


def _note(event, args):
    if event == "open" and "count" in opened:
        opened[str(args[0])] = opened.get(str(args[0]), 0) + 1


sys.addaudithook(_note)


def planned(home, n):
    return plan(["study=s", f"replicate=range(1,{n + 1})", *SMALL], home, sweep=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Studies of a few and of many sessions, by size: one session is held, the others copy it."""
    studies = {}
    for n in (FEW, MANY):
        home = tmp_path_factory.mktemp("home")
        asked = planned(home, n)
        runs = Runs(asked.root, "s")
        runs.settle(frozen(asked))
        asyncio.run(hold_all(asked.sessions[:1], runs))
        first = asked.session.id
        for number, session in enumerate(asked.sessions[1:], 2):
            shutil.copytree(runs.path(first), runs.path(session.id))
            for name in ("run.json", "session.json"):
                path = runs.path(session.id) / name
                text = path.read_text(encoding="utf-8").replace(first, session.id)
                text = text.replace('"replicate": 1,', f'"replicate": {number},')
                path.write_text(text, encoding="utf-8")
            (runs.path(session.id) / "SHA256SUMS").unlink()
        studies[n] = runs
    return studies


def grown(work, at_the_peak=True):
    """Bytes that one more session adds to the memory: at the peak of the work, or by its result."""
    taken = {}
    for n in (FEW, FEW, MANY):  # the first time counts what is imported and cached
        tracemalloc.start()
        result = work(n)
        taken[n] = tracemalloc.get_traced_memory()[at_the_peak]
        tracemalloc.stop()
        del result
    return (taken[MANY] - taken[FEW]) / (MANY - FEW)


def test_delibsim_score_reads_a_run_once_for_however_many_scorers(study, monkeypatch):
    monkeypatch.setattr("sys.argv", ["delibsim", "score", str(study[FEW].folder), "--json"])
    opened.clear()
    opened["count"] = 0
    with suppress(SystemExit):
        main()
    del opened["count"]
    for file, times in (("run.json", 1), ("session.json", 1)):
        read = {name: n for name, n in opened.items() if name.endswith(f"/{file}")}
        assert set(read.values()) == {times}
        assert len(read) == FEW


def test_planning_keeps_of_a_session_what_its_replicates_do_not_share(tmp_path):
    assert grown(lambda n: planned(tmp_path, n), at_the_peak=False) < 3_000


def test_scoring_keeps_neither_runs_nor_scores(study):
    def work(n):
        score_study(study[n], usual_scorers(), lambda name, scores: None)

    assert grown(work) < 3_500  # some 300 of them so that no run is read twice


def test_tables_are_made_without_keeping_their_rows(study):
    for runs in study.values():
        score_study(runs, usual_scorers(), lambda name, scores: None)

    def work(n):
        for _ in rows_of(study[n], []):
            pass

    assert grown(work) < 5_000


def test_the_status_of_a_session_is_small(study):
    assert grown(lambda n: effects_in(study[n], study_status(study[n]))) < 3_200


class Tasks(Observer):
    """Counts the tasks of the event loop whenever a session is over."""

    def __init__(self):
        self.most = 0

    def on_session(self, outcome):
        self.most = max(self.most, len(asyncio.all_tasks()))


def test_a_session_that_waits_costs_no_task(study):
    asked, tasks = planned(study[FEW].folder.parent.parent, FEW), Tasks()
    asyncio.run(hold_all(asked.sessions, study[FEW], observer=tasks, at_once=3))
    assert tasks.most <= 3 + 1
