"""`delibsim compare handout` and `collect`, several studies, and scores back: what a user sees."""

import csv
import json

import pytest

from delibsim import Runs
from delibsim.plugins import names

INSTALLED = "pairs" in names("delibsim.scorers")
NOT_INSTALLED = "the entry point of the scorer pairs is not installed; install delibsim again"
TEXTS = "id,topic,text\n" + "".join(f"t{n},x,Text {n} because of {n}.\n" for n in range(4))
EXPORT = ("compare", "handout", "demo", "dimension=logical", "--raters", "Ann,Ben", "-o", "p")


@pytest.fixture
def study_of_texts(delibsim, home):
    (home / "t.csv").write_text(TEXTS)
    columns = ("column=text", "id=id", "group=topic")
    assert delibsim("import", "demo", "t.csv", *columns, "--as", "texts").code == 0
    return home


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answered(folder, rows):
    """Fill in so many rows of a form: the text with the lower id is better."""
    (pack,) = (folder / "runs/demo/annotations/compare-main/packs").iterdir()
    key = json.loads(pack.read_text())["sheets"]
    lines = (folder / "p/form.csv").read_text().splitlines()
    for n in range(1, rows + 1):
        cells = lines[n].split(",")
        cells[-1] = "A" if key[cells[1]]["a"] < key[cells[1]]["b"] else "B"
        lines[n] = ",".join(cells)
    (folder / "p/form.csv").write_text("\n".join(lines) + "\n")


def test_a_pack_is_exported_filled_in_and_reported(delibsim, study_of_texts):
    found = delibsim(*EXPORT)
    assert found.code == 0
    assert "6 pairs for 2 raters: 14 sheets, of which 2 repeated" in found.out
    assert sorted(path.name for path in (study_of_texts / "p").iterdir()) == [
        "form.csv",
        "rater-1.html",
        "rater-2.html",
    ]
    empty = delibsim("compare", "collect", "demo", "p/form.csv")
    assert (empty.code, "14 cells left empty" in empty.out) == (4, True)
    answered(study_of_texts, 7)
    some = delibsim("compare", "collect", "demo", "p/form.csv")
    assert (some.code, "7 votes kept, 0 known before, 7 cells left empty" in some.out) == (3, True)
    assert "Ann: 1 of 1 repeated sheet answered alike" in some.out
    answered(study_of_texts, 14)
    whole = delibsim("compare", "collect", "demo", "p/form.csv", "--json")
    assert (whole.code, whole.json["new"], whole.json["known"]) == (0, 7, 7)
    report = delibsim("compare", "report", "demo", "judges=pooled", "--json").json
    counts = {row["judge"]: (row["planned"], row["answered"]) for row in report["tables"]["counts"]}
    assert counts == {"Ann": (7, 7), "Ben": (7, 7)}
    assert [row["id"] for row in report["tables"]["scores"]] == ["t0", "t1", "t2", "t3"]
    assert delibsim("export", "demo").code == 0
    votes = table(study_of_texts / "runs/demo/tables/votes.csv")
    assert {row["judge_kind"] for row in votes} == {"human"}
    assert len(votes) == 14
    book = table(study_of_texts / "runs/demo/tables/codebook.csv")
    assert set(votes[0]) <= {row["name"] for row in book if row["table"] == "votes"}


def test_wrong_words_about_packs_end_in_one_line(delibsim, study_of_texts):
    assert delibsim(*EXPORT).code == 0
    for words, told in {
        EXPORT: "p exists; name another folder with -o",
        ("import", "demo", "p/form.csv", "--as", "pairs"): "unknown column",
    }.items():
        assert told in delibsim(*words).err
    (study_of_texts / "p/form.csv").write_bytes("pack,sheet\nB\xe4r,x\n".encode("latin-1"))
    assert "line 2 is not UTF-8" in delibsim("compare", "collect", "demo", "p/form.csv").err


def test_several_studies_are_compared_and_scores_come_back(delibsim, study, home):
    root = study.parent.parent
    kept = Runs(root, "s")
    copy = Runs(root, "s2")
    (copy.folder).mkdir()
    for name in ("study.json", "fingerprints.jsonl"):
        if (kept.folder / name).exists():
            told = (kept.folder / name).read_text().replace('"study": "s"', '"study": "s2"')
            (copy.folder / name).write_text(told)
    for run in kept.readable([]):
        copy.plan(run.session)
        copy.add(run)
    ask = ("compare", "ask", "s", "s2", "name=ab", "dimension=logical", "model=citizen")
    refused = delibsim(*ask)
    assert refused.code == 2
    assert "word for word alike" in refused.err
    found = delibsim(*ask, "keep_equal=true", "--json")
    assert (found.code, found.json["study"], found.json["name"]) == (0, "ab", "ab")
    assert delibsim("compare", "replay", "ab").code == 0
    assert "name=NAME" in delibsim("compare", "ask", "s", "s2", "dimension=logical").err
    if not INSTALLED:
        pytest.skip(NOT_INSTALLED)
    assert delibsim("score", "s", "--scorer", "pairs").code == 0
    scored = next((kept.folder / "scores").glob("pairs.*"))
    lines = scored.read_text().count("\n")
    assert delibsim("export", "s", "-o", "out").code == 0
    measures = {row["measure"] for row in table(home / "out/measures.csv")}
    assert "pairs.ab.logical" in measures
    rows = [row for row in table(home / "out/scores.csv") if row["measure"] == "pairs.ab.logical"]
    assert {row["coder"] for row in rows} == {"ab"}
    assert len(rows) == lines
    more = [*ask[:-2], "dimension=[logical,rhetorical]", "model=citizen", "keep_equal=true"]
    assert delibsim(*more).code == 0
    assert scored.read_text().count("\n") == 2 * lines  # scores are never older than votes
    assert "of 4 texts" in delibsim("score", "ab", "--scorer", "pairs").out


@pytest.mark.skipif(not INSTALLED, reason=NOT_INSTALLED)
def test_judgments_alone_and_imported_texts_are_scored_by_id(delibsim, study_of_texts):
    (study_of_texts / "p.csv").write_text("a,b,outcome\nt0,t1,a\nt1,t2,a\nt2,t0,tie\n")
    for study in ("demo", "alone"):
        assert delibsim("import", study, "p.csv", "--as", "pairs").code == 0
        found = delibsim("score", study, "--scorer", "pairs")
        assert found.code == (3 if study == "demo" else 0)
        assert f"3 of {4 if study == 'demo' else 3} texts" in found.out
        lines = (study_of_texts / f"runs/{study}/scores/pairs.v1.jsonl").read_text().splitlines()
        scores = {one["target"]: one for one in map(json.loads, lines)}
        assert scores["t0"]["value"] > 0 > scores["t2"]["value"]
        if study == "demo":
            assert "t3" not in scores
