"""Exports: the same tables in CSV, Parquet and R, any text unchanged, and one whole export in its
place at every moment.
"""

import asyncio
import csv
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import duckdb
import pandas as pd
import pytest
import warm

from delibsim import compose
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Participant
from delibsim.domain.score import Score
from delibsim.domain.transcript import Statement
from delibsim.engine.forum import hold
from delibsim.models.base import Completion, Usage
from delibsim.models.citizen.citizen import Citizen
from delibsim.models.replay import Recorder
from delibsim.store import files
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import COLUMNS, TABLES
from delibsim.store.tables.study import export, tables
from delibsim.testing import a_run

HOSTILE = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'quoted", "plain", "NA", "NaN", "NULL", "\\N", "TRUE", "1", "-0",
    "1e5", "0x1F",    'a "quoted" word, and a comma; a semicolon', '"', '""', "two\nlines", "three\r\nlines\rhere",
    "tab\there", "  spaces  ",
    "#comment", "%s {x} $x",     "日本語のテキスト", "العربية نص", "हिन्दी", "Ελληνικά", "עברית", "ไทย",
    "🗳️👩‍👩‍👧‍👦", "e\u0301 é", "\u202ereversed\u202c", "zero\u200bwidth", "\ufeffmark",
    "line\u2028separator", "\x85next", "\x01\x08\x0b\x0c\x1a\x1b[31m\x7f", "\U0010ffff", "back\\slash\\", "a\\u0000b", "x" * 70_000,
)  # fmt: skip
BROKEN = {
    "nul\0character": "nul\\u0000character",
    "half \ud83d of one": "half \\ud83d of one",
    "\udc00": "\\udc00",
}


class Says:
    """A language model that says what is set before it and answers as the citizen does."""

    name = "citizen"

    def __init__(self, texts):
        self._texts, self._citizen = list(texts), Citizen(population=1)

    async def complete(self, prompt, seed):
        if prompt.purpose.occasion.startswith("turn"):
            return Completion(
                self._texts[int(prompt.purpose.occasion.split()[1]) - 1],
                usage=Usage(),
                model_requested="says",
            )
        return await self._citizen.complete(prompt, seed)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study in which every hostile text was said, recorded and written as it was; halves of
    characters stand in the record only.
    """
    runs = Runs(tmp_path_factory.mktemp("hostile") / "runs", "=study, \"of\" 'texts'")
    session = a_run("s", participants=2).session
    session = replace(
        session, wording=compose("topic=ccps").wording, treatment=replace(session.treatment, rounds=(len(HOSTILE) + 1) // 2),
        participants=(Participant("=Ann", "-a\npersona"), Participant("@Bö, \"b\"")),
        procedure=replace(session.procedure, longest_statement=None),
    )  # fmt: skip
    runs.settle(Manifest(runs.study, {}, {}))
    runs.plan(session)
    texts = [*HOSTILE, "odd"][: 2 * session.treatment.rounds]
    voice = Recorder(Says(texts), lambda exchange: runs.record("s", exchange.record()))
    run = asyncio.run(hold(session, {"citizen": voice}))
    runs.add(run)
    record = runs.exchanges("s")[0][-1]
    for broken in BROKEN:
        runs.record("s", record | {"completion": record["completion"] | {"text": broken}})
    assert [statement.text for statement in run.transcript] == list(map(as_said, texts))
    return runs


def as_said(text):
    """What the form of reply takes for speech: space at the ends and a byte-order mark are no part
    of it.
    """
    return text.strip().removeprefix("\ufeff")


def read_csv(path):
    """A CSV file as a careful reader reads it: empty cells are missing, nothing else is."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def text_of(value, kind):
    """A value as it stands in a CSV file."""
    if value is None or value is pd.NA or value != value:
        return ""
    if kind == "logical":
        return "TRUE" if value else "FALSE"
    return repr(float(value)) if kind == "number" else str(value)


