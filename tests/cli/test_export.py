"""`delibsim export`: where tables go, what is told, and exit codes."""

import csv
import json
import shutil

import pytest
from coded_study import MODELS, keep_task, samples_of

from delibsim import Runs
from delibsim.asking.texts import texts_of


def test_it_is_read_in_python_alike(delibsim, study, home):
    answer = delibsim("export", "s", "-o", "elsewhere/tables", "--format", "parquet", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["folder"] == "elsewhere/tables"
    assert answer.json["rows"]["responses"] == 2 * 2 * 27
    assert answer.json["sessions"] == {"complete": 1}
    assert answer.json["left_out"] == []
    assert sorted(path.suffix for path in (home / "elsewhere" / "tables").glob("r*")) == [
        ".parquet",
        ".parquet",
        ".parquet",
    ]


def test_missing_data_are_no_damage(delibsim, partial):
    answer = delibsim("export", "p", "--json")
    assert (answer.code, answer.json["sessions"]) == (0, {"partial": 1})


def test_what_is_damaged_is_named_and_the_rest_is_written(delibsim, study, home):
    with (study / "exchanges.jsonl").open("a") as file:
        file.write('{"torn')
    (study / "run.json").write_text("{}")
    answer = delibsim("export", "s", "--json")
    assert answer.code == 3
    assert answer.json["sessions"] == {"damaged": 1}
    assert len(answer.json["left_out"]) == 2
    assert answer.err.count("left out: ") == 2
    assert "run.json" in answer.err
    assert "exchanges.jsonl: 1 damaged line" in answer.err
    manifest = json.loads((home / "runs" / "s" / "tables" / "manifest.json").read_text())
    assert manifest["left_out"] == answer.json["left_out"]
    assert manifest["rows"]["calls"] == 6


def test_a_study_without_sessions_has_nothing_to_export(delibsim, study, home):
    empty = home / "runs" / "e"
    empty.mkdir()
    (empty / "study.json").write_bytes((study.parent / "study.json").read_bytes())
    answer = delibsim("export", "e")
    assert answer.code == 4
    assert "no sessions to export" in answer.err
    assert not (empty / "tables").exists()


def test_runs_that_are_not_scored_are_told(delibsim, study, home):
    shutil.rmtree(home / "runs" / "s" / "scores", ignore_errors=True)
    answer = delibsim("export", "s")
    assert "1 run has not all scores yet, empty in runs_wide: give `delibsim score s`" in answer.err
    assert delibsim("score", "s").code == 0
    answer = delibsim("export", "s")
    assert (answer.code, answer.err) == (0, "")


def test_the_seven_tables_are_written_beside_the_runs(delibsim, study, home):
    answer = delibsim("export", "s", "--as", "bench", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["folder"] == "runs/s/bench"
    assert set(answer.json["rows"]) == {
        "runs", "dri_individual", "aqua_transcripts", "aqua_turns", "opinion_change",
        "transcripts_index", "configurations",
    }  # fmt: skip
    assert "configurations" in delibsim("export", "s", "--as", "bench").out
    assert delibsim("status", "s").code == 0, "the tables are no session"


@pytest.mark.parametrize("form", ["convokit", "inspect"])
def test_other_programs_are_given_no_persona_where_it_is_to_stay_here(delibsim, home, form):
    assert delibsim("run", "-q", "study=p", "persona=values", "rounds=1", "group.size=2").code == 0
    (file,) = (home / "runs" / "p").glob("*/session.json")
    persona = json.loads(file.read_text(encoding="utf-8"))["participants"][0]["persona"]
    told = json.dumps(persona)[1:-1]
    for words, there in (((), True), (("--without-personas",), False)):
        answer = delibsim("export", "p", "--as", form, "-o", "out", *words)
        assert (answer.code, answer.err) == (0, "")
        texts = [path.read_text(encoding="utf-8") for path in (home / "out").iterdir()]
        assert any(told in text for text in texts) == there
    manifest = json.loads((home / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["form"], manifest["sessions"]) == (form, {"complete": 1})
    (home / "out" / "mine.txt").touch()
    assert delibsim("export", "p", "--as", form, "-o", "out").code == 2
    assert delibsim("status", "p").code == 0


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_code_of_a_dimension_that_the_scheme_does_not_know_is_exported_without_a_place(
    delibsim, study
):
    runs = Runs(study.parent.parent, "s")
    (text, *_) = texts = texts_of(runs)
    codings = keep_task(runs, texts, unit="statement")
    codings.add(samples_of(text, "reasons", MODELS[0], (2, 2)))
    codings.add(samples_of(text, "<b>", MODELS[0], (2, 2)))
    assert delibsim("export", "s", "-o", "ex").code == 0
    places = [row["place"] for row in table(study.parent.parent.parent / "ex" / "samples.csv")]
    assert places == ["3", "3", "", ""]
