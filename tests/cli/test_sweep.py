"""Sweeps from the command line: held once, gone on with, enlarged, retried, watched."""

import json
import shutil

import pytest

from delibsim import Runs
from delibsim.store.places import account_of

GRID = ("study=s", "topic=acp,ccps", "treatment=none,basic", "group.size=2", "rounds=1", "seed=7")


def runs_in(home):
    return {
        path.parent.name: path.read_bytes() for path in (home / "runs" / "s").glob("*/run.json")
    }


@pytest.fixture
def grid(delibsim):
    """A study of four sessions."""
    assert delibsim("run", "-m", "-q", *GRID).code == 0


def test_a_sweep_is_held_and_the_same_command_does_nothing(delibsim, home, files):
    first = delibsim("run", "-m", "-q", *GRID, "--json")
    assert (first.code, first.err) == (0, "")
    assert first.json["states"] == {"complete": 4, "partial": 0, "failed": 0}
    assert first.json["calls_asked_now"] == 2 * 4 + 2 * 6
    before = files()
    again = delibsim("run", "-m", *GRID)
    assert again.code == 0
    assert "All were held before; nothing was asked now." in again.out
    assert files() == before


def test_a_session_of_a_sweep_is_that_of_a_single_command(delibsim, grid, home):
    assert delibsim("run", "-q", "study=one", "topic=ccps", "treatment=basic", *GRID[3:]).code == 0
    name = "ccps.basic.citizen_rounds1_size2.r1"
    assert (home / "runs/one" / name / "run.json").read_bytes() == runs_in(home)[name]


def test_one_more_replicate_adds_only_that(delibsim, grid, home):
    before = runs_in(home)
    answer = delibsim("run", "-m", "-q", *GRID, "replicate=1,2", "--json")
    assert (answer.code, answer.json["sessions"], answer.json["held_before"]) == (0, 8, 4)
    after = runs_in(home)
    assert {name: after[name] for name in before} == before
    assert sorted(set(after) - set(before)) == sorted(name.replace(".r1", ".r2") for name in before)
    (amendment,) = json.loads((home / "runs/s/study.json").read_text(encoding="utf-8"))[
        "amendments"
    ]
    assert (amendment["sessions"], amendment["added"]) == (4, {})


def test_retry_holds_what_has_no_run_and_nothing_else(delibsim, grid, home):
    whole = runs_in(home)
    name = next(iter(whole))
    (home / "runs/s" / name / "run.json").unlink()
    assert (
        "1 session has no run, none that ended so."
        in delibsim("run", "s", "--retry", "--status", "timeout").out
    )
    answer = delibsim("run", "s", "--retry", "-q", "--status", "ok", "--json")
    assert (answer.code, answer.json["sessions"]) == (0, 1)
    assert runs_in(home) == whole
    assert "0 sessions have no run" in delibsim("run", "s", "--retry").out


def test_retry_finds_how_a_session_ended_wherever_in_the_record_that_stands(delibsim, grid, home):
    """The calls of a survey come back in any order: the one that failed may stand before one that
    did not.
    """
    run = next((home / "runs" / "s").glob("*/run.json"))
    run.unlink()
    log = run.with_name("exchanges.jsonl")
    first, second = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[:2])
    failed = first | {"completion": first["completion"] | {"status": "quota", "text": ""}}
    log.write_text(
        "".join(json.dumps(record) + "\n" for record in (failed, second)), encoding="utf-8"
    )
    assert (
        "1 session has no run, none that ended so."
        in delibsim("run", "s", "--retry", "--status", "ok").out
    )
    assert delibsim("run", "s", "--retry", "-q", "--status", "quota").code == 0
    run.unlink()
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [record["completion"]["status"] for record in records[:3]] == ["quota", "ok", "ok"]
    assert "none that ended so" in delibsim("run", "s", "--retry", "--status", "quota").out, (
        "it was asked again since"
    )


