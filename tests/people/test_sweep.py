"""What goes with the words of a person, and what stays: lines, files, and what is left of kills."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.domain.word_differences import Quoted, quoted
from delibsim.people.sweep import Gone, sweep
from delibsim.store.runs import Runs
from delibsim.store.session_files import lay_tombstone, why_withdrawn

HERS = "The quagga bridge must be painted violet before anybody crosses."
NOTHING = Quoted(frozenset())


@pytest.fixture
def runs(tmp_path):
    made = Runs(tmp_path, "s")
    for name in ("a.r1", "a.r10"):
        (made.folder / name).mkdir(parents=True)
        (made.folder / name / "session.json").write_text("{}", encoding="utf-8")
        (made.folder / name / "run.json").write_text(json.dumps(HERS), encoding="utf-8")
    (made.folder / "study.json").write_text("{}", encoding="utf-8")
    return made


def write(runs, place, text):
    path = runs.folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_lines_go_that_name_the_session_or_quote_and_no_others(runs):
    lines = [
        {"target": "a.r1"},
        {"target": "a.r1/3", "note": ""},
        {"target": "a.r10/3"},
        {"target": "b.r1", "messages": [{"content": f"<text>\n{HERS.upper()}\n</text>"}]},
        {"target": "b.r1", "messages": [{"content": "The bridge must be painted."}]},
        {"a.r1 reasons": "too_short"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"torn": "a.r1\n{"torn": "b'
    path = write(runs, "annotations/code-x/exchanges.jsonl", text)
    sweep(runs, Gone(quoted([HERS]), "a.r1"))
    left = path.read_text(encoding="utf-8").splitlines()
    assert left == [json.dumps(lines[2]), json.dumps(lines[4]), '{"torn": "b']


def test_what_aqua_keeps_beside_the_studies_goes_too(tmp_path, monkeypatch):
    (tmp_path / "aqua").mkdir()
    lines = [
        {"key": "1", "text": HERS, "german": "Die Quaggabrücke muss violett werden."},
        {"key": "2", "text": "The bus is late again, as it always is.", "german": "Der Bus."},
    ]
    kept = tmp_path / "aqua" / "translations.jsonl"
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    runs = Runs(tmp_path / "runs", "s")
    runs.folder.mkdir(parents=True)
    monkeypatch.chdir(runs.folder)  # not the folder in which AQuA was used
    sweep(runs, Gone(quoted([HERS]), "a.r1"))
    assert kept.read_text(encoding="utf-8") == json.dumps(lines[1]) + "\n"


def test_what_a_command_makes_again_goes_as_a_whole_and_its_command_is_told(runs):
    made = [
        write(runs, place, "anything")
        for place in (
            "scores/flags.v1.jsonl",
            "scores/details/codes.v1.jsonl",
            "scores/plugin.v1.jsonl",
            "tables/runs.csv",
            "bench/x.csv",
            "analysis/report.md",
        )
    ]
    made.append(write(runs, "sessions.jsonl", "anything"))
    told = sweep(runs, Gone(NOTHING, "a.r1"))
    assert [path for path in made if path.exists()] == []
    for command in ("score s", "export s", "export s --as bench", "analyze s"):
        assert any(f"; delibsim {command} makes " in line for line in told)


def test_of_scores_that_rest_on_one_run_those_of_other_runs_stay(runs):
    scores = [{"target": one, "value": 1.0} for one in ("a.r1", "a.r1/2", "a.r10", "a.r10/1")]
    details = [{"target": "a.r1/1", "german": "Die Bruecke"}, {"target": "a.r10/2", "text": HERS}]
    details.append({"target": "a.r10/1", "text": "Trams are quiet."})
    files = {}
    for place, rows in (("aqua.v2", scores), ("dri.v1", scores), ("details/aqua.v2", details)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        files[place] = write(runs, f"scores/{place}.jsonl", text)
    assert sweep(runs, Gone(quoted([HERS]), "a.r1")) == []
    left = {place: path.read_text(encoding="utf-8").splitlines() for place, path in files.items()}
    of_others = [json.dumps(row) for row in scores[2:]]
    assert left == {
        "aqua.v2": of_others,
        "dri.v1": of_others,
        "details/aqua.v2": [json.dumps(details[-1])],
    }
    sweep(runs, Gone(NOTHING, coders=frozenset(["p 1"])))
    assert files["aqua.v2"].read_text(encoding="utf-8").splitlines() == of_others


def test_of_what_a_task_asks_the_texts_of_a_session_go(runs):
    task = {"texts": {"a.r1/1": "x", "a.r10/1": "y"}, "prompt": HERS, "n": 3}
    path = write(runs, "annotations/code-x/task.json", json.dumps(task))
    sweep(runs, Gone(quoted([HERS]), "a.r1"))
    left = task | {"texts": {"a.r10/1": "y"}}
    assert json.loads(path.read_text(encoding="utf-8")) == left


def test_files_go_that_quote_and_what_a_killed_process_left(runs):
    quoting = [
        write(runs, "notes.html", f"<p>The quagga <b>bridge</b> must be painted {'violet'}</p>"),
        write(runs, "mine/a.csv", f'1,"{HERS}"\n'),
        write(runs, "annotations/code-x/.people.jsonl.00aa.tmp", "anything"),
        write(runs, ".tables.00aa.tmp/statements.csv", "anything"),
        write(runs, "tables/runs.parquet", b"\0PAR1"),
    ]
    kept = [
        write(runs, f".served.json.{os.getpid()}-00aa.tmp", "what this process is writing"),
        write(runs, "mine/b.csv", "1,The bridge\n"),
        write(runs, "annotations/code-x/task.json", "{}"),
        runs.folder / "study.json",
        runs.folder / "a.r10" / "run.json",
    ]
    told = sweep(runs, Gone(quoted([HERS]), "a.r1"))
    assert [path for path in quoting if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []
    assert any("mine/a.csv" in line for line in told)
    assert sweep(runs, Gone(quoted([HERS]), "a.r1")) == []


def test_opinions_go_one_by_one(runs):
    given = {"p/a": HERS, "p/b": "Trams are quiet.", "p/c": HERS}
    path = write(runs, "annotations/judge-x/opinions.json", json.dumps(given))
    sweep(runs, Gone(quoted([HERS]), coders=frozenset(["p/a"])))
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"p/b", "p/c"}
    sweep(runs, Gone(quoted([HERS]), "a.r1"))
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"p/b"}


def test_rows_of_a_coder_go_by_the_whole_name(runs):
    rows = [{"coder": "p 1", "level": 1}, {"coder": "p 11", "level": 1}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path = write(runs, "annotations/code-x/people.jsonl", text)
    sweep(runs, Gone(NOTHING, coders=frozenset(["p 1"])))
    assert path.read_text(encoding="utf-8") == json.dumps(rows[1]) + "\n"


def test_a_tombstone_is_laid_once_and_says_when_and_why(runs):
    folder = runs.path("a.r1")
    assert runs.held("a.r1")
    lay_tombstone(folder, "a.r1", 1.5, 10)
    first = (folder / "withdrawn.json").read_text(encoding="utf-8")
    lay_tombstone(folder, "a.r1")
    assert (folder / "withdrawn.json").read_text(encoding="utf-8") == first
    assert not runs.held("a.r1")
    assert runs.status("a.r1") == ""
    assert runs.exchanges("a.r1") == ([], 0)
    assert "was withdrawn on 20" in why_withdrawn(folder, "a.r1", "s")


WORD = st.text("abcdefgh", min_size=1, max_size=4)


@given(st.lists(WORD, min_size=3, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_whoever_is_quoted_whole_is_found(words, before, after):
    text = " ".join(words)
    assert quoted([text]).within(f"{before} {text.upper()}. {after}")
    assert quoted([text], but=[text]).runs == frozenset()


@given(st.lists(WORD, min_size=0, max_size=2))
def test_few_words_are_nobodys(words):
    assert not quoted([" ".join(words)]).within(" ".join([*words, *words]))