def whole(folder):
    """Assert that a folder holds one export and nothing else, to the byte; its manifest."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert {path.name for path in folder.iterdir()} == {*manifest["files"], "manifest.json"}
    for name, told in manifest["files"].items():
        data = (folder / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (told["bytes"], told["sha256"]), (
            name
        )
    return manifest


# any text


def test_any_text_is_the_same_in_record_csv_and_parquet(hostile, tmp_path):
    written = export(hostile, tmp_path / "out", ("csv", "parquet"))
    manifest = whole(tmp_path / "out")
    frames, faults = tables(hostile)
    assert faults == []
    assert set(manifest["files"]) == {
        f"{table}.{kind}" for table in TABLES for kind in ("csv", "parquet")
    } | {"codebook.csv", "codebook.md"}
    for table, columns in COLUMNS.items():
        rows = read_csv(tmp_path / "out" / f"{table}.csv")
        parquet = duckdb.read_parquet(str(tmp_path / "out" / f"{table}.parquet"))
        assert (
            parquet.columns
            == [column.name for column in columns]
            == (list(rows[0]) if rows else parquet.columns)
        )
        assert len(rows) == written.rows[table] == manifest["rows"][table] == len(frames[table])
        for row, same, frame in zip(
            rows, parquet.fetchall(), frames[table].itertuples(index=False), strict=True
        ):
            for column, value, ours in zip(columns, same, frame, strict=True):
                ours = BROKEN.get(ours, ours) if isinstance(ours, str) else ours
                assert (
                    row[column.name] == text_of(value, column.kind) == text_of(ours, column.kind)
                ), (table, column.name)
    said = [row["text"] for row in read_csv(tmp_path / "out" / "statements.csv")]
    assert said[: len(HOSTILE)] == list(map(as_said, HOSTILE))
    replies = [row["reply"] for row in read_csv(tmp_path / "out" / "calls.csv")]
    assert set(HOSTILE) <= set(replies)
    assert replies[-len(BROKEN) :] == list(BROKEN.values())
    assert manifest["escaped"] == written.escaped == {"calls.reply": len(BROKEN)}


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not on this machine")
def test_r_reads_every_table_as_it_is(hostile, tmp_path):
    export(hostile, tmp_path / "out")
    script = """
    for (name in commandArgs(TRUE)) {
      d <- read.csv(file.path("out", paste0(name, ".csv")), na.strings = "", encoding = "UTF-8")
      cat(name, nrow(d), paste(sapply(d, function(x) class(x)[1]), collapse = " "), "\\n")
      key <- c(statements = "text", calls = "reply")[name]
      if (!is.na(key)) for (x in d[[key]]) cat(":", paste(charToRaw(enc2utf8(x)), collapse = ""), "\\n", sep = "")
    }
    """
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", script, *TABLES],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    heads = {line.split()[0]: line.split()[1:] for line in lines if line[0] != ":"}
    found = [bytes.fromhex(line[1:]).decode() for line in lines if line[0] == ":"]
    ours = [row["text"] for row in read_csv(tmp_path / "out" / "statements.csv")] + [
        row["reply"] for row in read_csv(tmp_path / "out" / "calls.csv")
    ]
    assert found == [text.replace("\r\n", "\n").replace("\r", "\n") for text in ours], (
        "base R reads every line end as one"
    )
    for table, columns in COLUMNS.items():
        rows = read_csv(tmp_path / "out" / f"{table}.csv")
        assert int(heads[table][0]) == len(rows)
        for column, kind in zip(columns, heads[table][1:], strict=True):
            if any(row[column.name] for row in rows) and column.kind != "text":
                assert (
                    kind
                    in {
                        "integer": {"integer"},
                        "number": {"numeric", "integer"},
                        "logical": {"logical"},
                    }[column.kind]
                ), column.name


def test_a_spreadsheet_safe_export_holds_no_formula_and_loses_nothing(hostile, tmp_path):
    export(hostile, tmp_path / "plain")
    written = export(hostile, tmp_path / "safe", ("csv", "parquet"), spreadsheet_safe=True)
    assert whole(tmp_path / "safe")["spreadsheet_safe"]
    assert whole(tmp_path / "plain")["spreadsheet_safe"] is False
    changed = 0
    for table, columns in COLUMNS.items():
        path = tmp_path / "safe" / f"{table}.csv"
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        with path.open(encoding="utf-8-sig", newline="") as file:
            safe = list(csv.DictReader(file))
        for row, plain in zip(safe, read_csv(tmp_path / "plain" / f"{table}.csv"), strict=True):
            for column in columns:
                cell, text = row[column.name], plain[column.name]
                changed += cell != text
                assert cell in (text, f"'{text}")
                if column.kind == "text":
                    assert cell[:1] not in tuple("=+-@\t\r\n＝＋－＠")
    assert changed > 2 * len(TABLES)
    texts = (
        duckdb.read_parquet(str(tmp_path / "safe" / "statements.parquet"))
        .project("text")
        .fetchall()
    )
    assert ("=1+1",) in texts, "Parquet is no spreadsheet"
    assert written.rows["statements"] >= len(HOSTILE)


def test_negative_numbers_are_no_formulas(tmp_path):
    runs = Runs(tmp_path / "runs", "s")
    runs.write_scores("x", 1, [Score("m", "run", "gone", -0.25)])
    export(runs, tmp_path / "out", spreadsheet_safe=True)
    (row,) = csv.DictReader(
        (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8-sig").splitlines()
    )
    assert row["value"] == "-0.25"


# one whole export in its place


def test_the_same_study_gives_the_same_bytes(hostile, tmp_path):
    both = [tmp_path / "one", tmp_path / "two"]
    for folder in both:
        export(hostile, folder, ("csv", "parquet"))
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in both)
    assert one == two


def test_an_export_replaces_an_older_one_and_nothing_else(hostile, tmp_path):
    out = tmp_path / "out"
    export(hostile, out, ("csv", "parquet"))
    export(hostile, out)
    assert not list(out.glob("*.parquet")), "nothing of the old export is left beside the new one"
    whole(out)
    (out / "analysis.R").write_text("# my work")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(WrongInput, match=r"analysis\.R"):
        export(hostile, out)
    with pytest.raises(WrongInput, match="is a file"):
        export(hostile, out / "analysis.R")
    with pytest.raises(WrongInput, match="holds what no export wrote"):
        export(hostile, hostile.folder)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_that_fails_leaves_the_old_one(hostile, tmp_path):
    out = tmp_path / "out"
    export(hostile, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    code = """
