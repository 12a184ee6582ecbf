"""`delibsim code handout` and `collect`: packs for people, and their codes brought back."""

import csv
import html
import json
import re

import pytest
from pilot_texts import samples, study_of_texts

from delibsim.asking.texts import texts_of
from delibsim.domain.coding import Code
from delibsim.store.answers import Codings
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs


@pytest.fixture
def pilot(home):
    """A study of six texts, the last too short for the scheme."""
    return study_of_texts(home / "runs")


def form_of(folder):
    with (folder / "form.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_pages_hold_the_anchors_and_nothing_of_who_spoke(delibsim, home, study):
    runs = Runs(home / "runs", "s")
    assert delibsim("code", "handout", "s", "scheme=dqi3", "-o", "p", "--raters", "1").code == 0
    (page,) = [path.read_text() for path in (home / "p").glob("*.html")]
    scheme = Library(home).scheme("dqi3")
    for dimension in scheme.dimensions:
        for level in dimension.levels:
            assert html.escape(level.anchor) in page
    statement = runs.all()[0][0].transcript[0]
    assert html.escape(statement.text.splitlines()[0]) in page
    assert not re.search(r"Participant \d|citizen|normative|ccps|runs/", page, re.IGNORECASE)
    form = (home / "p" / "form.csv").read_text()
    assert study.name not in form


def test_a_text_on_a_page_is_inert(delibsim, home, pilot):
    delibsim("code", "handout", "pilot", "-o", "p", "--raters", "1")
    page = (home / "p" / "coder-1.html").read_text()
    assert "&lt;b&gt;now&lt;/b&gt;" in page
    assert "<b>now</b>" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"\bside\b|left|right", re.sub(r"<style>.*?</style>", "", page))


def test_the_same_texts_are_drawn_again_and_more_are_added(delibsim, home, pilot):
    _, codings = pilot

    def drawn(*options):
        answer = delibsim("code", "handout", "pilot", *options, "--json")
        assert answer.code == 0, answer.err
        name = answer.json["name"]
        return json.loads((codings.files.packs / f"{name}.json").read_text())

    first = drawn("--n", "2", "--raters", "Ann")
    other = drawn("--n", "2", "--raters", "Ben")
    more = drawn("--n", "4", "--raters", "Ann")
    assert first["texts"] == other["texts"]
    assert set(first["texts"]) < set(more["texts"])
    assert {sheet["text"] for sheet in more["sheets"].values()} == set(more["texts"]) - set(
        first["texts"]
    )
    assert set(more["texts"].values()) == {4 / 5}
    again = delibsim("code", "handout", "pilot", "--n", "4", "--raters", "Ann")
    assert again.code == 2
    assert "all 4 texts of this draw were handed out before" in again.err


def test_strata_are_drawn_in_proportion(delibsim, pilot):
    done = delibsim("code", "handout", "pilot", "--n", "3", "stratify=side", "-o", "p", "--json")
    assert done.json["strata"] == {"left": 2, "right": 1}


def test_a_training_round_is_kept_apart(delibsim, home, pilot):
    _, codings = pilot
    delibsim("code", "handout", "pilot", "training=true", "--n", "2", "-o", "t", "--raters", "Ann")
    delibsim("code", "handout", "pilot", "-o", "p", "--raters", "Ann")
    rows = form_of(home / "t")
    for row in rows:
        row["answer"] = "plan" if row["question"] == "kind" else "2"
    write(home / "t.csv", rows)
    assert "4 codes of training" in delibsim("code", "collect", "pilot", "t.csv").out
    codes = codings.people()
    assert all(code.training for code in codes)
    packs = [json.loads(path.read_text()) for path in codings.files.packs.glob("*.json")]
    kinds = {pack["kind"]: {sheet["text"] for sheet in pack["sheets"].values()} for pack in packs}
    assert not kinds["training"] & kinds["pack"]
    assert len(kinds["training"] | kinds["pack"]) == 5
    assert "a training round" in (home / "t" / "coder-1.html").read_text()


def test_codes_of_people_alone_are_scored_and_exported(delibsim, home):
    study_of_texts(home / "runs", begun=False)
    (home / "own.csv").write_text("text,Ann.justification\n1,1\n2,0\n3,1\n4,1\n5,0\n6,0\n")
    assert delibsim("import", "pilot", "own.csv", "--as", "codes", "scheme=dqi3").code == 0
    scored = delibsim("score", "pilot", "--scorer", "codes")
    assert scored.code == 0, scored.err
    assert "dqi3.justification (Ann): mean 0.500, SD 0.548, 6 of 6 texts" in scored.out
    assert delibsim("export", "pilot", "--json").json["rows"]["codes"] == 6
    assert delibsim("code", "replay", "pilot").code == 2


def test_codes_of_people_alone_stand_below_what_was_said(delibsim, home, study):
    first, *_ = texts_of(Runs(home / "runs", "s"))
    (home / "own.csv").write_text(f"text,Ann.justification\n{first.id},1\n")
    assert delibsim("import", "s", "own.csv", "--as", "codes", "scheme=dqi3").code == 0
    assert "dqi3.justification: Ann 1" in delibsim("show", "s", "--no-answers").out
    assert "dqi3.justification" in delibsim("score", "s", "--scorer", "codes", "--json").out
    other = delibsim("code", "ask", "s", "scheme=dqi3", "by=speaker")
    assert other.code == 2
    assert "people have coded with another scheme, unit, context or roles" in other.err


