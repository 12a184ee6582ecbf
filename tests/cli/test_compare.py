"""`delibsim compare`: asked, replayed, reported and imported from the command line."""

import json

import pytest

ROWS = """\
id,topic,text
t1,trams,"We should build trams, because they carry many, since streets are narrow."
t2,trams,Trams are lovely.
t3,trams,"Trams cost too much, because rails are dear."
t4,parks,"Parks cool the town, because trees give shade."
t5,parks,Parks are nice.
"""
PAIRS = "a,b,outcome,who\nt1,t2,a,p1\nt2,t3,b,p1\nt3,t1,tie,p2\nt1,t2,b,p2\n"
ASK = ("compare", "ask", "demo", "dimension=logical", "model=citizen", "order=both")


def unread(row):
    """A line of the votes whose reply could not be read."""
    return {name: row[name] for name in row if name != "outcome"} | {"missing": "unreadable: A?"}


@pytest.fixture
def study(delibsim, home):
    (home / "texts.csv").write_text(ROWS)
    columns = ("column=text", "id=id", "group=topic")
    assert delibsim("import", "demo", "texts.csv", *columns, "--as", "texts").code == 0
    return home


def test_judgments_are_imported_once_and_reported_beside_those_of_models(delibsim, study):
    (study / "p.csv").write_text(PAIRS)
    command = ("import", "demo", "p.csv", "--as", "pairs", "columns=a,b,outcome,who", "name=p")
    assert delibsim(*command).code == 0
    again = delibsim(*command, "--json").json
    assert (again["new"], again["before"], again["judges"], again["pairs"]) == (0, 4, 2, 3)
    found = delibsim("compare", "report", "demo", "name=p", "--json").json
    assert {row["judge"] for row in found["tables"]["counts"]} == {"p1", "p2"}
    assert found["tables"]["order"][0]["dimension"] == "overall"
    delibsim(*ASK)
    answer = delibsim("compare", "report", "demo")
    assert answer.code == 2
    assert "name one: name=main" in answer.err
    assert delibsim(*ASK, "name=p").code == 2


def test_judges_stand_beside_people_and_differences_are_printed(delibsim, study):
    delibsim(*ASK)
    report = ("compare", "report", "demo")
    assert "has no votes of people" in delibsim(*report, "against=people").err
    (study / "p.csv").write_text(PAIRS)
    delibsim("import", "demo", "p.csv", "--as", "pairs", "columns=a,b,outcome,who", "name=who")
    asked = (*report, "name=main", "against=people", "difference=t1,t3", "--json")
    found = delibsim(*asked).json
    assert found["tables"]["against_labels"][0]["pairs"] == 3
    assert [(row["a"], row["b"]) for row in found["tables"]["differences"]] == [("t1", "t3")]
    assert found["not_given"]["against_tests"]["reason"] == "one_judge"
    for words, told in (
        (("against=whom",), "unknown other comparison of study demo 'whom'"),
        (("difference=t1,t9",), "unknown text 't9'"),
        (("difference=t1",), "give the ids of two texts, as ID,ID"),
        (("draws=-1",), "draws=-1: give a whole number"),
        (("zz",), "write it as key=value (name"),
    ):
        answer = delibsim(*report, "name=main", *words)
        assert (answer.code, told in answer.err) == (2, True), answer.err


def test_prompts_are_judges_of_their_own_in_one_report(delibsim, study):
    (study / "p.csv").write_text(PAIRS)
    people = ("import", "demo", "p.csv", "--as", "pairs", "columns=a,b,outcome,who", "name=people")
    for dimension in ("logical", "rhetorical"):
        assert delibsim(*people, f"dimension={dimension}").code == 0
    both = "dimension=[logical,rhetorical]"
    for name in ("zero", "few"):
        delibsim("compare", "ask", "demo", both, f"name={name}", "model=citizen", "design=all")
    report = ("compare", "report", "demo", "name=zero,few", "against=people")
    found = delibsim(*report, "--json").json["tables"]
    assert {row["judge"] for row in found["counts"]} == {"citizen, zero", "citizen, few"}
    assert all(row["calls"] for row in found["judges"])
    means = {row["judge"]: row for row in found["against_means"]}
    by_dimension = [row for row in found["against_labels"] if row["judge"] == "citizen, zero"]
    mean = sum(row["agreement"] for row in by_dimension) / 2
    assert means["citizen, zero"]["agreement"] == pytest.approx(mean)
    assert means["citizen, zero"]["dimensions"] == 2
    people, judge = (
        [row["score"] for row in found["against_scores"] if row["judge"] == who]
        for who in ("people", "citizen, few")
    )
    assert len(people) >= len(judge) > 2
    assert "is named twice" in delibsim("compare", "report", "demo", "name=zero,zero").err
    delibsim("compare", "ask", "demo", both, "name=chosen", "model=citizen", "design=adaptive")
    answer = delibsim("compare", "report", "demo", "name=zero,chosen")
    assert (answer.code, "chosen by its own votes" in answer.err) == (2, True), answer.err


