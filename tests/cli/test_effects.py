"""What the commands say of settings that have no effect on the models of a study."""

import csv

import pytest

GRID = (
    *("study=s", "topic=ccps", "treatment=none,basic,normative", "temperature=0,0.7"),
    *("replicate=1,2", "group.size=2", "rounds=1", "seed=7"),
)
BASIC, NONE = "ccps.basic.citizen_rounds1_size2", "ccps.none.citizen_size2"
SAME = {
    "ccps.basic.citizen_rounds1_size2_temperature0_7": BASIC,
    "ccps.normative.citizen_rounds1_size2": BASIC,
    "ccps.normative.citizen_rounds1_size2_temperature0_7": BASIC,
    "ccps.none.citizen_size2_temperature0_7": NONE,
}
EXAMPLE = f"{BASIC}_temperature0_7 = {BASIC}"
NOTES = (
    "note: temperature (0, 0.7) has no effect on citizen\n",
    "note: treatment.instructions (basic, normative) has no effect on citizen\n",
    f"note: 4 of 6 conditions are the same as another by construction, such as {EXAMPLE}\n",
)


@pytest.fixture
def grid(delibsim):
    """A study of three treatments and two temperatures, held by citizens; what the command said."""
    answer = delibsim("run", "-m", "-q", *GRID)
    assert answer.code == 0
    return answer


def told(facts):
    assert facts["same_conditions"] == SAME
    assert [(one["setting"], one["values"], one["models"]) for one in facts["without_effect"]] == [
        ("temperature", ["0", "0.7"], ["citizen"]),
        ("treatment.instructions", ["basic", "normative"], ["citizen"]),
    ]


def test_the_plan_says_what_has_no_effect(delibsim, files):
    answer = delibsim("estimate", "-m", *GRID)
    assert answer.code == 0
    for note in NOTES:
        assert note in answer.out
    told(delibsim("estimate", "-m", *GRID, "--json").json)
    assert files() == {}


def test_a_sweep_says_it_before_it_is_held(delibsim, grid):
    assert grid.err == "".join(NOTES)
    told(delibsim("run", "-m", "-q", *GRID, "--json").json)


def test_a_sweep_in_which_everything_has_an_effect_says_nothing(delibsim):
    sweep = ("-m", "study=s", "topic=ccps", "treatment=basic", "group.size=2", "rounds=1")
    sweep += ("model.susceptibility=0,0.4",)
    assert "note:" not in delibsim("estimate", *sweep).out
    facts = delibsim("estimate", *sweep, "--json").json
    assert (facts["without_effect"], facts["same_conditions"]) == ([], {})
    assert delibsim("run", "-q", *sweep).err == ""
    assert "note:" not in delibsim("status", "s").out + delibsim("score", "s").out
    rows = delibsim("score", "s", "--json").json["conditions"]
    assert {row["equal_to"] for row in rows} == {None}


def test_what_only_speech_could_notice_is_told_where_nobody_speaks(delibsim, home):
    folder = home / "conf" / "treatment"
    folder.mkdir(parents=True)
    text = "name: informed\ninstructions: Think of others.\nrounds: 0\ninteraction: false\n"
    (folder / "informed.yaml").write_text(text)
    sweep = ("-m", "study=s", "topic=ccps", "treatment=none,informed", "group.size=2")
    told = delibsim("estimate", *sweep, "procedure.words=null,100").out
    assert "treatment.instructions (informed) has no effect on citizen where nobody speaks" in told
    assert "procedure.words (None, 100) has no effect on citizen" in told
    assert "3 of 4 conditions are the same as another by construction" in told
    one = delibsim("run", "-q", "study=one", "topic=ccps", "treatment=informed", "group.size=2")
    assert "No effect  the instructions of the treatment informed" in one.out


def test_combinations_that_are_one_session_are_told_in_the_plan(delibsim):
    sweep = ("-m", "study=s", "topic=ccps", "treatment=none", "rounds=1,2,4", "group.size=2")
    assert "2 combinations are the same session as another" in delibsim("estimate", *sweep).out
    facts = delibsim("estimate", *sweep, "--json").json
    assert facts["combinations_without_a_session_of_their_own"] == 2


def test_a_preregistration_says_what_has_no_effect_and_names_the_same_cells(delibsim, home):
    assert delibsim("preregister", "-m", *GRID).code == 0
    text = (home / "runs" / "s" / "preregistration.md").read_text(encoding="utf-8")
    assert "temperature (0, 0.7) has no effect on citizen." in text
    assert "4 cells are the same condition as another by construction (section 13)" in text
    for cell, first in SAME.items():
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {cell} |")]
        assert line.endswith(f"| {first} |")
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {BASIC} |")]
    assert line.endswith("|  |")


