"""Every command that takes a study takes one of texts: it does its work, or says why not."""

import csv
import json
import sys

import pytest

from delibsim import plugins

TEXTS = "id,text,who\na,We should pay.,Ann\nb,,Ben\nc,=No.,Ann\n"
SCORER = '''
import math

from delibsim import Measure


class Length:
    """How many words a text has; undefined for an empty one."""

    name, version, on_request = "length", 1, True
    measures = (
        Measure(id="length.score", label="words", definition="Words.", source="here", unit="n"),
    )

    def score(self, runs):
        return []

    def table(self, texts):
        self.watch("counted", len(texts), len(texts))
        return [self.row(text) for text in texts]

    def row(self, text):
        n = len(text.split()) or math.nan
        note = "" if text else "empty"
        told = {"length.coder": "counter", "length.note": note}
        return {"length.score": float(n), **told}
'''


def forget():
    plugins._installed.cache_clear()
    plugins.declared.cache_clear()


@pytest.fixture
def pilot(delibsim, home):
    """A study of three texts, one of them empty."""
    (home / "said.csv").write_text(TEXTS, encoding="utf-8")
    assert delibsim("import", "pilot", "said.csv", "--as", "texts").code == 0
    return home / "runs" / "pilot"


@pytest.fixture
def scorer(home, monkeypatch):
    """A plug-in scorer that reads single texts, found by its entry point like any other."""
    about = home / "site" / "length-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: length\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[delibsim.scorers]\nlength = length_scorer:Length\n")
    (home / "site" / "length_scorer.py").write_text(SCORER)
    monkeypatch.syspath_prepend(home / "site")
    forget()
    yield
    forget()
    sys.modules.pop("length_scorer", None)


def test_its_texts_are_scored_like_those_of_a_file(pilot, scorer, delibsim, home):
    answer = delibsim("score", "pilot", "--scorer", "length")
    assert answer.code == 3
    assert "length.score: mean 2.000, SD 1.414, 2 of 3 texts" in answer.out
    assert "undefined: 1 text: empty" in answer.out
    lines = (pilot / "scores" / "length.v1.jsonl").read_text(encoding="utf-8").splitlines()
    found = {score["target"]: score for score in map(json.loads, lines)}
    assert (found["a"]["unit"], found["a"]["value"], found["a"]["coder"]) == ("text", 3, "counter")
    assert (found["b"]["value"], found["b"]["note"]) == (None, "empty")
    details = pilot / "scores" / "details" / "length.v1.jsonl"
    assert json.loads(details.read_text(encoding="utf-8").splitlines()[2])["target"] == "c"
    of_file = delibsim("score", "said.csv", "--scorer", "length", "--json").json
    of_study = delibsim("score", "pilot", "--scorer", "length", "--json").json
    assert of_study["rows"] == of_file["rows"]
    assert of_study["mean"] == of_file["mean"] == 2


def test_its_texts_and_scores_are_exported(pilot, scorer, delibsim):
    delibsim("score", "pilot", "--scorer", "length")
    answer = delibsim("export", "pilot", "--spreadsheet-safe", "--json")
    assert answer.code == 0
    rows = answer.json["rows"]
    assert (rows["texts"], rows["scores"], rows["runs"]) == (3, 3, 0)
    with (pilot / "tables" / "texts.csv").open(encoding="utf-8-sig", newline="") as file:
        texts = list(csv.DictReader(file))
    assert [row["text"] for row in texts] == ["We should pay.", "", "'=No."]
    assert [row["facts.who"] for row in texts] == ["Ann", "Ben", "Ann"]
    with (pilot / "tables" / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        scores = list(csv.DictReader(file))
    assert [(row["target"], row["session"]) for row in scores] == [("a", ""), ("b", ""), ("c", "")]
    codebook = (pilot / "tables" / "codebook.csv").read_text(encoding="utf-8")
    assert "texts,text_id,text" in codebook


def test_status_counts_its_texts(pilot, delibsim):
    answer = delibsim("status", "pilot")
    assert (answer.code, "study pilot: 3 imported texts, no sessions" in answer.out) == (0, True)
    assert delibsim("status", "pilot", "--watch", "--json").json["texts"] == 3
    assert "pilot         0     0      3" in delibsim("status").out
    assert delibsim("status", "--json").json == [
        {"study": "pilot", "sessions": 0, "held": 0, "texts": 3}
    ]