def test_examples_are_the_clearest_judged_pairs_of_their_group_and_count_nowhere(delibsim, home):
    rows = [f"m{n},m,Matter {n} is so{' because it is' * n}." for n in range(5)]
    (home / "m.csv").write_text("id,topic,text\n" + "\n".join(rows) + "\n")
    delibsim("import", "m", "m.csv", "--as", "texts", "column=text", "id=id", "group=topic")
    judged = ["m4,m0,a", "m4,m1,a", "m4,m2,a", "m1,m3,b", "m2,m3,b", "m0,m3,b"]
    judged += ["m0,m1,tie", "m2,m1,tie", "m4,m3,tie", "m0,m2,b"]
    (home / "p.csv").write_text("a,b,outcome\n" + "\n".join(judged) + "\n")
    delibsim("import", "m", "p.csv", "--as", "pairs", "name=people")
    ask = ("compare", "ask", "m", "dimension=logical", "model=citizen", "design=all", "examples=3")
    assert delibsim(*ask, "examples_of=people").code == 0
    task = json.loads((home / "runs/m/annotations/compare-main/task.json").read_text())
    a, b, tie = task["judged_examples"]["logical"]["m"]
    assert (a, b) == (["m4", "m0", "a"], ["m0", "m3", "b"]), "the largest differences"
    assert tie[2] == "tie"
    calls = (home / "runs/m/annotations/compare-main/exchanges.jsonl").read_text().splitlines()
    assert ["Matter 4 is so" in call for call in calls] == [True] * 10
    found = delibsim("compare", "report", "m", "name=main", "against=people", "--json").json
    assert found["tables"]["against_labels"][0]["pairs"] == 10 - 3, "of ten pairs three were shown"
    assert delibsim("compare", "replay", "m", "name=main").out.startswith("m, main: equal")
    for words, told in (
        (("examples_of=main",), "from itself"),
        (("examples_of=nobody", "name=x"), "unknown comparison of study m 'nobody'"),
    ):
        answer = delibsim(*ask, *words)
        assert (answer.code, told in answer.err) == (2, True), answer.err
    answer = delibsim(*ask[:-1], "examples_of=people", "name=x")
    assert (answer.code, "is of examples=3" in answer.err) == (2, True), answer.err


def test_a_study_may_hold_judgments_alone(delibsim, home):
    (home / "p.csv").write_text("a,b,outcome,topic\nx,y,a,1\nx,y,b,2\n")
    command = ("import", "new", "p.csv", "--as", "pairs", "group=topic")
    found = delibsim(*command, "--json").json
    assert (found["texts"], found["groups"]) == (4, 2)
    ids = {
        row["id"] for row in delibsim("compare", "report", "new", "--json").json["tables"]["scores"]
    }
    assert ids == {"1:x", "1:y", "2:x", "2:y"}


WRONG = {
    "t1,t2,better,p1": "line 3: the outcome is 'better'; it must be a, b or tie",
    "t1,t1,a,p1": "line 3: t1 is compared with itself",
    "t1,t4,a,p1": "line 3: t1 is of group 'trams' and t4 of 'parks'",
    "t1,t9,a,p1": "line 3: no text of the study has the id 't9'",
    ",t2,a,p1": "line 3: the id of a text is empty",
    "t1,t2,a,": "line 3: the rater is empty",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_judgments_are_refused_with_their_lines_and_nothing_is_kept(delibsim, study, line):
    (study / "p.csv").write_text(f"a,b,outcome,who\nt1,t2,a,p1\n{line}\n")
    answer = delibsim("import", "demo", "p.csv", "--as", "pairs", "columns=a,b,outcome,who")
    assert answer.code == 2
    assert WRONG[line] in answer.err
    assert not (study / "runs/demo/annotations").exists()


def test_a_group_that_is_not_that_of_the_texts_is_refused(delibsim, study):
    (study / "p.csv").write_text("a,b,outcome,topic\nt1,t2,a,trams\nt1,t2,a,parks\n")
    answer = delibsim("import", "demo", "p.csv", "--as", "pairs", "group=topic")
    assert answer.code == 2
    assert "line 3: t1 and t2 are of group 'trams', and not of 'parks'" in answer.err


def test_further_columns_of_a_file_are_further_judgments_and_no_name_leaves_its_folder(
    delibsim, home
):
    (home / "p.csv").write_text("a,b,sound,kind\nx,y,a,b\ny,z,tie,b\n")
    for column, new in (("sound", 2), ("kind", 2), ("kind", 0)):
        words = (f"columns=a,b,{column}", f"dimension={column}", "--json")
        assert delibsim("import", "mine", "p.csv", "--as", "pairs", *words).json["new"] == new
    votes = delibsim("compare", "report", "mine", "--json").json["tables"]["counts"]
    assert {row["dimension"]: row["answered"] for row in votes} == {"sound": 2, "kind": 2}
    away = delibsim("import", "mine", "p.csv", "--as", "pairs", "dimension=../away")
    assert (away.code, away.out) == (2, "")
    assert "dimension=../away: use letters" in away.err


def test_a_report_without_any_outcome_says_why_and_that_nothing_succeeded(delibsim, study):
    assert delibsim(*ASK).code == 0
    kept = study / "runs/demo/annotations/compare-main/annotations.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    kept.write_text("".join(f"{json.dumps(unread(line))}\n" for line in lines))
    answer = delibsim("compare", "report", "demo")
    assert (answer.code, answer.out) == (4, "")
    assert "no vote has an outcome" in answer.err
    assert "8 unreadable (no answer could be read" in answer.err


def test_texts_without_a_letter_are_told(delibsim, home):
    (home / "t.csv").write_text("id,text\na,...\nb,One because two.\n")
    assert delibsim("import", "demo", "t.csv", "--as", "texts").code == 0
    answer = delibsim("compare", "ask", "demo", "dimension=logical", "model=citizen", "--estimate")
    assert answer.code == 0
    assert "without a letter or digit are judged as they are: a" in answer.err