def test_a_text_that_was_edited_takes_no_code_of_its_pack(delibsim, home, pilot):
    runs, codings = pilot
    delibsim("code", "handout", "pilot", "-o", "p", "--raters", "Ann")
    rows = form_of(home / "p")
    for row in rows:
        row["answer"] = "plan" if row["question"] == "kind" else "2"
    write(home / "filled.csv", rows)
    texts = runs.folder / "texts.jsonl"
    texts.write_text(texts.read_text().replace("late again", "late once more"))
    done = delibsim("code", "collect", "pilot", "filled.csv")
    assert done.code == 2
    assert "text 2 was edited after" in done.err
    assert codings.people() == []


def test_an_edited_scheme_is_not_taken_for_the_one_of_a_pack(delibsim, home):
    runs, _ = study_of_texts(home / "runs", begun=False)
    (home / "schemes").mkdir()
    assert delibsim("code", "handout", "pilot", "scheme=complaint", "--n", "2").code == 0
    path = Library(home).schemes()["complaint"]
    text = path.read_text().replace("name: ", "name: Another ", 1)
    (home / "schemes" / "complaint.yaml").write_text(text)
    done = delibsim("code", "handout", "pilot", "scheme=complaint", "--n", "3")
    assert done.code == 2
    assert "is not the one by which pack" in done.err
    assert Codings.of(runs, "complaint").people() == []


@pytest.fixture
def in_doubt(home):
    """A study of forty texts: two models agree on all but those from 31 to 40."""
    texts = {str(i): f"We want the road number {i} closed, as it is loud." for i in range(1, 41)}
    runs, codings = study_of_texts(home / "runs", texts=texts)
    sure = {id: [1, 1, 1] for id in texts}
    codings.add(samples("reasons", "alpha", sure))
    other = {id: [0, 2, 2] if int(id) > 30 else [1, 1, 1] for id in texts}
    codings.add(samples("reasons", "beta", other))
    return runs, codings


def test_a_review_draws_half_by_doubt_and_keeps_the_chances(delibsim, home, in_doubt):
    _, codings = in_doubt
    done = delibsim("code", "handout", "pilot", "--n", "16", "-o", "r", "--json", "draw=doubt")
    assert done.code == 0, done.err
    draw = done.json["draw"]
    sure, doubtful = 16 * 0.5 / 40, 16 * (0.5 / 40 + 0.5 / 10)
    for id, chance in draw["texts"].items():
        assert chance == pytest.approx(doubtful if int(id) > 30 else sure)
    assert len(draw["texts"]) == 16
    assert set(draw["random"]) < set(draw["texts"])
    assert draw["among"] == 40
    kept = json.loads((codings.files.packs / f"{done.json['name']}.json").read_text())
    assert kept["texts"] == draw["texts"]
    assert kept["random"] == draw["random"]
    assert {row["sheet"] for row in form_of(home / "r")} == set(kept["sheets"])


def test_what_people_have_read_is_not_read_again(delibsim, home, in_doubt):
    _, codings = in_doubt
    codings.add([Code(str(i), "reasons", "Ann", "human", 1) for i in range(1, 31)], people=True)
    draw = delibsim("code", "handout", "pilot", "--n", "4", "-o", "r", "--json", "draw=doubt").json[
        "draw"
    ]
    assert sorted(draw["read"], key=int) == [str(i) for i in range(1, 31)]
    assert {draw["texts"][id] for id in draw["read"]} == {1.0}
    new = draw["texts"].keys() - set(draw["read"])
    assert len(new) == 4
    assert all(int(id) > 30 for id in new)
    assert not set(draw["random"]) & set(draw["read"])
    codings.add([Code(str(i), "reasons", "Ann", "human", 1) for i in range(31, 41)], people=True)
    assert "people have coded every text" in delibsim("code", "handout", "pilot", "draw=doubt").err


def test_a_review_says_what_it_drew(delibsim, in_doubt):
    done = delibsim("code", "handout", "pilot", "--n", "60", "--raters", "Ann,Ben", "draw=doubt")
    assert "drawn from 40 texts that models have coded: 40" in done.out
    assert "40 texts for 2 coders" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pilot", "dimension=reason"), "unknown dimension 'reason'; did you mean reasons?"),
        (("empty",), "has no codes of models by backing; ask for them: delibsim code ask empty"),
    ],
)
def test_what_cannot_be_reviewed_is_wrong_input(delibsim, home, in_doubt, words, message):
    study_of_texts(home / "runs", "empty")
    done = delibsim("code", "handout", *words, "draw=doubt")
    assert done.code == 2
    assert message in done.err


def test_a_review_says_which_texts_a_coder_has_from_an_earlier_pack(delibsim, in_doubt):
    delibsim("code", "handout", "pilot", "--raters", "Ann", "--n", "30", "-o", "p")
    done = delibsim("code", "handout", "pilot", "--n", "40", "--raters", "Ann,Ben", "draw=doubt")
    assert "drawn from 40 texts that models have coded: 40" in done.out
    assert "not handed out again, because an earlier pack holds them: Ann 30" in done.out


def test_a_level_that_people_write_in_other_capitals_is_the_same(delibsim, home, pilot):
    _, codings = pilot
    table = "text,coder,dimension,level\n1,Ann,kind,Plan\n2,Ann,kind,PAST\n"
    (home / "c.csv").write_text(table, encoding="utf-8")
    done = delibsim("import", "pilot", "c.csv", "--as", "codes")
    assert done.code == 0, done.err
    assert [code.level for code in codings.people()] == ["plan", "past"]


def test_what_programs_write_for_no_code_is_an_empty_cell(delibsim, home, pilot):
    table = "text,Ann.reasons,Ann.kind\r1,2,NA\r2,NaN,plan\r3,.,n/a\r"  # line ends of old programs
    (home / "c.csv").write_bytes(table.encode())
    done = delibsim("import", "pilot", "c.csv", "--as", "codes")
    assert (done.code, "2 codes kept, 0 known before, 4 cells left empty" in done.out) == (3, True)
