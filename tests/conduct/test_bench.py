"""The seven tables give the study again, and others read them without delibsim."""

import csv
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import break_sessions, copied, held_study

from delibsim.analysis.study.bench import AQUA, read_bench, tables
from delibsim.analysis.study.counts import counts
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analysed import study_table
from delibsim.conduct.bench import export_bench
from delibsim.domain.errors import WrongInput
from delibsim.measures.dri import dri
from delibsim.store.runs import SCORES

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
SEVEN = {
    "runs", "dri_individual", "aqua_transcripts", "aqua_turns", "opinion_change",
    "transcripts_index", "configurations",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with one session of each kind of damage, and AQuA of what was said."""
    runs = held_study(tmp_path_factory.mktemp("home"))
    break_sessions(runs)
    lines = []
    for run in runs.readable([]):
        targets = [("run", run.session.id)]
        targets += [("statement", f"{run.session.id}/{s.turn.index}") for s in run.transcript]
        for unit, target in targets:
            for number, measure in enumerate(AQUA):
                line = {"measure": measure, "unit": unit, "target": target, "value": number / 8}
                lines.append(json.dumps(line | {"phase": "", "coder": "c", "note": ""}))
    (runs.folder / SCORES).mkdir(exist_ok=True)
    text = "\n".join(lines)
    (runs.folder / SCORES / "aqua.v1.jsonl").write_text(f"{text}\n", encoding="utf-8")
    return runs


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "out"
    return export_bench(study, folder, ("csv", "parquet"))


def rows_of(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_the_seven_tables_with_a_codebook(written):
    assert set(tables()) == set(written.rows) == SEVEN
    codebook = rows_of(written.folder, "codebook")
    for name in SEVEN:
        own = [row["name"] for row in codebook if row["table"] == name]
        header = (written.folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]
        assert header.split(",") == own
        assert len(rows_of(written.folder, name)) == written.rows[name]
        assert (written.folder / f"{name}.parquet").is_file()
    assert all(row["meaning"] for row in codebook)
    assert written.sessions == {"complete": 5, "no run": 1, "damaged": 1, "not begun": 1}
    assert len(written.faults) == 1


def test_the_folder_read_back_is_the_study(study, written):
    first, again = study_table(study), read_bench(written.folder)
    pd.testing.assert_frame_equal(again.rows, first.rows)
    assert list(again.columns) == list(first.columns)
    assert (again.study, again.paired) == (first.study, first.paired)
    ours, theirs = counts(first, DrawCounts()), counts(again, DrawCounts())
    pd.testing.assert_frame_equal(ours.rows, theirs.rows)


def test_every_key_leads_somewhere(written):
    runs = rows_of(written.folder, "runs")
    sessions = {row["session"] for row in runs}
    configurations = {row["configuration"] for row in rows_of(written.folder, "configurations")}
    assert {row["configuration"] for row in runs} == configurations
    for name in SEVEN - {"runs", "configurations"}:
        rows = rows_of(written.folder, name)
        assert rows
        assert {row["session"] for row in rows} <= sessions
    turns = rows_of(written.folder, "aqua_turns")
    assert all(row["participant"] and row["model"] == "citizen" for row in turns)


def test_individual_indices_average_to_those_of_the_runs(written):
    runs = {row["session"]: row for row in rows_of(written.folder, "runs")}
    frame = pd.read_csv(written.folder / "dri_individual.csv")
    means = frame.groupby(["session", "phase"])["dri_individual"].mean()
    for (session, phase), mean in means.items():
        assert mean == pytest.approx(float(runs[session][f"dri_{phase}"]))


def test_deliberr_s_layout_gives_the_same_index(written):
    frame = pd.read_csv(written.folder / "deliberr_answers.csv")
    runs = {row["session"]: row for row in rows_of(written.folder, "runs")}
    assert list(frame.columns[:7]) == [
        "study", "survey", "case", "data_type", "stage_id", "stage", "pnum",
    ]  # fmt: skip
    assert list(frame.columns[7:]) == [
        *(f"C{n}" for n in range(1, 51)),
        *(f"P{n}" for n in range(1, 11)),
    ]
    for (case, stage), own in frame.groupby(["case", "stage_id"]):
        parts = [own.filter(regex=f"^{letter}\\d").dropna(axis=1).to_numpy() for letter in "CP"]
        phase = "pre" if stage == 1 else "post"
        assert dri(*parts) == pytest.approx(float(runs[case][f"dri_{phase}"]))
    people = frame.groupby(["survey", "stage_id"])["pnum"]
    assert all(own.is_unique for _, own in people)


def test_the_header_is_that_of_the_human_data(written):
    human = SHARED / "data" / "dri" / "human_data.csv"
    if not human.is_file():
        pytest.skip("the human data of deliberr are not here")
    with (
        human.open(encoding="utf-8") as file,
        (written.folder / "deliberr_answers.csv").open() as own,
    ):
        assert next(csv.reader(file)) == next(csv.reader(own))


def test_the_index_leads_to_every_transcript(written):
    lines = (written.folder / "transcripts.jsonl").read_bytes().splitlines()
    for row in rows_of(written.folder, "transcripts_index"):
        line = lines[int(row["line"]) - 1]
        assert hashlib.sha256(line).hexdigest() == row["sha256"]
        said = json.loads(line)
        assert said["session"] == row["session"]
        assert len(said["statements"]) == int(row["statements"])
        assert sum(len(one["text"].split()) for one in said["statements"]) == int(row["words"])


def test_the_metadata_name_every_file_and_column(written):
    croissant = json.loads((written.folder / "croissant.json").read_text(encoding="utf-8"))
    files = {one["@id"]: one for one in croissant["distribution"]}
    for record in croissant["recordSet"]:
        header = (written.folder / f"{record['name']}.csv").read_text(encoding="utf-8")
        names = [field["source"]["extract"]["column"] for field in record["field"]]
        assert header.splitlines()[0].split(",") == names
        assert {field["source"]["fileObject"]["@id"] for field in record["field"]} <= set(files)
    for name, one in files.items():
        digest = hashlib.sha256((written.folder / name).read_bytes()).hexdigest()
        assert one["sha256"] == digest
    crate = json.loads((written.folder / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    ids = {entity["@id"] for entity in crate["@graph"]}
    (root,) = [entity for entity in crate["@graph"] if entity["@id"] == "./"]
    assert {part["@id"] for part in root["hasPart"]} <= ids
    there = {path.name for path in written.folder.iterdir()}
    assert there - {"manifest.json", "ro-crate-metadata.json"} <= ids
    sheet = (written.folder / "datasheet.md").read_text(encoding="utf-8")
    assert "5 complete" in sheet
    assert "ccps" in sheet


def test_the_loader_for_pandas_joins_runs_and_configurations(written):
    code = (
        "from load import load_bench; b = load_bench('.'); s = b['study']\n"
        "print(len(s), s.topic.nunique(), round(s.dri_change.mean(), 9), s['null'].dtype)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=written.folder, capture_output=True, text=True, check=True
    )
    expected = read_bench(written.folder).rows
    mean = round(expected["dri_change"].mean(), 9)
    assert done.stdout.split() == ["8", "2", str(mean), "boolean"]
    shutil.rmtree(written.folder / "__pycache__", ignore_errors=True)


def test_the_loader_for_r_joins_runs_and_configurations(written):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    code = (
        "source('load.R'); b <- load_bench('.'); s <- b$study;"
        "cat(nrow(s), length(unique(s$topic)), format(mean(s$dri_change, na.rm = TRUE), digits = 9),"
        " class(s$null), nrow(b$aqua_turns), paste(s$session, collapse = ' '))"
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], cwd=written.folder, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    rows = read_bench(written.folder).rows
    told = done.stdout.split()
    assert told[:2] + told[3:5] == ["8", "2", "logical", str(written.rows["aqua_turns"])]
    assert float(told[2]) == pytest.approx(rows["dri_change"].mean(), abs=1e-8)
    assert told[5:] == rows["session"].tolist()


def test_a_folder_that_is_no_such_export_is_refused(study, written, tmp_path):
    with pytest.raises(WrongInput, match=r"manifest\.json cannot be read"):
        read_bench(tmp_path)
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WrongInput, match="was not written by"):
        read_bench(tmp_path)
    with pytest.raises(WrongInput, match="holds what no export wrote"):
        export_bench(study, study.folder)
    shutil.copytree(written.folder, tmp_path / "torn")
    lines = (tmp_path / "torn" / "configurations.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "torn" / "configurations.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(WrongInput, match="no configuration"):
        read_bench(tmp_path / "torn")
    safe = export_bench(study, tmp_path / "safe", spreadsheet_safe=True)
    with pytest.raises(WrongInput, match="for spreadsheets"):
        read_bench(safe.folder)


def test_an_undefined_index_has_its_reason_in_every_table(study, tmp_path):
    runs = copied(study, tmp_path)
    name = next(run.session.id for run in runs.readable([]))
    path = runs.path(name) / "run.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    gone = next(one for one in plain["responses"] if one["phase"] == "post")
    gone["missing"] = dict.fromkeys(gone["answers"], "refusal: it declined")
    gone["answers"] = {}
    plain["status"] = "partial"
    path.write_text(json.dumps(plain), encoding="utf-8")
    (path.parent / "SHA256SUMS").unlink()
    for score in (runs.folder / SCORES).glob("dri.*"):
        score.unlink()
    written = export_bench(runs, tmp_path / "out")
    frame = pd.read_csv(written.folder / "dri_individual.csv")
    own = frame[(frame["session"] == name) & (frame["phase"] == "post")]
    assert np.isnan(own["dri_individual"]).all()
    assert own["note"].str.startswith("missing_answer").all()
    row = next(row for row in rows_of(written.folder, "runs") if row["session"] == name)
    assert row["dri_note"] == "missing_answer"
    assert row["answers_missing_why"].startswith("refusal ")
