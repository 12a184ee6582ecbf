"""Replies by a schema: whatever a schema allows is read, the order of many options step by step;
JSON in prose and fences is read, and what contradicts itself is a named fault.
"""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick, surveys

from delibsim.domain.survey import Item, Survey, faults_of
from delibsim.models.base import Completion, read
from delibsim.prompts.forms.ballot import Ballot, Choice, Stance
from delibsim.prompts.forms.choice import ChoiceForm, VerdictForm
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.survey import FEW, RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import StepsForm, SummaryForm, Words
from delibsim.prompts.prompt import FormWithSchema, Message, Prompt, Purpose, UnreadableReply
from delibsim.testing.random_replies import value_of

FORMS = [
    Ballot(),
    Stance(),
    Choice("LEVEL", ("0", "1", "NO_LEVEL")),
    *(ChoiceForm(ties, reasons) for ties in (True, False) for reasons in (True, False)),
    VerdictForm(),
    VerdictForm(two=True),
    CodeForm((0, 1, 2)),
    CodeForm((0.5, 1)),
    CodeForm(("none", "some"), filtered=True),
    CodeForm((0, 1), filtered=True),
    StepsForm(),
    *map(RankingForm, range(1, FEW + 1)),
]
SURVEY = Survey(
    "s",
    tuple(Item(f"C{i}", "consideration", "c") for i in (1, 2))
    + tuple(Item(f"P{i}", "preference", "p") for i in range(1, 8)),
)
ORDER = {str(i): f"P{8 - i}" for i in range(1, 8)}
GIVEN = {"C1": 7, "C2": 1, **{f"P{i}": 8 - i for i in range(1, 8)}}
RATED = {"C1": 7, "C2": 1}


@pytest.mark.parametrize("form", FORMS)
def test_whatever_a_schema_allows_is_read_at_once(form):
    assert isinstance(form, FormWithSchema)
    for seed in range(60):
        form.read(json.dumps(value_of(form.schema(), random.Random(seed))))


@quick
@given(surveys(max_preferences=12, forced=st.just(False)), st.integers())
def test_of_many_options_the_order_is_completed_by_what_schemas_allow(survey, seed):
    form, draw = SurveyAnswers(survey), random.Random(seed)
    reply, rated = json.dumps(value_of(form.schema(), draw)), None
    answers = None
    while answers is None:
        try:
            answers = form.read(reply)
        except UnreadableReply:
            rest = form.rest(reply)
            assert "twice in the order" in rest.fault
            rated = rated or rest.partial
            assert rest.partial == rated
            assert len(survey.preferences) > FEW
            assert len(rest.left) < len(getattr(form, "left", survey.preferences))
            form, reply = rest, json.dumps(value_of(rest.schema(), draw))
    assert faults_of(answers, survey) == []
    assert rated is None or rated.items() <= answers.items()


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({**RATED, "order": ORDER}),
        f"Here you are:\n```json\n{json.dumps({**RATED, 'order': ORDER}, indent=1)}\n```\nThat is all.",
        json.dumps({**RATED, "order": "P7 > P6, P5 P4 > P3 > P2 > P1", "comment": "C1: 3"}),
        json.dumps({"C1": "7", "C2": 1, "order": list(ORDER.values())}),
        json.dumps(GIVEN),
    ],
)
def test_an_order_is_read_in_prose_in_fences_and_as_a_list(reply):
    assert SurveyAnswers(SURVEY).read(reply) == GIVEN


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ({**RATED, "order": {**ORDER, "7": "P7"}}, "P7 stands twice in the order"),
        ({**RATED, "order": "P7 > P6 = P5"}, '"=" in the order is none of P1'),
        ({**RATED, "order": "P7 > P6"}, "the order lacks P1, P2, P3, P4, P5"),
        ({**RATED, "order": {"2": "P1"}}, "not numbered from 1"),
        ({**RATED, "order": 5}, "the order lacks P1"),
        ({"C1": 9, "C2": 1, "order": ORDER}, "C1 has 9, outside 1 to 7"),
        ({**RATED, "C9": 1, "order": ORDER}, "C9 is not a label"),
        ({"C1": 7.5, "C2": 1, "order": ORDER}, "C1 has '7.5', which is not a whole number"),
        ({"C1": True, "C2": 1, "order": ORDER}, "C1 has 'true'"),
        ({**RATED, "P1": 1, "order": ORDER}, "P1 is not a label"),
        ({"order": ORDER}, "C1 is missing"),
    ],
)
def test_what_is_no_answer_in_json_is_a_named_fault(reply, fault):
    with pytest.raises(UnreadableReply, match=fault):
        SurveyAnswers(SURVEY).read(json.dumps(reply))


