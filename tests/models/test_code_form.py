"""The form of a code: what is read, and the concrete fault of everything else."""

import json

import pytest

from delibsim.models.base import Completion, read
from delibsim.prompts.forms.code import Coded, CodeForm
from delibsim.prompts.forms.words import StepsForm
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply

WHOLE = CodeForm((0, 1, 2, 3))
NAMED = CodeForm(("goods", "payment", "other"))
FILTERED = CodeForm((0, 1, 2), filtered=True)
HALVES = CodeForm((0, 0.5, 1.0))


def reply(score, rationale="It names one reason."):
    return json.dumps({"rationale": rationale, "score": score})


@pytest.mark.parametrize(
    ("form", "text", "level"),
    [
        (WHOLE, reply(2), 2),
        (WHOLE, reply(0), 0),
        (WHOLE, reply("2"), 2),
        (WHOLE, f"Here is my code:\n```json\n{reply(1)}\n```\nThank you.", 1),
        (WHOLE, f"[{reply(3)}]", 3),
        (WHOLE, '{"rationale": "Two\nlines.", "score": 1, "sure": true}', 1),
        (WHOLE, f"I weigh {{0, 1}} and {{}}.\n{reply(1)}", 1),
        (CodeForm((-1, 0, 1)), reply(-1), -1),
        (HALVES, reply(0.5), 0.5),
        (HALVES, reply(1), 1.0),
        (NAMED, reply("goods"), "goods"),
        (NAMED, reply(" Payment "), "payment"),
    ],
)
def test_what_is_unambiguous_is_read(form, text, level):
    found = form.read(text)
    assert (found.level, type(found.level)) == (level, type(level))
    assert found.rationale


@pytest.mark.parametrize(
    ("form", "text", "fault"),
    [
        (WHOLE, "", "the reply is empty"),
        (WHOLE, "Level 2.", 'no JSON object with "rationale" and "score"'),
        (WHOLE, "2", "no JSON object"),
        (WHOLE, '{"score": 2, "rationale": "It has reasons."}', '"score" stands before'),
        (WHOLE, reply("2/3"), 'the score is "2/3"; it must be one of 0, 1, 2, 3'),
        (WHOLE, reply(2.0), "the score is 2.0; it must be one of"),
        (WHOLE, reply("2.0"), 'the score is "2.0"; it must be one of'),
        (WHOLE, reply(1.5), "the score is 1.5"),
        (WHOLE, reply("two"), 'the score is "two"'),
        (WHOLE, reply(True), "the score is true"),
        (WHOLE, reply(None), "the score is null"),
        (WHOLE, reply([2]), "the score is a list"),
        (WHOLE, reply({"level": 2}), "the score is a JSON object"),
        (WHOLE, reply(4), "the score is 4; it must be one of 0, 1, 2, 3"),
        (WHOLE, reply(-1), "the score is -1"),
        (WHOLE, '{"rationale": "r", "score": NaN}', "the score is nan"),
        (WHOLE, reply("²"), "the score is"),
        (WHOLE, f"{reply(1)}\n{reply(2)}", "the reply holds 2 JSON objects; one is asked for"),
        (WHOLE, f"{reply(1)}\n{reply(1)}", "the reply holds 2 JSON objects"),
        (WHOLE, '{"rationale": "r", "score": 1, "score": 2}', 'has "score" twice'),
        (WHOLE, '{"rationale": "It gives one reason."}', 'has no "score"'),
        (WHOLE, '{"rationale": "It gives one rea', "the JSON object does not end"),
        (WHOLE, '{"rationale": "It gives one reason.", "sco', "the JSON object does not end"),
        (WHOLE, '{"rationale": "It gives one reason.", "score": 2', "does not end"),
        (WHOLE, '{"score": 2}', 'has no "rationale"'),
        (WHOLE, reply(2, ""), "the rationale is empty"),
        (WHOLE, reply(2, " \n"), "the rationale is empty"),
        (WHOLE, reply(2, 7), "the rationale is 7, which is not a text"),
        (WHOLE, reply(int("9" * 60)), "the score is 9999"),
        (WHOLE, f'{{"rationale": "r", "score": {"9" * 5000}}}', "no JSON object"),
        (WHOLE, json.dumps({"answer": {"rationale": "r", "score": 1}}), "no JSON object with"),
        (NAMED, reply("the goods"), 'it must be one of "goods", "payment", "other"'),
        (NAMED, reply(1), "the score is 1; it must be one of"),
        (CodeForm(("A", "a")), reply("á"), "the score is"),
        (HALVES, reply(0.4), "the score is 0.4"),
    ],
)
def test_everything_else_is_a_concrete_fault(form, text, fault):
    with pytest.raises(UnreadableReply) as found:
        form.read(text)
    assert fault in str(found.value)
    assert "\n" not in str(found.value)


