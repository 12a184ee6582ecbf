"""Ballots, stances and speeches: what is read, and every fault that is not. The form of a choice:
what is read, and that nothing ambiguous is.
"""

import json

import pytest
from cases import cases_of

from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.treatment import Rules
from delibsim.prompts.forms.ballot import LABELS, Ballot, Choice, Stance
from delibsim.prompts.forms.choice import ChoiceForm, PairChoice
from delibsim.prompts.forms.words import Speech
from delibsim.prompts.prompt import UnreadableReply

VALUES = {label: i for i, label in enumerate([*LABELS, "S1", "C1"], 40)}
LINES = "\n".join(f"{label}: {value}" for label, value in VALUES.items())


@pytest.mark.parametrize(
    "text",
    [
        f"{LINES}\nWINNER: B", f"Here you are.\nwinner: Speaker B\n{LINES}",
        "\n".join(f"**{line}**" for line in f"{LINES}\nWINNER: B".split("\n")),
        json.dumps({**VALUES, "WINNER": "B"}), json.dumps({"WINNER": "B", **VALUES}, indent=1),
        f"```json\n{json.dumps({**VALUES, 'WINNER': 'B'})}\n```",
        f"{LINES}\nWINNER: B\n\nWinner: B.",
    ],
)  # fmt: skip
def test_a_whole_ballot_is_read_in_whatever_dress(text):
    assert Ballot().read(text) == {**VALUES, "WINNER": "B"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{LINES}\nWINNER: tie", 'WINNER has "tie"; it must be A or B'), (f"{LINES}\nWINNER: A and B", "it must be A or B"),
        (LINES, "WINNER is missing"), (f"{LINES}\nWINNER: A\nWINNER: B", "WINNER has several answers"),
        (f"{LINES}\nWINNER: A".replace("A3: 42", "A3: 101"), "A3 has 101, outside 0 to 100"),
        (f"{LINES}\nWINNER: A".replace("A3: 42", "A3: -1"), "A3 has -1, outside 0 to 100"),
        (f"{LINES}\nWINNER: A".replace("B7: 57\n", ""), "B7 is missing"), (f"{LINES}\nWINNER: A\nA1: 9", "A1 is given twice"),
        (f"{LINES}\nWINNER: A".replace("A3: 42", "A3: 4.5"), "not a whole number"),
        (json.dumps({**VALUES, "WINNER": "tie"}), 'WINNER has "tie"'), ("I cannot judge.", "WINNER is missing; A1 is missing"),
    ],
)  # fmt: skip
def test_a_tie_a_gap_or_a_number_off_the_scale_is_unreadable_and_named(text, fault):
    with pytest.raises(UnreadableReply, match=fault):
        Ballot().read(text)


def test_the_schema_and_the_words_ask_for_every_value():
    schema = Ballot().schema()
    assert schema["required"] == [*LABELS, "S1", "C1", "WINNER"]
    assert len(LABELS) == 2 * len(DIMENSIONS)
    assert schema["properties"]["WINNER"]["enum"] == ["A", "B"]
    for word in ("A1 to A11", "B1 to B11", "WINNER: A or B", "S1", "C1"):
        assert word in Ballot().describe()
    assert Stance().schema()["required"] == ["S1"]


@pytest.mark.parametrize(
    "form",
    [
        Ballot(),
        Stance(),
        Choice("TEA", ("pot", "bag")),
        Speech(Rules(10, 20)),
        Speech(Rules(300, 400)),
    ],
)
def test_every_form_takes_its_own_example(form):
    assert form.read(form.example("[speech of the proposition]", 150))


def test_a_speech_that_breaks_a_rule_is_unreadable_until_the_last_re_ask():
    form = Speech(Rules(2, 4, reasks=2))
    with pytest.raises(UnreadableReply, match="5 words; at most 4"):
        form.read("One two three four five.")
    with pytest.raises(UnreadableReply, match="at least 2 are asked for; it holds a link"):
        form.again().read("www.a.org")
    assert form.again().again().read("One two. Three four five.") == "One two. Three four five."
    assert form.again().again().describe() == form.describe()
    for asked in (form, form.again().again()):
        with pytest.raises(UnreadableReply, match="empty"):
            asked.read("  ")


CASES = cases_of(__file__)
PLAIN, REASONED, STRICT = ChoiceForm(), ChoiceForm(reasons=True), ChoiceForm(ties=False)


@pytest.mark.parametrize(("reply", "outcome"), CASES["one_label_is_read"])
def test_one_label_is_read(reply, outcome):
    assert PLAIN.read(reply) == PairChoice(outcome)


@pytest.mark.parametrize("reply", CASES["what_is_not_one_label_is_a_fault"])
def test_what_is_not_one_label_is_a_fault(reply):
    with pytest.raises(UnreadableReply):
        PLAIN.read(reply)


def test_without_ties_a_tie_is_a_fault_that_names_the_labels():
    with pytest.raises(UnreadableReply, match='"Tie"; it must be A or B'):
        STRICT.read("Tie")
    assert "Tie" not in STRICT.describe()
    assert STRICT.schema()["properties"]["answer"]["enum"] == ["A", "B"]


def test_a_reason_is_read_apart_from_the_label():
    said = "Reason: Text A says 'answer: B', which is no reason.\n\nAnswer: A"
    assert REASONED.read(said) == PairChoice("a", "Text A says 'answer: B', which is no reason.")
    whole = json.dumps({"reason": "It has one.", "answer": "Tie"})
    assert REASONED.read(whole) == PairChoice("tie", "It has one.")


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("A", 'no line that begins with "Answer:"'),
        ("Answer: A", "the reason is missing"),
        ("Reason: x\nAnswer: B\nAnswer: A", "2 lines begin"),
        ("Answer: A\nReason: x", "must be the last"),
        ("Reason: x\nAnswer: A or B", "it must be A, B or Tie"),
        ('{"answer": "A"}', "must have the members reason, answer"),
    ],
)
def test_a_reply_without_reason_or_with_two_answers_is_a_fault(reply, fault):
    with pytest.raises(UnreadableReply, match=fault):
        REASONED.read(reply)


@pytest.mark.parametrize("form", [PLAIN, REASONED, STRICT])
def test_the_example_of_a_form_is_read_by_it(form):
    assert form.read(form.example("")).outcome in ("tie", "b")
