"""`delibsim import` and `delibsim list people` as a user types them."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from delibsim.analysis.human.people import BEFORE_AND_AFTER_IDS, BENCHMARK, CHANGES
from delibsim.cli.import_ import app as import_
from delibsim.cli.listing import app as listing
from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.library import Library

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(app, *words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def publish(folder, surveys=("tea",), spoil=False):
    """Published files of invented content: each survey has three items, two options, two people in
    a case called [b]Tea[/b].
    """
    folder.mkdir(exist_ok=True)
    instruments = [["type", "order", "statement", "name", "scale_max", "q_method"]]
    people = [["survey", "case", "stage_id", "pnum", "C1", "C2", "C3", "P1", "P2"]]
    for survey in surveys:
        instruments += [["C", k, f"{survey} {k}", survey, 5, "FALSE"] for k in (1, 2, 3)]
        instruments += [["P", k, f"option {k}", survey, "NA", "NA"] for k in (1, 2)]
        people += [
            [survey, "[b]Tea[/b]", 1, 1, 1, 2, 3, 1, 2],
            [survey, "[b]Tea[/b]", 1, 2, 5, 5, 4, 2, 1],
        ]
        people += [
            [survey, "[b]Tea[/b]", 2, 1, 1, 2, "x" if spoil else 4, 1, 2],
            [survey, "[b]Tea[/b]", 2, 2, 1, 3, 5, 2, 1],
        ]
    write(folder / "surveys.csv", instruments)
    write(folder / "human_data.csv", people)
    return folder


@pytest.fixture(scope="module")
def published():
    """What `delibsim list people` says of the published answers."""
    return json.loads(ask(listing, "people", PUBLISHED, "--json"))


@needs_published
def test_import_then_human_reproduces_the_published_means(home, published):
    said = ask(import_, "--as", "deliberr", PUBLISHED)
    assert "instruments: 20, in surveys/imported/deliberr" in said
    assert "answers: 526 people, before and after" in said
    assert "note: fnqcj: the instrument says 1 to 12" in said
    assert len(Library(home).survey("deliberr.ccps").considerations) == 33
    document = json.loads(ask(listing, "people", "--json"))
    assert [group["id"] for group in document["groups"]] == list(BENCHMARK)
    ccps = next(group for group in document["groups"] if group["id"] == "ccps")
    assert set(ccps) == {"id", "n", "pre", "post", "change"}
    assert ccps["n"] == 31
    assert ccps["pre"]["dri"] == pytest.approx(0.532, abs=0.0005)
    assert set(document["mean"]) == {"pre", "post", "change"}
    for part, names in (
        ("pre", BEFORE_AND_AFTER_IDS),
        ("post", BEFORE_AND_AFTER_IDS),
        ("change", CHANGES),
    ):
        assert set(ccps[part]) == set(document["mean"][part]) == set(names)
    assert document["mean"]["post"]["dri"] == pytest.approx(0.400, abs=0.0005)
    verdicts = [figure["verdict"] for figure in document["inference"]["published"]]
    assert verdicts.count("reproduced") == len(verdicts) - 17
    of_five = document["groups_of_five"]
    assert sum(topic["groups"] for topic in of_five["topics"]) == 77
    assert set(of_five["mean_of_topics"]["dri"]["change"]) == {
        "mean",
        "between_partitions",
        "between_groups",
        "undefined",
    }
    assert document == published, "published and imported answers give the same"


def test_the_report_on_people_is_a_page_with_its_tables(home):
    ask(import_, "--as", "deliberr", publish(home / "files"), "version=9.9")
    assert "written: report" in ask(listing, "people", "-o", "report", "partitions=0")
    page = (home / "report" / "report.html").read_text(encoding="utf-8")
    assert "Real citizen deliberations" in page
    assert "<script" not in page
    assert list((home / "report" / "tables").glob("*.csv"))


def test_a_small_import_and_what_it_says(home):
    said = ask(import_, "--as", "deliberr", publish(home / "files"), "version=9.9")
    assert (
        "answers: 2 people, before and after, in surveys/imported/deliberr/answers.csv;"
        " deliberations: 1" in said
    )
    survey = Library(home).survey("deliberr.tea")
    assert "deliberr 9.9" in survey.source
    before = {
        path.name: path.read_bytes() for path in (home / "surveys/imported/deliberr").iterdir()
    }
    ask(import_, "--as", "deliberr", home / "files", "version=9.9")
    (home / "files" / "human_data.csv").unlink()
    assert "answers: 2 people, kept from an earlier import" in ask(
        import_, "--as", "deliberr", home / "files", "version=9.9"
    )
    assert before == {
        path.name: path.read_bytes() for path in (home / "surveys/imported/deliberr").iterdir()
    }


def test_surveys_outside_the_benchmark_have_no_mean(home):
    ask(import_, "--as", "deliberr", publish(home / "files", ("tea", "ccps")), "-o", "elsewhere")
    (home / "taken").write_text("a file")
    with pytest.raises(WrongInput, match="a file is in its way"):
        ask(import_, "--as", "deliberr", "files", "-o", "taken")
    said = ask(listing, "people", "elsewhere/deliberr", "all=true", "by=case")
    assert "tea/[b]Tea[/b]" in said
    assert "No mean and no comparison with published figures: no answers of fnqcj" in said
    document = json.loads(ask(listing, "people", "elsewhere/deliberr", "--json"))
    assert [group["id"] for group in document["groups"]] == ["ccps"]
    assert document["inference"] is None
    assert document["mean"]["pre"]["dri"] is None
    assert "fnqcj" in document["mean"]["notes"]["dri"]
    assert "Left out as no topic of the benchmark: 1" in ask(
        listing, "people", "elsewhere/deliberr"
    )


def test_twelve_topics_that_start_alike_have_no_ceiling(home):
    publish(home / "files", BENCHMARK)
    document = json.loads(ask(listing, "people", "files", "--json"))
    assert document["inference"]["ceiling"]["beta"] is None
    found = {figure["figure"]: figure["verdict"] for figure in document["inference"]["published"]}
    assert {name for name, verdict in found.items() if verdict != "not reproduced"} == set()
    assert document["groups_of_five"] is None
    assert "NOT REPRODUCED" in ask(listing, "people", "files")


@pytest.mark.parametrize("folder", ["absent", "."])
def test_human_without_answers_says_what_to_type(home, folder):
    with pytest.raises(WrongInput, match="delibsim import PATH --as deliberr"):
        ask(listing, "people", folder)


def test_human_without_an_import_says_what_to_type(home):
    with pytest.raises(
        WrongInput, match=r"surveys/imported/deliberr: there is no such folder; import"
    ):
        ask(listing, "people")


def test_unknown_words_are_answered_with_those_that_exist(home):
    publish(home / "files")
    with pytest.raises(
        WrongInput, match="unknown kind of import 'delibber'; did you mean deliberr"
    ):
        ask(import_, "--as", "delibber", "files")
    with pytest.raises(WrongInput, match="unknown value of by 'cases'; did you mean case"):
        ask(listing, "people", "files", "by=cases")


SURVEY = """
id: trams
scale_max: 5
considerations: [{id: C1, text: Quiet streets.}, {id: C2, text: Schools first.}, {id: C3, text: Buses do as well.}]
preferences: [{id: P1, text: Build it.}, {id: P2, text: Leave it.}]
"""


def test_answers_of_the_users_own_are_imported_and_measured(home):
    (home / "surveys").mkdir()
    (home / "surveys" / "trams.yaml").write_text(SURVEY)
    people = [
        ["Ann", "pre", 1, 2, 3, 1, 2],
        ["Ben", "pre", 5, 4, 3, 2, 1],
        ["Ann", "post", 1, 2, 5, 1, 2],
        ["Ben", "post", 1, 4, 5, 1, 2],
    ]
    write(home / "mine.csv", [["participant", "stage", "C1", "C2", "C3", "P1", "P2"], *people])
    said = ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    assert "answers: 2 people, before and after, to survey trams, in answers/trams.csv" in said
    (group,) = json.loads(ask(listing, "people", "answers", "--json"))["groups"]
    assert (group["id"], group["n"]) == ("trams", 2)
    assert group["post"]["dri"] == pytest.approx(1)
    assert "mean of" not in ask(listing, "people", "answers")
    kept = (home / "answers" / "trams.csv").read_bytes()
    again = ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    assert "already there, nothing changed" in again
    assert "already there" not in said
    assert (home / "answers" / "trams.csv").read_bytes() == kept
    people[0][2] = 2
    write(home / "mine.csv", [["participant", "stage", "C1", "C2", "C3", "P1", "P2"], *people])
    with pytest.raises(
        WrongInput, match="of 2 people there and 2 here, 1 with other answers .Ann."
    ):
        ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    ask(import_, "--as", "answers", "mine.csv", "survey=trams", "--replace")
    write(
        home / "mine.csv",
        [
            ["participant", "stage", "C1", "C2", "C3", "P1", "P2", "survey"],
            *([*row, row[0]] for row in people),
        ],
    )
    with pytest.raises(WrongInput, match="names other surveys than trams: Ann"):
        ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    with pytest.raises(WrongInput, match="no row has trams"):
        ask(import_, "--as", "answers", "mine.csv", "survey=trams", "only=true")


def test_groups_of_five_that_leave_people_out_say_so_in_the_table_too(home):
    (home / "surveys").mkdir()
    (home / "surveys" / "trams.yaml").write_text(SURVEY)
    rows = [
        [f"p{k}", stage, *((1, 3, 5), (4, 2, 1))[k % 2], 1, 2]
        for stage in ("pre", "post")
        for k in range(10)
    ]
    header = ["participant", "stage", "C1", "C2", "C3", "P1", "P2"]
    write(home / "mine.csv", [header, *rows])
    ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    assert "without a DRI" not in ask(listing, "people", "answers", "partitions=20")
    rows[0][2:5] = [3, 3, 3]
    write(home / "mine.csv", [header, *rows])
    ask(import_, "--as", "answers", "mine.csv", "survey=trams", "--replace")
    said = ask(listing, "people", "answers", "partitions=20")
    assert (
        "trams: groups of five without a DRI are in no mean or slope here (50.0% before, 0.0%"
        " after, 50.0% change)" in said
    )
    assert "of 10 people 1 rated all considerations alike before and 0 after" in said


def test_faulty_answers_are_refused_line_by_line_or_left_out_by_name(home):
    (home / "surveys").mkdir()
    (home / "surveys" / "trams.yaml").write_text(SURVEY)
    people = [
        [who, stage, 1, 2, 3, 1, 2] for who in ("Ann", "Ben", "Cem") for stage in ("pre", "post")
    ]
    people[3][2:4] = [8, ""]
    write(home / "mine.csv", [["participant", "stage", "C1", "C2", "C3", "P1", "P2"], *people])
    with pytest.raises(
        WrongInput,
        match=(
            r"2 faults, nothing was imported.*\n  line 5, participant Ben: C2 is missing\n  line 5,"
            r" .* C1 has 8"
        ),
    ):
        ask(import_, "--as", "answers", "mine.csv", "survey=trams")
    assert not (home / "answers").exists()
    left = CliRunner().invoke(
        import_, ["--as", "answers", "mine.csv", "survey=trams", "leave_out=true"]
    )
    assert left.exit_code == 3
    assert "answers: 2 people" in left.output
    assert "left out: 1 person (Ben)" in left.output
    with pytest.raises(WrongInput, match="name one file and the survey"):
        ask(import_, "--as", "answers", "mine.csv")