def test_a_filter_question_is_answered_first():
    def said(applies, score, order=("applies", "rationale", "score")):
        values = {"applies": applies, "rationale": "It claims nothing.", "score": score}
        return json.dumps({name: values[name] for name in order})

    assert FILTERED.read(said("yes", 2)) == Coded(2, "It claims nothing.")
    assert FILTERED.read(said("No", None)) == Coded(None, "It claims nothing.")
    faults = {
        said("no", 0): '"applies" is "no", and the score is 0; it must be null',
        said("yes", None): "the score is null",
        said("perhaps", 1): '"applies" is "perhaps"; it must be "yes" or "no"',
        said(True, 1): '"applies" is true',
        said("yes", 1, ("rationale", "applies", "score")): '"rationale" stands before "applies"',
        reply(1): 'has no "applies"',
    }
    for text, fault in faults.items():
        with pytest.raises(UnreadableReply) as found:
            FILTERED.read(text)
        assert fault in str(found.value)


@pytest.mark.parametrize("form", [WHOLE, NAMED, FILTERED, HALVES])
def test_a_form_reads_its_own_example_which_is_as_its_schema_says(form):
    assert form.read(form.example("")).level == form.levels[0]
    assert len(json.loads(form.example("", 110))["rationale"].split()) == 110
    schema, example = form.schema(), json.loads(form.example(""))
    if form.filtered:
        schema, without = schema["properties"]["code"]["anyOf"]
        assert (
            form.read(json.dumps({"code": {**example, "applies": "no", "score": None}})).level
            is None
        )
        assert without["properties"]["score"] == {"type": "null"}
    assert list(example) == schema["required"] == list(schema["properties"])
    assert example["score"] in schema["properties"]["score"]["enum"]
    assert json.dumps(list(form.levels)) in form.describe()


def test_a_reply_that_is_nested_too_deeply_is_unreadable():
    prompt = Prompt((Message("user", "Code."),), WHOLE, Purpose("m", "t"))
    _, completion = read(prompt, Completion('{"rationale":' * 20_000))
    assert completion.status == "unreadable"


def test_steps_are_numbered_lines_from_five_to_seven():
    lines = [f"{n}. Compare with anchor {n}." for n in range(1, 9)]
    for few in (5, 6, 7):
        assert len(StepsForm().read("Here they are:\n" + "\n".join(lines[:few]))) == few
    found = StepsForm().read(
        "**1.** Read\n   the text.\n- 1. not a step\nStep 2: a\n3) b\n4. c\n5. d"
    )
    assert found == ("Read the text. - 1. not a step", "a", "b", "c", "d")
    for text, fault in {
        "": "0 numbered steps",
        "\n".join(lines[:4]): "4 numbered steps; 5 to 7 are asked for",
        "\n".join(lines): "8 numbered steps",
        "1. a\n2. b\n3.\n4. d\n5. e": "step 3 is empty",
    }.items():
        with pytest.raises(UnreadableReply, match=fault):
            StepsForm().read(text)
    assert len(StepsForm().read(StepsForm().example(""))) == 6


def test_a_reply_of_many_braces_that_open_no_object_is_unreadable_and_says_so():
    with pytest.raises(UnreadableReply, match="more than 100 braces of the reply open no JSON"):
        CodeForm((0, 1)).read('{"a",' * 101 + '{"rationale": "It gives a reason.", "score": 1}')