def test_status_marks_conditions_that_are_the_same(delibsim, grid):
    out = delibsim("status", "s").out
    for note in NOTES:
        assert note in out
    marked = f"ccps.normative.citizen_rounds1_size2 (= {BASIC}, by construction)"
    assert f"calls, {marked}: 12 ok\n" in out
    assert f"calls, {BASIC}: 12 ok\n" in out
    facts = delibsim("status", "s", "--json").json
    told(facts)
    assert (facts["dropped"], facts["asked_alike"]) == ([], {})


def test_scores_of_the_same_condition_are_not_printed_as_an_agreement(delibsim, grid):
    answer = delibsim("score", "s", "--json").json
    told(answer)
    equal = {}
    for row in answer["conditions"]:
        equal[row["treatment"], row["settings"]["model.temperature"]] = row["equal_to"]
    basic = "ccps, basic, citizen, model.temperature=0.0"
    none = "ccps, none, citizen, model.temperature=0.0"
    assert equal == {
        ("basic", 0.0): None, ("basic", 0.7): basic,
        ("normative", 0.0): basic, ("normative", 0.7): basic,
        ("none", 0.0): None, ("none", 0.7): none,
    }  # fmt: skip
    means = {}
    for row in answer["conditions"]:
        if not row["measure"].startswith("flags."):
            what = (row["measure"], row["phase"])
            means.setdefault((row["treatment"] == "none", *what), set()).add(row["mean"])
    assert {len(found) for found in means.values()} == {1}, "they agree to the last digit"
    out = delibsim("score", "s", "--all").out
    normative = "ccps, normative, citizen, model.temperature="
    marked = f"(= {basic}, by construction; only numbers that differ are shown)\n"
    assert f"{normative}0.0 {marked}{normative}0.7 {marked}" in out, "no table between them"
    assert out.count("adjusted DRI") == 2, "one table for each condition that is no other's"


def test_a_condition_that_is_the_same_and_has_other_replicates_keeps_its_table(delibsim):
    sweep = ("run", "-m", "-q", "study=s", "topic=ccps", "group.size=2", "rounds=1", "seed=7")
    assert delibsim(*sweep, "treatment=basic", "replicate=1,2").code == 0
    assert delibsim(*sweep, "treatment=normative", "replicate=1,2,3").code == 0
    out = delibsim("score", "s", "--all").out
    assert "ccps, normative, citizen (= ccps, basic, citizen, by construction; only " in out
    assert out.count("adjusted DRI") == 2


def test_every_exported_table_with_a_condition_has_the_column(delibsim, grid, home):
    assert delibsim("score", "s").code == 0
    assert delibsim("export", "s").code == 0
    folder = home / "runs" / "s" / "tables"
    for table in ("runs", "participants", "responses", "statements", "calls", "scores"):
        with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            found = {(row["cell"], row["equal_to"]) for row in csv.DictReader(file)}
        cells = {BASIC: "", NONE: "", **SAME}
        speakers = {cell: first for cell, first in cells.items() if ".none." not in cell}
        assert dict(found) == (speakers if table == "statements" else cells)
    assert "`equal_to`" in (folder / "codebook.md").read_text(encoding="utf-8")


def test_one_session_says_that_its_instructions_reach_nobody(delibsim):
    words = ("run", "-q", "study=one", "topic=ccps", "group.size=2", "rounds=1")
    out = delibsim(*words, "treatment=normative").out
    told = "the instructions of the treatment normative have no effect on citizen."
    assert f"No effect  {told}\n" in out
    facts = delibsim(*words, "treatment=normative", "--json").json
    assert facts["instructions_without_effect_on"] == ["citizen"]
    none = delibsim(*words[:-1], "treatment=none").out
    assert "No effect" not in none


OTHER = (
    "warning: people deliberate on ccps and answer the survey acp, which is that of another topic"
)


@pytest.mark.parametrize("command", ["run", "estimate"])
def test_a_survey_of_another_topic_is_warned_of_before_the_first_call(delibsim, home, command):
    words = ("topic=ccps", "survey=acp", "study=s", "group.size=2", "rounds=1")
    answer = delibsim(command, *words)
    assert answer.code == 0
    assert OTHER in answer.out + answer.err
    if command == "run":
        assert answer.err.startswith(OTHER)
        assert OTHER in delibsim("status", "s").out
        found = delibsim("status", "s", "--json").json
        assert found["surveys_of_other_topics"] == {"ccps": "acp"}


def test_a_survey_of_its_own_topic_is_not_warned_of(delibsim, home):
    (home / "topics").mkdir()
    topic = "id: mine\nquestion: Why?\nsurvey: acp\n"
    (home / "topics" / "mine.yaml").write_text(topic, encoding="utf-8")
    for words in (("topic=mine",), ("topic=ccps",), ("topic=ccps", "survey=ccps")):
        answer = delibsim("estimate", *words, "group.size=2", "rounds=1")
        assert (answer.code, "another topic" in answer.out) == (0, False)
