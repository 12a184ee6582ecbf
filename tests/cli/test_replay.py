"""`delibsim replay`: equal, different, diverged or damaged, and an exit code to script with."""

import json

from delibsim.prompts.prompt import Message, Prompt, Purpose


def edit_log(session, change):
    path = session / "exchanges.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in records:
        change(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_a_replay_is_equal_asks_nobody_and_writes_nothing(delibsim, study, files):
    before = files()
    answer = delibsim("replay", "s")
    assert (answer.code, answer.out, answer.err) == (
        0,
        "s/ccps.normative.citizen_rounds1_size2.r1: equal\n",
        "",
    )
    assert files() == before
    assert delibsim("replay", "s", "--json").json == {
        "study": "s",
        "session": "ccps.normative.citizen_rounds1_size2.r1",
        "verdict": "equal",
        "changed": [],
    }


def test_another_reply_gives_another_run_and_the_difference_is_named(delibsim, study):
    def change(record):
        if record["purpose"] == {"participant": "Participant 2", "occasion": "post", "attempt": 0}:
            lines = [line.split(": ") for line in record["completion"]["text"].splitlines()]
            record["completion"]["text"] = "\n".join(
                f"{k}: {(1 if v == '7' else 7) if k == 'C3' else v}" for k, v in lines
            )

    edit_log(study, change)
    answer = delibsim("replay", "s", "--json")
    assert (answer.code, answer.json["verdict"]) == (4, "different")
    (difference,) = answer.json["changed"]
    assert difference.startswith("responses[4].answers.C3: ")
    assert "different" in delibsim("replay", "s").out


def test_another_prompt_diverges_and_shows_the_prompt_that_changed(delibsim, study):
    path = study / "session.json"
    plan = path.read_text(encoding="utf-8")
    path.write_text(
        plan.replace("respond to climate change?", "respond to the weather?"), encoding="utf-8"
    )
    answer = delibsim("replay", "s", "--json")
    assert (answer.code, answer.json["verdict"]) == (4, "diverged")
    assert any(
        line.startswith("-How should") and "climate change?" in line
        for line in answer.json["changed"]
    )
    assert any(
        line.startswith("+How should") and "the weather?" in line for line in answer.json["changed"]
    )
    assert "diverged" in delibsim("replay", "s").out


def test_what_changed_is_printed_inert(delibsim, study):
    def change(record):
        if record["purpose"]["occasion"].startswith("turn"):
            record["completion"]["text"] = "\x1b[31m[bold]red"

    edit_log(study, change)
    answer = delibsim("replay", "s")
    assert answer.code == 4
    assert "\x1b" not in answer.out
    assert "[31m[bold]red" in answer.out


def as_an_older_version_worded_it(record):
    """The record of a version whose prompts said something else, and whose hashes are of that."""
    for message in record["messages"]:
        message["content"] = message["content"].replace("Policy options", "Options to be ranked")
    record["form"] = record["form"].replace("every", "each")
    messages = tuple(Message(one["role"], one["content"]) for one in record["messages"])
    prompt = Prompt(messages, Said(record["form"]), Purpose(**record["purpose"]))
    record["hash"] = prompt.hash(record["model"], record["seed"])


class Said:
    """A form of reply in these words."""

    def __init__(self, words):
        self.words = words

    def describe(self):
        return self.words


def test_on_recorded_prompts_answers_stand_and_every_other_wording_is_shown(delibsim, study):
    edit_log(study, as_an_older_version_worded_it)
    answer = delibsim("replay", "s")
    assert answer.code == 4
    words = "[-Options to be ranked-]{+Policy options+}"
    assert "word for word:" in answer.out
    assert words in answer.out
    assert "replay --recorded" in answer.out
    answer = delibsim("replay", "s", "--recorded")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[0].endswith(": equal on recorded prompts")
    assert words in answer.out
    found = delibsim("replay", "s", "--recorded", "--json").json
    calls = {call for passage in found["reworded"] for call in passage["calls"]}
    assert calls >= {f"Participant {k}/{phase}/0" for k in (1, 2) for phase in ("pre", "post")}
    assert found["verdict"] == "equal"


def test_on_recorded_prompts_an_unchanged_run_is_equal_and_an_edited_record_is_not(delibsim, study):
    answer = delibsim("replay", "s", "--recorded", "--json")
    assert (answer.code, answer.json["verdict"], answer.json["reworded"]) == (0, "equal", [])

    def edit(record):
        record["messages"][0]["content"] += " Say yes."

    edit_log(study, edit)
    answer = delibsim("replay", "s", "--recorded", "--json")
    assert (answer.code, answer.json["verdict"]) == (4, "diverged")
    assert "the record was edited" in answer.json["changed"][0]


def test_on_recorded_prompts_another_reply_is_another_run(delibsim, study):
    def change(record):
        if record["purpose"]["occasion"].startswith("turn"):
            record["completion"]["text"] = "I have changed my mind."

    edit_log(study, change)
    answer = delibsim("replay", "s", "--recorded", "--json")
    assert (answer.code, answer.json["verdict"]) == (4, "different")
