"""Phases and surveys in between from the command line: held, cut off and gone on with, replayed,
estimated, exported, shown, probed, scored and imported again.
"""

import csv
import json

import pytest

from delibsim import Runs

PHASES = "procedure.phases=[survey,witnesses,survey,plenary,survey]"
SMALL = ("topic=ccps", "group.size=2", "rounds=1", "group.witnesses=[expert]")


@pytest.fixture
def waved(delibsim, home):
    """A study with one session of three surveys, and its name."""
    assert delibsim("run", "-q", "study=w", *SMALL, PHASES).code == 0
    runs = Runs(home / "runs", "w")
    return runs, runs.sessions()[0]


def rows_of(home, table):
    with (home / "runs/w/tables" / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_session_cut_off_within_a_survey_in_between_goes_on_there(delibsim, home, waved):
    runs, name = waved
    run, log = runs.run(name), runs.path(name) / "exchanges.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [n for n, line in enumerate(lines) if json.loads(line)["purpose"]["occasion"] == "wave_2"]
    log.write_text("".join(lines[: at[1]]), encoding="utf-8")
    (runs.path(name) / "run.json").unlink()
    assert delibsim("run", "-q", "study=w", *SMALL, PHASES).code == 0
    now = log.read_text(encoding="utf-8").splitlines(keepends=True)
    assert (now[: at[1]], len(now)) == (lines[: at[1]], len(lines))
    assert runs.run(name) == run
    assert delibsim("replay", "w").code == 0
    estimate = json.loads(delibsim("estimate", "study=e", *SMALL, PHASES, "--json").out)
    assert estimate["models"][0]["calls"] == len(lines)


def test_answers_and_scores_of_a_wave_are_exported_with_its_name_and_explained(
    delibsim, home, waved
):
    assert delibsim("score", "w").code == 0
    assert delibsim("export", "w").code == 0
    phases = {row["phase"] for row in rows_of(home, "responses.csv")}
    assert phases == {"pre", "wave_2", "post"}
    assert {row["phases"] for row in rows_of(home, "runs.csv")} == {
        "survey+witnesses+survey+plenary+survey"
    }
    (wide,) = rows_of(home, "runs_wide.csv")
    scores = rows_of(home, "scores.csv")
    (score,) = [one for one in scores if (one["measure"], one["phase"]) == ("dri", "wave_2")]
    assert wide["dri_wave_2"] == score["value"] != ""
    codebook = {(row["table"], row["name"]): row for row in rows_of(home, "codebook.csv")}
    assert codebook["responses", "phase"]["values"] == "pre; wave_2; post"
    assert "in wave 2" in codebook["runs_wide", "dri_wave_2"]["meaning"]
    assert "wave 2" in delibsim("score", "w").out


def test_a_wave_is_shown_where_it_was_held(delibsim, home, waved):
    _, name = waved
    told = delibsim("show", f"w/{name}").out
    places = [told.index(one) for one in ("Expert (witness)", "Survey, wave 2", "Round 1")]
    assert places == sorted(places)
    assert "Answers before > wave 2 > after" in told
    course = json.loads(delibsim("probe", f"w/{name}", "--json").out)["trajectories"]
    own = {(one["after"], one["source"]) for one in course if one["measure"] == "dri"}
    assert own == {(0, "survey before"), (1, "survey between"), (3, "survey after")}
    assert delibsim("view", "w", "-o", "pages").code == 0
    (page,) = (home / "pages").glob(f"**/{name}/index.html")
    assert "Survey, wave 2: " in page.read_text(encoding="utf-8")


def test_waves_of_people_come_in_with_their_place_and_go_out_again(delibsim, home, waved):
    runs, name = waved
    assert delibsim("export", "w", "--as", "convokit", "-o", "corpus").code == 0
    settings = ("--as", "convokit", "study=people", "topic=ccps")
    assert delibsim("import", "corpus", *settings).code == 0
    again = Runs(home / "runs", "people")
    run, before = again.run(again.sessions()[0]), runs.run(name)
    assert dict(run.session.wave_places) == {"wave_2": 1}
    given = [
        {(one.phase, *sorted(one.answers.items())) for one in own.responses if one.answers}
        for own in (before, run)
    ]
    assert given[0] == given[1]
