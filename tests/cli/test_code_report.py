"""`delibsim code report` as it is typed: the screen, the folder, JSON, exit codes."""

import pytest
from coded_study import coded_study, keep_task, samples_of, texts_study


@pytest.fixture
def pilot(home):
    """A study of texts that four models and two people coded."""
    return coded_study(home / "runs", 40)


def test_the_screen_has_a_row_a_dimension_and_says_where_the_rest_is(delibsim, pilot):
    answer = delibsim("code", "report", "pilot")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) < 12
    assert lines[0].startswith("40 texts coded by plain: 4 models and 2 people (Ann, Ben).")
    reasons, tone = (next(line for line in lines if line.startswith(id)) for id in ("reas", "tone"))
    assert reasons.split()[-2:] == ["undecided", "no"]
    found = delibsim("code", "report", "pilot", "--json").json["tables"]
    row = found["dimensions"][0]
    (groups,) = [
        g
        for g in found["groups"]
        if g["dimension"] == "reasons"
        and g["coders"] == "people"
        and g["coefficient"].startswith("AC2")
    ]
    assert (row["people"], row["people_low"]) == (groups["estimate"], groups["low"])
    assert row["delta"] == min(e["estimate"] for e in found["equivalence"])
    assert tone.split()[1] == "31"
    assert "--tables all prints them" in lines[-1]


def test_json_holds_the_tables_and_why_others_are_not_given(delibsim, pilot):
    words = ("code", "report", "pilot", "--json", "against=year", "by=group")
    found = delibsim(*words).json
    rows = found["tables"]["resampled"]
    assert {(row["by"], row["clusters"]) for row in rows if row["texts"] == 40} == {("group", 6)}
    assert (found["scheme"], found["rule"], found["bound"]) == ("plain", "lower", 0.1)
    assert {row["part"] for row in found["tables"]["against"]} == {"2020", "2021"}
    assert found["not_given"]["wordings"]["reason"] == "one_wording"
    assert {row["p"] <= 1 for row in found["tables"]["shares"]} == {True}


def test_a_study_without_codes_says_how_to_get_some(delibsim, home):
    runs, texts = texts_study(home / "runs", 3)
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 2
    assert "pilot is not coded yet" in answer.err
    keep_task(runs, texts)
    assert delibsim("code", "report", "pilot").code == 4


def test_samples_that_give_no_level_are_told_instead_of_nothing(delibsim, home):
    runs, texts = texts_study(home / "runs", 3)
    codings = keep_task(runs, texts, models=("a",))
    for text in texts:
        codings.add(samples_of(text, "reasons", "a", [None, None, 1]))
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 4
    assert "no text has a level: 3 of 9 samples can be read" in answer.err
    assert "reasons, a: 6 samples: refusal (the model refused)" in answer.err
    assert "nothing has been coded yet" not in answer.err


def test_damaged_lines_are_named_and_the_rest_is_reported(delibsim, pilot):
    file = pilot.folder / "annotations" / "code-plain" / "annotations.jsonl"
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"text": "t1", \n{"broken\n')
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 3
    assert "annotations.jsonl: 2 damaged lines" in answer.err
