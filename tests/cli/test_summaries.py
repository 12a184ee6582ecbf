"""`delibsim summarise`, `judge` and `summaries`: from a pile of opinions to a page."""

import csv
import json
import shutil
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from cases import cases_of

from delibsim import Runs, plugins
from delibsim.analysis.summaries import agreement, benchmark
from delibsim.conduct.summaries_report import judged_set
from delibsim.domain.reason import Reason
from delibsim.domain.summary import Slot, Summary
from delibsim.store.answers import Summaries
from delibsim.store.study_texts import opinions_of

CASES = cases_of(__file__)
REPORT = ("summarise", "report", "--figures", "none")
ROWS = """\
id,text,stance,minority,quarter
a1,"Trams are quiet, and the buses are full.",positive,no,north
a2,The buses are full and a tram would be clean.,positive,no,south
a3,"Yes, because the buses are late.",positive,no,north
a4,Rails are expensive.,negative,no,south
a5,It is too expensive for our town.,negative,no,north
a6,My violins would suffer from it.,negative,yes,south
a7,I keep bees and cannot say.,not sure,yes,north
a8,It depends on what the building costs.,not sure,no,south
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def study(delibsim, home, made):
    """A study whose opinions are summarised and judged; made once."""
    if not (made / "runs").exists():
        (home / "o.csv").write_text(ROWS)
        delibsim("import", "tram", "o.csv", "question=Should we build a tram?", "--as", "texts")
        words = ("sizes=4,all", "runs=2")
        answer = delibsim("summarise", "ask", "tram", *words, "model=citizen", "--json")
        assert (answer.code, answer.json["new"]) == (0, 3 * 2 * 2)
        judges = ("model=citizen", "group.size=2")
        answer = delibsim("judge", "ask", "tram", *judges, "controls=true", "--json")
        assert (answer.code, answer.json["sittings"]) == (0, {"ratings": 72, "controls": 24})
        more = ("asked=comparison", "k=2", "both_ways=true", "name=pairs")
        assert delibsim("judge", "ask", "tram", "model=citizen", *more).code == 0
        shutil.copytree(home / "runs", made / "runs")
    else:
        shutil.copytree(made / "runs", home / "runs")
    return home / "runs" / "tram"


def test_judgments_that_two_tasks_ask_for_are_planned_once(delibsim, study):
    before = judged_set(Runs(Path("runs"), "tram")).planned
    assert delibsim("judge", "ask", "tram", "model=citizen", "name=again").code == 0
    again = delibsim("judge", "ask", "tram", "model=citizen", "asked=both", "k=2", "name=more")
    assert again.code == 0
    one = judged_set(Runs(Path("runs"), "tram"))
    given = len(one.ratings[one.ratings["judge"] == "citizen"]) + len(one.comparisons)
    assert one.planned["citizen"] == given
    assert {name: n for name, n in one.planned.items() if name != "citizen"} == {
        name: n for name, n in before.items() if name != "citizen"
    }
    report = delibsim("summarise", "report", "tram", "--json")
    assert (report.code, any("are missing" in said for said in report.json["sentences"])) == (
        0,
        False,
    )


def test_summaries_and_opinions_are_shown_beside_each_other(delibsim, study):
    listed = delibsim(*REPORT, "tram", "text=all", "--json").json["summaries"]
    assert len(listed) == 12
    answer = delibsim(*REPORT, "tram", "text=extractive 8.1.1", "--json")
    assert {near["opinion"] for row in answer.json["sentences"] for near in row["nearest"]}
    own = delibsim(*REPORT, "tram", "text=a6", "--json").json["nearest"]
    whole = [row for row in own if row["summary"] == "extractive 8.1.1"]
    assert whole[0]["sentence"] == "My violins would suffer from it."
    assert whole[0]["similarity"] == pytest.approx(1)
    assert delibsim(*REPORT, "tram", "text=a99").code == 2


def test_replays_are_equal_and_a_changed_line_is_found(delibsim, study):
    assert delibsim("summarise", "replay", "tram").out == "tram, main: equal, 12 summaries\n"
    assert delibsim("judge", "replay", "tram", "name=main").code == 0
    file = study / "annotations" / "judge-main" / "annotations.jsonl"
    first, _, rest = file.read_text().partition("\n")
    changed = json.loads(first)
    changed["values"]["rep"] = 1 + changed["values"]["rep"] % 5
    file.write_text(f"{json.dumps(changed)}\n{rest}")
    answer = delibsim("judge", "replay", "tram", "name=main")
    assert (answer.code, "the record says" in answer.out) == (4, True)
    file.write_text(f"{first[:-9]}\n{rest}")
    assert (
        delibsim(
            "summarise", "report", "tram", "--tables", "gaps,overlap,least_represented", "--json"
        ).code
        == 3
    )


def test_what_is_not_there_yet_is_said_with_what_to_do(delibsim, home, study):
    shutil.rmtree(study / "annotations" / "judge-main")
    shutil.rmtree(study / "annotations" / "judge-pairs")
    answer = delibsim(*REPORT, "tram")
    assert (answer.code, "delibsim judge ask tram" in answer.err) == (4, True)
    shutil.rmtree(study / "annotations" / "summaries-main")
    answer = delibsim(*REPORT, "tram")
    assert (answer.code, "delibsim summarise ask tram" in answer.err) == (2, True)
    (home / "t.csv").write_text("id,text\n1,Yes.\n2,No.\n")
    delibsim("import", "plain", "t.csv", "--as", "texts")
    answer = delibsim("summarise", "ask", "plain")
    assert (answer.code, "question=" in answer.err) == (2, True)


def test_a_folder_of_studies_and_a_number_of_runs_are_told_apart(delibsim, study):
    shutil.copytree(study.parent, study.parent.parent / "others")
    words = ("sizes=4", "runs=3", "--dir", "others", "model=citizen", "--estimate")
    answer = delibsim("summarise", "ask", "tram", *words, "--json")
    assert answer.json["summaries"] == {"planned": 3, "held": 2, "waiting": 1}


def test_people_judge_on_paper_and_a_model_after_them(delibsim, home, study):
    pack = delibsim("judge", "handout", "tram", "name=p", "--raters", "1", "-o", "pack", "--json")
    assert (pack.code, pack.json["sheets"]) == (0, 12)
    assert delibsim("judge", "handout", "tram", "name=p", "-o", "other").code == 2
    taken = delibsim("judge", "handout", "tram", "name=p", "pack=more", "-o", "pack")
    assert (taken.code, "pack exists; name another folder with -o" in taken.err) == (2, True)
    shown = (home / "pack/rater-1.html").read_text()
    assert "extractive" not in shown
    assert shown.index("your own opinion") < shown.index("How far is") < shown.index("Summary A")
    key = json.loads((study / "annotations/judge-p/packs/people.json").read_text())["sheets"]
    form = home / "pack/form.csv"
    with form.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        said = {"opinion": "My own opinion", "check": str(key[line["sheet"]]["check"])}
        line["answer"] = said.get(line["question"], "1" if line["question"][1] == "_" else "4")
        if line["sheet"] == lines[0]["sheet"] and line["question"] == "check":
            line["answer"] = "1"
        if line["sheet"] == lines[10]["sheet"]:
            line["answer"] = ""
    with form.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    answer = delibsim("judge", "collect", "tram", form, "--json")
    assert answer.code == 3
    found = answer.json
    assert (found["new"], found["known"], found["empty"], found["missing"]) == (22, 0, 10, 2)
    assert "1 sheet with another check" in found["notes"][0]
    assert {own["rated_is_a"] for own in key.values()} == {True, False}
    again = delibsim("judge", "collect", "tram", form, "--json").json
    assert (again["new"], again["known"]) == (0, 22)
    asked = ("model=citizen", "people=true", "per_summary=1", "name=p")
    assert delibsim("judge", "ask", "tram", *asked).code == 0
    assert delibsim("judge", "replay", "tram", "name=p").code == 0
    found = delibsim("export", "tram", "--json").json
    assert found["rows"]["summary_comparisons"] > 0
    one = judged_set(Runs(Path("runs"), "tram"), "", "p")
    rows = list(agreement.judges([one]))
    assert {row["n"] for row in rows} == {10}
    assert {row["note"] for row in rows} == {
        "no_variance"
    }  # people gave 4 throughout: undefined, and not 0
    people = next(row for row in benchmark.places([one]) if row["judges"] == "people")
    assert (people["n"], people["share"]) == (10, 1.0)


def test_an_export_without_texts_holds_no_word_of_them_and_keeps_their_hashes(
    delibsim, home, study
):
    runs = Runs(study.parent, "tram")
    summaries = Summaries.of(runs, "main")
    refused = Reason("refusal", "I will not write of violins")
    summaries.add([Summary(Slot("shy", 8), missing=refused)])
    assert delibsim("export", "tram", "-o", "whole", "--json").code == 0
    bare = delibsim("export", "tram", "-o", "bare", "--format", "both", "--without-texts")
    assert bare.code == 0
    said = ("violins", "expensive", "north")
    both = {}
    for folder in ("whole", "bare"):
        files = [
            file.read_text() for file in (home / folder).glob("*") if file.suffix != ".parquet"
        ]
        both[folder] = [word in "".join(files) for word in said]
    assert both == {"whole": [True] * 3, "bare": [False] * 3}
    held = {text.sha256 for text in opinions_of(runs).texts}
    assert set(pd.read_csv("bare/texts.csv").sha256) == held
    made = pd.read_csv("bare/summaries.csv")
    assert set(made.sha256.dropna()) == {one.sha256 for one in summaries.all() if one.text}
    assert set(made.missing.dropna()) == {"refusal"}
    assert duckdb.sql("from 'bare/summaries.parquet'").columns == list(made.columns)
    for name in ("judgments", "summary_comparisons"):
        assert pd.read_csv(f"bare/{name}.csv").equals(pd.read_csv(f"whole/{name}.csv"))
    assert json.loads((home / "bare/manifest.json").read_text())["texts"] is False


PLUGIN = """\
class Lengths:
    def embed(self, texts):
        return [[len(text), text.count(" ")] for text in texts]


