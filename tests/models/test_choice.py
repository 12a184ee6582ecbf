"""The form of a choice: what is read, and that nothing ambiguous is."""

import json

import pytest
from cases import cases_of

from delibsim.prompts.forms.choice import ChoiceForm, PairChoice
from delibsim.prompts.prompt import UnreadableReply

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
