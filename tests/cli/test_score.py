"""`delibsim score`: measures by condition, what is missing from them, and what could not be
read.
"""

import shutil

import pytest

from delibsim import Runs


def rows_of(answer, measure="dri"):
    return {
        (row["treatment"], row["phase"]): row
        for row in answer.json["conditions"]
        if row["measure"] == measure
    }


def test_what_is_undefined_is_null_with_its_reason_and_counted(delibsim, partial):
    answer = delibsim("score", "p", "--json")
    assert answer.code == 0
    row = rows_of(answer)["normative", "pre"]
    assert (row["mean"], row["planned"], row["held"], row["valid"]) == (None, 1, 1, 0)
    assert sum(row["missing"].values()) == 1
    out = " ".join(delibsim("score", "p").out.split())
    assert "no value of any measure: missing_answer (a participant has no readable answer" in out
    assert "in 1 session: refusal (the model refused)" in out


def test_scores_are_written_once_more_to_the_same_bytes(delibsim, study, files):
    delibsim("score", "s")
    before = files()
    delibsim("score", "s")
    assert files() == before


@pytest.mark.parametrize("text", ["{", '{"schema": 1}', "\xff\x00", ""])
def test_a_damaged_run_is_named_and_the_others_are_still_read(delibsim, study, text):
    other = shutil.copytree(study, study.parent / "ccps.normative.citizen_rounds1_size2.r2")
    (other / "run.json").write_text(text, encoding="latin-1")
    answer = delibsim("score", "s", "--json")
    assert answer.code == 3
    (fault,) = answer.json["unreadable"]
    assert "runs/s/ccps.normative.citizen_rounds1_size2.r2/run.json: " in fault
    assert rows_of(answer)["normative", "pre"]["valid"] == 1
    assert (other / "run.json").read_text(encoding="latin-1") == text
    shown = delibsim("score", "s")
    assert shown.code == 3
    assert "ccps.normative.citizen_rounds1_size2.r2/run.json" in shown.out.replace("\n", "")


def test_what_is_missing_is_told_of_its_own_condition(delibsim, partial):
    assert (
        delibsim("run", "-q", "study=p", "topic=ccps", "group.size=3", "rounds=1", "seed=7").code
        == 0
    )
    answer = delibsim("score", "p", "--json")
    assert {row["settings"]["group.size"] for row in answer.json["conditions"]} == {2, 3}
    assert answer.json["missing"]
    assert {gap["settings"]["group.size"] for gap in answer.json["missing"]} == {2}
    below = delibsim("score", "p", "--all").out.partition("group.size=3")
    assert "missing:" in below[0]
    assert "missing:" not in below[2]


def test_run_and_score_show_the_same_values_of_people(delibsim, small):
    people = delibsim("run", "-q", "study=s", *small, "--json").json["human"]
    rows = delibsim("score", "s", "--json").json["conditions"]
    beside = {(row["measure"], row["phase"]): row["people"] for row in rows}
    for (measure, phase), value in beside.items():
        assert value == people.get(phase, {}).get(measure)
    assert beside["rank_stability", "change"] == pytest.approx(0.668, abs=0.0005)
    assert beside["opinion_change_p", "change"] is None
    table = delibsim("run", "-q", "study=s", *small).out
    (line,) = [
        line for line in table.splitlines() if line.startswith("opinion change, preferences")
    ]
    assert line.split()[-3:] == ["-", "-", "-"]


def table_of(answer):
    """The rows of the new table by level, measure and phase."""
    found = {}
    for row in answer.json["table"]["rows"]:
        found[tuple(row["levels"].values()), row["measure"], row["phase"]] = row
    return found


@pytest.fixture
def sweep(delibsim, small):
    """Two topics by two treatments by two replicates; of normative on acp only one was held."""
    topics = ("topic=ccps,acp", "treatment=none", "replicate=1,2")
    rest = ("run", "-m", "-q", "study=w", *small[1:])
    assert delibsim(*rest, *topics).code == 0
    assert delibsim(*rest, "topic=ccps", "treatment=normative", "replicate=1,2").code == 0
    assert delibsim(*rest, "topic=acp", "treatment=normative", "replicate=1").code == 0