class Broken:
    def embed(self, texts):
        return [[float("nan")]]
"""


def test_an_embedding_may_be_a_plug_in_and_what_it_gives_is_checked(
    delibsim, home, study, monkeypatch
):
    place = home / "plugin"
    (place / "x-1.dist-info").mkdir(parents=True)
    (place / "own_points.py").write_text(PLUGIN)
    (place / "x-1.dist-info" / "METADATA").write_text("Name: x\nVersion: 1\n")
    names = "[delibsim.embeddings]\nlengths = own_points:Lengths\nbroken = own_points:Broken\n"
    (place / "x-1.dist-info" / "entry_points.txt").write_text(names)
    monkeypatch.syspath_prepend(place)
    plugins._installed.cache_clear()
    words = ("summarise", "ask", "tram", "groups=themes", "name=t", "runs=1")
    assert delibsim(*words, "embedding=lengths").code == 0
    answer = delibsim(
        "summarise",
        "report",
        "tram",
        "--tables",
        "gaps,overlap,least_represented",
        "summaries=main",
        "embedding=broken",
    )
    plugins._installed.cache_clear()
    assert (answer.code, "it must give a row of finite numbers a text" in answer.err) == (2, True)
    answer = delibsim(
        "summarise",
        "report",
        "tram",
        "--tables",
        "gaps,overlap,least_represented",
        "embedding=length",
        "summaries=main",
    )
    assert (answer.code, "built in are tfidf" in answer.err) == (2, True)


PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "summaries"
SCORES = "model,topic,size,characters,rep,inf,neu,pol\n" + "".join(
    f"{model},t{topic},10,{900 + topic},{score + topic / 100},0.5,0.5,\n"
    for model, score in (("a", 0.6), ("b", 0.5))
    for topic in range(3)
)
RATINGS = "question,summariser,size,dimension,rating,n\n" + "".join(
    f"t{topic},{model},10,representativeness,{rating},{2 + topic}\n"
    for model in "ab"
    for topic in range(3)
    for rating in (3, 4 + (model == "a"))
)
COMPARISONS = "dimension,comparison,n\nrep,1,50\nrep,3,10\nrep,5,20\n"


def test_published_scores_are_reported_without_a_text(delibsim, home):
    for name, text in (("s", SCORES), ("r", RATINGS), ("c", COMPARISONS)):
        (home / f"{name}.csv").write_text(text, encoding="utf-8")
    found = delibsim(*REPORT, "s.csv", "--json").json
    assert found["sentences"][0] == "s.csv: 6 summaries by 2 summarisers on 3 topics."
    scores = {(row["model"], row["dimension"]): row["score"] for row in found["tables"]["overall"]}
    assert scores["a", "rep"] == pytest.approx(0.61)
    assert scores["a", "overall"] is None  # one dimension of the four is missing
    assert {"pairs", "sizes", "topics", "equal_length", "length"} <= set(found["tables"])
    answer = delibsim(*REPORT, "r.csv", "c.csv", "-o", "both", "--json")
    assert answer.code == 0
    rated = {
        row["model"]: row["score"]
        for row in answer.json["tables"]["overall"]
        if row["dimension"] == "rep"
    }
    assert rated == pytest.approx({"a": (4 + 1) / 8, "b": (3.5 + 1) / 8})
    (row,) = answer.json["tables"]["place"]
    assert (row["n"], row["ties"], row["share"]) == (80, 10, pytest.approx(50 / 70))
    page = (home / "both" / "report.html").read_text(encoding="utf-8")
    assert "Published scores of summaries" in page
    assert "Scores of summarisers" in delibsim(*REPORT, "s.csv").out


def test_summaries_and_judgments_made_elsewhere_are_imported_once(delibsim, home):
    (home / "o.csv").write_text(ROWS)
    (home / "s.csv").write_text(
        "model,text\nours,Most want a tram.\nours,Some do.\ntheirs,It is dear.\n"
    )
    rows = []
    for judge in ("gpt", "ann", "ben"):
        for n in range(1, 7):
            opinion = f"a{n}"
            for summary in ("ours 8.1.1", "theirs 8.1.1"):
                rows.append(f"{judge},{summary},{opinion},,,{1 + (n + len(summary)) % 5},3,NA,4")
            both = "ours 8.1.1", opinion, "theirs 8.1.1", "ours 8.1.1"
            rows.append(f"{judge},{','.join(both)},{1 + (n + len(judge)) % 5},2,,")
    header = "judge,summary,opinion,other,first,rep,inf,neu,pol"
    for name, chosen in (("m", "gpt"), ("p", ("ann", "ben"))):
        lines = [header, *(row for row in rows if row.startswith(chosen))]
        (home / f"{name}.csv").write_text("\n".join(lines) + "\n")
    delibsim("import", "tram", "o.csv", "question=Should we build a tram?", "--as", "texts")
    judgments = ("import", "tram", "m.csv", "--as", "judgments")
    assert "has no summaries" in delibsim(*judgments).err
    for command, n in (
        (("import", "tram", "s.csv", "--as", "summaries"), 3),
        (judgments, 18),
        (("import", "tram", "p.csv", "--as", "judgments", "people=true", "name=p"), 36),
    ):
        first, again = (delibsim(*command, "--json").json for _ in range(2))
        assert (first["new"], again["new"], again["before"]) == (n, 0, n)
    answer = delibsim("judge", "report", "tram", "--json")
    assert answer.code == 0, answer.err
    tables = answer.json["tables"]
    assert {row["who"]: row["made"] for row in tables["counts"]} == {
        "ours": 2, "theirs": 1, "gpt": 18, "people": 36,
    }  # fmt: skip
    agreed = {row["dimension"]: row for row in tables["agreement"]}
    assert agreed["rep"]["spearman"] == pytest.approx(1.0), "all gave the same"
    additive = [row for row in tables["labels"] if row["label"] == "additive"]
    assert {row["dimension"]: row["n"] for row in additive} == {"rep": 12, "inf": 12}
    ordered = [row for row in tables["orderings"] if row["by"] == "comparisons"]
    assert {row["dimension"]: row["n"] + row["ties"] for row in ordered} == {"rep": 12, "inf": 12}
    for words in (("summarise", "replay"), ("judge", "ask"), ("judge", "replay", "name=main")):
        answer = delibsim(*words[:2], "tram", *words[2:])
        assert (answer.code, "imported" in answer.err) == (2, True), answer.err
    answer = delibsim("judge", "ask", "tram", "model=citizen", "name=c", "--json")
    assert (answer.code, answer.json["new"]) == (0, 24), "imported summaries are judged like any"
    answer = delibsim("replay", "tram")
    assert (answer.code, answer.out.count("imported")) == (0, 3), "nothing of them differs"


@pytest.mark.parametrize(("line", "told"), CASES["judgments_at_fault"])
def test_judgments_at_fault_are_refused_with_their_lines(delibsim, home, line, told):
    (home / "o.csv").write_text(ROWS)
    (home / "s.csv").write_text("model,text\nours,Most want a tram.\ntheirs,It is dear.\n")
    delibsim("import", "tram", "o.csv", "question=Should we build a tram?", "--as", "texts")
    delibsim("import", "tram", "s.csv", "--as", "summaries")
    header = "judge,summary,opinion,other,first,rep"
    (home / "m.csv").write_text(f"{header}\ngpt,ours 8.1.1,a1,,,3\n{line}\n")
    answer = delibsim("import", "tram", "m.csv", "--as", "judgments")
    assert (answer.code, told in answer.err) == (2, True), answer.err
    assert "nothing of it was kept" in answer.err
    assert not (home / "runs/tram/annotations/judge-main").exists()


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published aggregates are absent")
def test_the_published_aggregates_are_read(delibsim, home):
    files = ("human_ratings_counts.csv", "human_comparisons_counts.csv")
    found = delibsim(*REPORT, *(PUBLISHED / name for name in files), "--json").json
    assert found["sentences"][:2] == [
        "human_ratings_counts.csv: 18,000 ratings of 5 summarisers on 10 topics.",
        "human_comparisons_counts.csv: 18,000 comparisons.",
    ]
    words = (*REPORT, PUBLISHED / "judge_scores.csv", "intervals=cells", "--json")
    first = delibsim(*words).json["tables"]["overall"][0]
    assert (first["model"], first["n"]) == ("gpt-5-mini", 110)
    assert [first["score"], (first["high"] - first["low"]) / 2] == pytest.approx(
        [0.622, 0.004], abs=6e-4
    )


@pytest.mark.parametrize(("text", "fault"), CASES["tables_that_hold_no_scores_are_refused"])
def test_tables_that_hold_no_scores_are_refused(delibsim, home, text, fault):
    (home / "s.csv").write_text(text, encoding="utf-8")
    answer = delibsim(*REPORT, "s.csv")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert fault in answer.err


def test_two_files_of_one_kind_and_settings_of_studies_are_refused(delibsim, home):
    (home / "s.csv").write_text(SCORES, encoding="utf-8")
    (home / "t.csv").write_text(SCORES, encoding="utf-8")
    for words in (("s.csv", "t.csv"), ("s.csv", "by=district"), ("s.csv", "tram")):
        assert delibsim(*REPORT, *words).code == 2