import resource, signal, sys
from pathlib import Path
from delibsim.store.tables.study import export
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    export(Runs.at(Path(sys.argv[1])), Path(sys.argv[2]))
except OSError as error:
    print(error.strerror)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, hostile.folder, out],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "File too large\n"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


EXPORT_AGAIN_AND_AGAIN = """
import itertools, sys
from pathlib import Path
from delibsim.store.tables.study import export
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
for turn in itertools.count():
    export(Runs.at(Path(sys.argv[1])), Path(sys.argv[2]), ("csv",), spreadsheet_safe=bool(turn % 2))
    print(turn, flush=True)
"""


@pytest.mark.slow
def test_killed_at_any_moment_a_whole_export_is_in_its_place(tmp_path):
    runs = Runs(tmp_path / "runs", "s")
    runs.settle(Manifest(runs.study, {}, {}))
    for k in range(20):
        run = a_run(f"s{k}")
        runs.plan(run.session)
        runs.add(
            replace(
                run,
                transcript=tuple(Statement(said.turn, f"={said.text}") for said in run.transcript),
            )
        )
    out = tmp_path / "out"
    export(runs, out)
    moments = random.Random(20261121)
    seen, left = set(), 0
    for _ in range(8):
        reader, writer = os.pipe()
        program = ("-c", EXPORT_AGAIN_AND_AGAIN, runs.folder, out)
        with open(os.devnull, "rb") as nothing:
            streams = [nothing.fileno(), writer, sys.__stderr__.fileno()]
            process = warm.Process(program, tmp_path, os.environ, streams)
        os.close(writer)
        with open(reader, "rb") as said:
            for _ in range(moments.randint(1, 2)):
                assert said.readline()
            time.sleep(moments.random() * 0.05)
            process.kill()
            assert process.wait() == -signal.SIGKILL
        seen.add(whole(out)["spreadsheet_safe"])
        left += len(list(tmp_path.glob(".out.*.tmp")))
    assert seen == {False, True}
    assert left, "it was never killed in mid-export"
    export(runs, out)
    whole(out)
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "out"}, (
        "what killed processes left is removed"
    )


def test_the_old_folder_or_the_new_one_is_there_at_every_step(tmp_path, monkeypatch):
    out = tmp_path / "out"
    with files.staged(out) as new:
        (new / "a").write_text("old")
    steps = []
    rename = os.rename
    monkeypatch.setattr(os, "rename", lambda *names: (steps.append(names), rename(*names)))
    with files.staged(out) as new:
        (new / "a").write_text("new")
        assert (out / "a").read_text() == "old"
    assert (out / "a").read_text() == "new"
    if sys.platform == "linux":
        assert steps == [], "two names were exchanged in one step"
    monkeypatch.setattr(files.ctypes, "CDLL", lambda name: object())
    with files.staged(out) as new:
        (new / "a").write_text("newer")
    assert len(steps) == 3, "a system that cannot exchange names renames"
    assert (out / "a").read_text() == "newer"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_another_export_under_way_is_left_alone(tmp_path):
    out = tmp_path / "out"
    with files.staged(out) as first:
        (first / "a").write_text("first")
        with files.staged(out) as second:
            (second / "a").write_text("second")
        assert (first / "a").read_text() == "first"
        assert (out / "a").read_text() == "second"
    assert (out / "a").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