def test_the_table_averages_conditions_and_not_sessions(delibsim, sweep):
    answer = delibsim("score", "w", "--json")
    by_topic = {
        (row["topic"], row["treatment"]): row["mean"]
        for row in answer.json["conditions"]
        if (row["measure"], row["phase"]) == ("dri", "change")
    }
    row = table_of(answer)[("normative",), "dri", "change"]
    mean = (by_topic["ccps", "normative"] + by_topic["acp", "normative"]) / 2
    assert row["mean"] == pytest.approx(mean, abs=1e-12)
    assert (row["valid"], row["planned"], row["topics"], row["models"]) == (3, 3, 2, 1)
    assert (row["conditions"], row["conditions_planned"]) == (2, 2)
    people = {
        row["topic"]: row["people"]
        for row in answer.json["conditions"]
        if (row["measure"], row["phase"]) == ("dri", "change")
    }
    assert row["people"] == pytest.approx(sum(people.values()) / 2)
    assert row["people_topics"] == 2
    out = delibsim("score", "w").out
    (line,) = [line for line in out.splitlines() if line.startswith("Deliberative Reason")]
    assert f"{mean:+.3f}" in line
    assert "weighs alike" in out


def test_any_column_of_the_design_and_any_measure(delibsim, sweep):
    answer = delibsim("score", "w", "--by", "topic,treatment", "--measure", "dri")
    assert answer.code == 0
    lines = answer.out.splitlines()
    first = lines.index("Deliberative Reason Index")
    assert lines[first + 2].split() == [
        "topic", "treatment", "before", "after", "change", "SD", "n", "conditions", "people",
    ]  # fmt: skip
    named = [tuple(line.split()[:2]) for line in lines[first + 3 : first + 7]]
    assert named == [("acp", "none"), ("acp", "normative"), ("ccps", "none"), ("ccps", "normative")]
    for column in ("model", "rounds", "size", "temperature", "wording", "persona", "setting"):
        assert delibsim("score", "w", "--by", column).code == 0
    by_two = delibsim("score", "w", "--by", "rounds,size", "--json").json["table"]
    assert by_two["by"] == ["rounds", "size"]
    assert {tuple(row["levels"].values()) for row in by_two["rows"]} == {("-", "2"), ("1", "2")}
    by_setting = delibsim("score", "w", "--by", "procedure.audience.network", "--json")
    assert by_setting.json["table"]["rows"][0]["levels"] == {
        "procedure.audience.network": "complete"
    }


def test_a_condition_without_a_run_is_counted(delibsim, sweep, home):
    for run in (home / "runs" / "w").glob("acp.normative*/run.json"):
        run.unlink()
    out = delibsim("score", "w").out
    assert "6 of 7 sessions held" in out
    (line,) = [line for line in out.splitlines() if line.startswith("conditions")]
    assert line.split()[1:] == ["2", "1", "of", "2"]
    assert "2/3" in out
    assert "n/m: n of m planned sessions have a value" in out


def test_a_study_without_runs_says_nothing_of_people(delibsim, study):
    (study / "run.json").unlink()
    for words in ((), ("--all",), ("--by", "participant")):
        answer = delibsim("score", "s", *words)
        assert answer.code == 4
        assert "no runs to score yet" in answer.out
        assert "people" not in answer.out


def test_who_moved_by_participant(delibsim, sweep, home):
    answer = delibsim("score", "w", "--by", "participant")
    assert answer.code == 0
    for condition in ("acp, none, citizen", "ccps, normative, citizen"):
        assert f"{condition}\n" in answer.out
    rows = delibsim("score", "w", "--by", "participant", "--json").json["participants"]
    assert len(rows) == 14
    names = {"session", "participant", "items_changed", "mean_change_c", "tau", "largest_item"}
    assert names <= rows[0].keys()
    runs = Runs(home / "runs", "w").all()[0]
    assert {row["session"] for row in rows} == {run.session.id for run in runs}


def test_debates_have_a_table_of_their_own(delibsim, home):
    words = ("format=debate", "motion=voting", "audience=1", "study=d")
    assert delibsim("run", "-q", *words).code == 0
    answer = delibsim("score", "d")
    assert answer.code == 0
    assert any(line.startswith("word difference") for line in answer.out.splitlines())
    assert (
        "no session of the study has a survey" in delibsim("score", "d", "--by", "participant").out
    )
