"""`delibsim code ask` and `code replay` as a user types them, with citizens as coders."""

import csv
import json

import pytest
from coding import coding_home, study_of_texts

ASK = ("code", "ask", "pilot", "scheme=tiny", "group.size=2", "samples=2")


@pytest.fixture
def pilot(home):
    return study_of_texts(coding_home(home))


def test_json_has_the_estimate_what_came_of_it_and_what_a_replay_found(delibsim, pilot, files):
    before = files("runs")
    found = delibsim(*ASK, "--estimate", "--json").json
    assert (found["samples"]["waiting"], found["total"]["calls"], found["texts"]) == (32, 34, 4)
    assert found["usd_a_text"] == {"low": 0.0, "high": 0.0}
    assert files("runs") == before
    asked = delibsim(*ASK, "--json").json
    assert (asked["new"], asked["missing"]) == (32, {})
    assert {(one["text"], one["reason"].partition(":")[0]) for one in asked["not_coded"]} == {
        ("t5", "too_short"),
        ("t6", "empty"),
    }
    replayed = delibsim("code", "replay", "pilot", "--json")
    assert (replayed.code, replayed.json["verdict"], replayed.json["samples"]) == (0, "equal", 32)


def test_a_trial_codes_a_few_texts_and_tells_what_all_will_take(delibsim, pilot):
    shown = delibsim(*ASK, "--n", "2")
    assert shown.code == 0
    assert shown.out.startswith("2 texts, 2 dimensions, 2 coders: 16 samples now")
    assert "Measured" in shown.out
    (first, _) = delibsim(*ASK, "--n", "2", "--json").json["measured"]
    assert (first["coder"], first["calls"], first["to_come"]) == ("citizen_1", 8, 8)
    assert "16 samples now, 16 before" in delibsim(*ASK).out


def test_nothing_that_could_be_coded_ends_in_4_and_wrong_input_in_2(delibsim, home):
    study_of_texts(coding_home(home), ("", "No."))
    nothing = delibsim(*ASK)
    assert nothing.code == 4
    assert "0 samples now" in nothing.out
    assert delibsim("code", "ask", "pilot").code == 2
    assert "name the scheme" in delibsim("code", "ask", "pilot").err
    assert delibsim("code", "replay", "pilot", "tiny").code == 2


def test_a_text_to_which_a_dimension_does_not_apply_is_counted_and_no_fault(delibsim, home):
    study_of_texts(coding_home(home), ("Trees, trees, trees.", "We want new trams."))
    found = delibsim(*ASK)
    assert found.code == 0
    assert (
        "No level   4 samples: not_applicable (the dimension does not apply to the text)"
        in found.out
    )


def test_statements_of_a_run_are_coded_with_a_warning_of_kin(delibsim, study):
    found = delibsim("code", "ask", "s", "scheme=dqi3", "samples=1", "context=1", "--json")
    assert (found.code, found.json["new"]) == (0, 6)
    assert "of one family (citizen)" in found.err
    folder = study.parent / "annotations" / "code-dqi3"
    asked = [json.loads(line) for line in (folder / "exchanges.jsonl").read_text().splitlines()]
    shown = [one["messages"][1]["content"] for one in asked if "sample" not in one["purpose"]]
    assert sum("<context>" in text for text in shown) == 3
    assert not any("Participant 1" in text or "Participant 2" in text for text in shown)
    assert delibsim("code", "replay", "s").code == 0


def test_coders_with_fewer_samples_than_others_are_told(delibsim, pilot):
    assert "note" not in delibsim(*ASK).err
    more = ("code", "ask", "pilot", "scheme=tiny", "model=citizen_exact", "samples=6")
    told = delibsim(*more)
    assert told.code == 0
    assert "6 samples of a text, and citizen_1 for 2, citizen_2 for 2" in told.err
    assert "note" not in delibsim(*ASK[:-1], "samples=6").err


def test_scores_are_never_older_than_codes(delibsim, home, pilot):
    scores = home / "runs" / "pilot" / "scores" / "codes.v1.jsonl"
    assert delibsim(*ASK).code == 0
    asked = scores.read_text()
    assert '"coder":"ensemble"' in asked
    (home / "own.csv").write_text("text,Ann.reasons\nt1,2\n")
    assert delibsim("import", "pilot", "own.csv", "--as", "codes").code == 0
    imported = scores.read_text()
    assert '"coder":"Ann"' in imported
    assert delibsim("score", "pilot", "--scorer", "codes").code in (0, 3)
    assert scores.read_text() == imported


def test_calls_to_coders_stand_in_the_status_and_in_the_table_of_calls(delibsim, home, pilot):
    assert delibsim(*ASK).code == 0
    assert delibsim("status", "pilot", "--json").json["calls_by_task"] == {"code-tiny": {"ok": 34}}
    assert "calls, code-tiny: 34 ok" in delibsim("status", "pilot").out
    log = home / "runs" / "pilot" / "annotations" / "code-tiny" / "exchanges.jsonl"
    log.write_text(log.read_text() + '{"torn\n')
    answer = delibsim("export", "pilot", "--json")
    assert (answer.code, answer.json["rows"]["calls"]) == (3, 34)
    assert answer.json["left_out"] == [f"{log.relative_to(home)}: 1 damaged line left out"]


def test_calls_about_statements_have_the_condition_of_their_session(delibsim, study):
    assert delibsim("code", "ask", "s", "scheme=dqi3", "samples=1").code == 0
    assert "calls, code-dqi3: 9 ok" in delibsim("status", "s").out
    assert delibsim("export", "s").code == 0
    with (study.parent / "tables" / "calls.csv").open(encoding="utf-8", newline="") as file:
        calls = [row for row in csv.DictReader(file) if row["task"]]
    assert {row["task"] for row in calls} == {"code-dqi3"}
    of_statements = [row for row in calls if not row["occasion"].startswith("steps")]
    assert {row["session"] for row in of_statements} == {study.name}
    assert {row["participant"] for row in calls} == {"citizen"}