def test_status_watches_until_nobody_holds_it(delibsim, grid):
    answer = delibsim("status", "s", "--watch")
    assert answer.code == 0
    assert (
        answer.out.splitlines()[0]
        == "4/4 sessions held, 0 begun, 0.0 a minute; no process holds it now"
    )


def test_a_sweep_says_how_it_goes_where_there_is_no_terminal(delibsim):
    answer = delibsim("run", "-m", *GRID)
    assert answer.code == 0
    assert answer.err.startswith("4/4 sessions, 0 running, 20 calls, ")
    assert answer.out.splitlines()[0] == "study s: 4 sessions, 4 complete"


@pytest.fixture
def stopped(grid, home):
    """A sweep of four sessions that was stopped before two of them were begun."""
    for folder in sorted(path.parent for path in (home / "runs/s").glob("*/session.json"))[:2]:
        shutil.rmtree(folder)


NEVER = "2 sessions were never begun, of 4 that the study plans"


def test_sessions_that_were_not_begun_are_counted_by_every_command(delibsim, stopped, home):
    answer = delibsim("run", "s", "--retry")
    assert (answer.code, NEVER in answer.out) == (3, True)
    assert delibsim("score", "s", "--json").json["not_begun"] == 2
    assert NEVER in delibsim("score", "s").out
    assert delibsim("export", "s", "--json").json["sessions"] == {"complete": 2, "not begun": 2}
    manifest = json.loads((home / "runs/s/tables/manifest.json").read_text(encoding="utf-8"))
    assert manifest["sessions"] == {"complete": 2, "not begun": 2}
    answer = delibsim("status", "s", "--json")
    assert (answer.code, answer.json["states"]) == (3, {"complete": 2, "not begun": 2})
    assert NEVER in delibsim("status", "s").out
    assert delibsim("status", "--json").json == [{"study": "s", "sessions": 4, "held": 2}]
    assert "2/4 sessions held, 0 begun" in delibsim("status", "s", "--watch").out
    account = account_of(Runs.open(home / "runs", "s"))
    assert (len(account.planned), len(account.begun), len(account.held)) == (4, 2, 2)


def test_retry_says_that_sessions_were_not_begun_after_it_held_the_others(delibsim, stopped, home):
    next((home / "runs/s").glob("*/run.json")).unlink()
    answer = delibsim("run", "s", "--retry", "-q")
    assert "study s: 1 session, 1 complete" in answer.out
    assert (answer.code, NEVER in answer.out) == (3, True)
    assert delibsim("run", "-m", "-q", *GRID).code == 0
    assert "never begun" not in delibsim("status", "s").out


def test_sessions_for_people_wait_for_serve_and_the_others_are_not_held_again(delibsim):
    words = ["topic=ccps", "group.size=2", "rounds=1", "replicate=range(1,6)", "people=0.4"]
    for asked in ("20 calls were asked now", "0 calls were asked now"):
        answer = delibsim("run", "-m", "-q", "study=mixed", "treatment=none", *words)
        assert (answer.code, "2 sessions with people" in answer.err) == (0, True)
        assert "2 sessions were never begun, of 7" in answer.out
        assert "give the `delibsim serve` command" in answer.out
        assert asked in answer.out


SWEEP = ("run", "-m", "study=s", "topic=ccps", "group.size=2", "rounds=1")


def test_a_setting_the_launcher_has_not_is_refused_before_anything_is_written(delibsim, home):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="needs the extra joblib")
    answer = delibsim(*SWEEP, "hydra/launcher=joblib", "hydra.launcher.jobs=2")
    assert (answer.code, "hydra.launcher.jobs" in answer.err) == (2, True)
    assert list(home.iterdir()) == []


def test_one_process_is_a_launcher_too(delibsim, home):
    answer = delibsim(*SWEEP, "hydra/launcher=delibsim")
    assert answer.code == 0
    assert sorted(
        path.name for path in (home / "runs" / "s").iterdir() if not path.name.startswith(".")
    ) == ["ccps.normative.citizen_rounds1_size2.r1", "sessions.jsonl", "study.json"]