def test_repeated_members_two_objects_and_an_order_that_is_cut_off_are_faults():
    whole = json.dumps({**RATED, "order": ORDER})
    for reply, fault in {
        whole.replace('"C2": 1', '"C1": 6, "C2": 1'): "C1 is given twice",
        f"{whole[:-1]}, {json.dumps({'order': ORDER})[1:]}": "the order is given twice",
        f"{whole}\n{whole}": "2 JSON objects",
        whole[:-20]: "does not end",
    }.items():
        with pytest.raises(UnreadableReply, match=fault):
            SurveyAnswers(SURVEY).read(reply)


def prompt(form):
    return Prompt((Message("system", "S"), Message("user", "Ask.")), form, Purpose("a", "pre"))


def test_prompts_ask_for_json_in_words_only_where_a_schema_is_sent():
    plain = prompt(SurveyAnswers(SURVEY))
    assert plain.in_json("") is plain
    asked = plain.in_json("json_object")
    assert asked.messages[0] == plain.messages[0]
    assert '{"C1": NUMBER, "C2": NUMBER, "order": {"1": "TEXT",' in asked.messages[1].content
    assert asked.hash("m", 1) != plain.hash("m", 1)
    for free in (Words(), SummaryForm()):
        assert prompt(free).in_json("json_schema") == prompt(free)


def test_where_the_ranks_alone_are_at_fault_the_rest_stays_and_they_alone_are_asked_for():
    reply = json.dumps({**RATED, "order": {**ORDER, "3": "P7"}})
    plain = prompt(SurveyAnswers(SURVEY))
    assert read(plain, Completion(reply))[0] is None
    assert plain.again(reply, "Again!").messages[-1].content == "Again!"
    asked = plain.in_json("json_schema")
    value, completion = read(asked, Completion(reply))
    assert (value, completion.status) == (RATED, "unreadable")
    again = asked.again(reply, "Again!")
    assert "P7 stands twice" in again.messages[-1].content
    assert "P7 > P6. They come before" in again.messages[-1].content
    assert (again.enforced, again.purpose.attempt) == ("json_schema", 1)
    assert read(again, Completion('{"order": "P5 > P4 > P3 > P2 > P1"}'))[0] == GIVEN
    assert read(again, Completion("I will not."))[0] == RATED
    labelled = "\n".join(f"{label}: {1 if label[0] == 'P' else n}" for label, n in GIVEN.items())
    assert asked.again(labelled, "Again!").reply.left == tuple(ORDER.values())[::-1]
    off = json.dumps({"C1": 9, "C2": 1, "order": {**ORDER, "3": "P7"}})
    assert asked.again(off, "Again!").messages[-1].content == "Again!"


def test_the_reversed_scale_is_mapped_back_in_an_order_that_is_completed():
    form = SurveyAnswers(SURVEY, reversed=True)
    rest = form.rest(json.dumps({**RATED, "order": {**ORDER, "3": "P7"}}))
    assert rest.partial == {"C1": 1, "C2": 7}
    assert rest.read('{"order": "P5 > P4 > P3 > P2 > P1"}') == GIVEN | {"C1": 1, "C2": 7}


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('```json\n{\n "reason": "It has one.",\n "answer": "B"\n}\n```', "b"),
        ('My choice: {"reason": "answer: A is weak", "answer": "Tie"} as asked.', "tie"),
        ('{"reason": "x", "answer": "A"}\nAnswer: B', "the answer is given twice"),
        ('{"reason": "x", "answer": "A", "sure": "no"}', "and no others"),
        ('{"reason": "x", "answer": "A"} {"reason": "x", "answer": "B"}', "2 JSON objects"),
    ],
)
def test_a_choice_in_json_is_read_as_other_forms_are(reply, found):
    form = ChoiceForm(reasons=True)
    if found in ("b", "tie"):
        assert form.read(reply).outcome == found
        return
    with pytest.raises(UnreadableReply, match=found):
        form.read(reply)
