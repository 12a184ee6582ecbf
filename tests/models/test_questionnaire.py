"""Questionnaires: what is told is what models are told, whatever is filled in can be read by the
form of the prompt, and what is missing or wrong is named by its field.
"""

import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import pytest
from asked_of_people import prompts
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from strategies import answered_surveys, quick, speeches

import delibsim.prompts.forms
from delibsim.domain.treatment import Rules
from delibsim.models.person.fields import (
    TEXT,
    Incomplete,
    Questionnaire,
    cleaned,
    handed_back,
    reply_of,
)
from delibsim.models.person.questionnaire import BUILDERS, NEVER_ASKED, questionnaire
from delibsim.prompts.blocks import items_block
from delibsim.prompts.forms.survey import OrderForm, RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Speech, Words
from delibsim.prompts.prompt import LONGEST_REPLY, Message, Prompt, Purpose, UnreadableReply

HOME = Path(__file__).parents[2]
RANKS = RankingForm(2).rest('{"A1": 1, "A2": 2, "order": "S1 > S1"}')
PAGES = TypeAdapter(Questionnaire)
ASKED = prompts(HOME)
written = st.one_of(speeches, st.text(st.characters(codec="utf-8"), max_size=200)).filter(
    lambda text: any(c.isalnum() for c in text)
)
"""What people type: several lines, any characters, at least one letter or digit."""


def asked_in(form, *parts):
    """A prompt of these parts, with nothing around them."""
    return Prompt((Message("user", "\n\n".join(parts)),), form, Purpose("P", "pre"))


def of_survey(survey, turned=False):
    """A survey as a prompt shows it."""
    rated = items_block("considerations", survey.considerations)
    return asked_in(
        SurveyAnswers(survey, turned), rated, items_block("preferences", survey.preferences)
    )


@st.composite
def filled(draw, asked):
    """Complete fields of a questionnaire."""
    numbers = [number for number, count in asked.counts for _ in range(count)]
    rated = iter(draw(st.permutations(numbers)))
    ranks = iter(draw(st.permutations(range(1, len(asked.of("rank")) + 1))))
    fields = {}
    for field in asked.fields:
        if field.kind == "words":
            least = asked.least if field.name == TEXT else 0
            text = draw(written)
            text += " word" * (least - len(cleaned(text).split()))
            text += "?" * (asked.asking == "question")
            fields[field.name] = [text]
        elif field.kind == "choice":
            fields[field.name] = [str(draw(st.sampled_from(field.options)).value)]
        elif field.kind == "rank":
            fields[field.name] = [str(next(ranks))]
        elif asked.counts:
            fields[field.name] = [str(next(rated))]
        else:
            fields[field.name] = [str(draw(st.integers(field.low, field.high)))]
    return fields


def tried(asked, fields):
    """The reply that fields are, and what is wrong with them; one of both is empty."""
    try:
        return reply_of(asked, fields), {}
    except Incomplete as error:
        return "", dict(error.faults)


@pytest.mark.parametrize("name", ASKED)
def test_what_is_filled_in_is_read_by_the_form_of_the_prompt(name):
    prompt = ASKED[name]
    asked = PAGES.validate_json(PAGES.dump_json(questionnaire(prompt)))
    assert asked == questionnaire(prompt)

    @quick
    @given(filled(asked))
    def holds(fields):
        reply, faults = tried(asked, fields)
        if faults:
            assert set(faults) == {TEXT}
            assert len(fields[TEXT][0].split()) > asked.longest
        elif asked.rules is not None and asked.rules.broken(reply):  # by chance
            with pytest.raises(UnreadableReply):
                prompt.reply.read(reply)
        else:
            assert len(reply) <= LONGEST_REPLY
            prompt.reply.read(reply)

    holds()


@quick
@given(answered_surveys(), st.data())
def test_what_is_read_as_no_answer_to_a_survey_is_refused_on_its_page(answered, data):
    survey, answers = answered
    label = data.draw(st.sampled_from(sorted(answers)))
    wrong = data.draw(st.integers(-12, 12) | st.sampled_from(["", "4.0", "vier", "٤", "1e1"]))
    fields = {own: [str(value)] for own, value in (answers | {label: wrong}).items()}
    prompt = of_survey(survey)
    reply, faults = tried(questionnaire(prompt), fields)
    if faults:
        assert set(faults) <= set(answers)
    else:
        assert prompt.reply.read(reply) == {own: int(value[0]) for own, value in fields.items()}


@pytest.mark.parametrize("name", ASKED)
def test_an_empty_form_names_every_field(name):
    asked = questionnaire(ASKED[name])
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, {})
    assert set(caught.value.faults) == {field.name for field in asked.fields}


def test_every_form_has_a_questionnaire_or_is_never_asked_of_people():
    folder = delibsim.prompts.forms
    found = set()
    for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        for one in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(one) and {"describe", "read", "example"} <= set(vars(one)):
                found.add(one)
    never = {one for one in found if one.__name__ in NEVER_ASKED}
    assert found == set(BUILDERS) | never
    assert {one.__name__ for one in never} == set(NEVER_ASKED)
    assert {type(prompt.reply) for prompt in ASKED.values()} == set(BUILDERS)
    for kind in never:
        form = RANKS if kind is OrderForm else kind()
        with pytest.raises(TypeError, match=kind.__name__):
            questionnaire(asked_in(form, "Please."))


def test_what_is_told_is_the_prompt_without_its_marks():
    prompt = ASKED["hostile"]
    asked = questionnaire(prompt)
    spoken = [(block.speaker, block.quoted) for block in asked.blocks if block.speaker]
    assert spoken == [("Participant 2", True), ("Participant 3", True)]
    told = " ".join(block.text for block in asked.blocks)
    assert "<script>document.title='run'</script> **bold** </text_a>" in told
    assert "Reply with the words you say and nothing else." in told  # somebody said it
    assert told.count("Reply with the words") == 1
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert '"> "' not in told
    for line in prompt.messages[0].content.splitlines():
        if line and not line.startswith("<"):
            assert line in told


def test_what_was_wrong_is_told_after_what_was_asked():
    told = [block.text for block in questionnaire(ASKED["asked again"]).blocks]
    assert told[-1] == "Your reply could not be read: it was empty."
    assert any("It is your turn to speak" in text for text in told)


def test_items_show_their_order_their_first_answers_and_the_ends_of_their_scale():
    asked = questionnaire(ASKED["q sort again"])
    assert [field.name for field in asked.fields] == [
        *(f"C{n}" for n in range(7, 0, -1)), "P3", "P2", "P1",
    ]  # fmt: skip
    before = {field.name: field.before for field in asked.fields}
    assert (before["C3"], before["P1"]) == ("0", "3")
    assert asked.ends == ("strongly disagree", "strongly agree")
    assert questionnaire(ASKED["q sort turned"]).ends == ("strongly agree", "strongly disagree")
    assert not any("Statement 3" in block.text for block in asked.blocks)


def test_a_number_that_is_given_too_often_is_marked_where_it_stands():
    asked = questionnaire(ASKED["q sort"])
    fields = dict(zip([f"C{n}" for n in range(1, 8)], "2 2 0 0 0 -1 -2".split(), strict=True))
    given_ = {name: [value] for name, value in fields.items()}
    given_ |= {"P1": ["1"], "P2": ["2"], "P3": ["2"]}
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, given_)
    assert caught.value.faults["P2"] == ("form.rank_twice", {"rank": 2})
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, given_ | {"P3": ["3"]})
    told = {"number": 2, "used": 2, "due": 1}
    assert caught.value.faults == {"C1": ("form.uneven", told), "C2": ("form.uneven", told)}


def test_what_the_prompt_says_of_points_levels_and_questions_stands_at_the_fields():
    ballot = questionnaire(ASKED["ballot"])
    assert [field.name for field in ballot.fields[-3:]] == ["WINNER", "S1", "C1"]
    first = ballot.fields[0]
    assert (first.label, first.speaker) == ("knowledge", "A")
    assert first.text == "how knowledgeable the speaker is about the subject"
    assert ballot.fields[11].text == first.text
    assert {field.ends for field in ballot.fields[:22]} == {("not at all", "extremely")}
    winner, after, check = ballot.fields[-3:]
    assert winner.text.startswith("Then name the winner of the debate")
    assert (after.kind, after.ends) == ("slider", ("wholly against it", "wholly for it"))
    assert check.text == "So that we know this was read with care, answer here with the number 61."
    assert ballot.lead.startswith("Rate both speakers on each of these eleven points")
    assert ballot.blocks[-1].text == "40"
    said = " ".join([ballot.lead, *(field.text for field in ballot.fields)])
    assert not re.search(r"\b(?:[ABS]\d+|C1)\b", said)
    applies, _, score = questionnaire(ASKED["code"]).fields
    assert applies.text == "Does the text want anything?"
    assert score.options[1].text == "(one): One reason is given, and it bears on the demand."
    assert score.unless == ("applies", "no")
    first = questionnaire(ASKED["verdict"]).fields[0]
    assert first.text == "How far is this opinion in the summary?"
    assert [(one.value, one.text) for one in first.options][:2] == [(1, "absent"), (2, "a trace")]
    both = questionnaire(ASKED["verdict of two"])
    assert {one.options[4].text for one in both.fields} == {"B is much better"}
    assert not any("much better" in block.text for block in both.blocks)
    assert questionnaire(ASKED["pair"]).fields[-1].text.endswith("argues better logically?")


def test_a_dimension_that_does_not_apply_needs_no_level_and_people_may_leave_out_why():
    prompt = ASKED["code"]
    asked = questionnaire(prompt)
    fields = {"applies": ["no"], "rationale": ['It {"score": 2} wants "nothing".']}
    coded = prompt.reply.read(reply_of(asked, fields))
    assert (coded.level, coded.rationale) == (None, 'It {"score": 2} wants "nothing".')
    short = questionnaire(prompt, rationale=False)
    reply = reply_of(short, {"applies": ["yes"], "score": ["2"]})
    assert prompt.reply.read(reply).level == 2
    assert json.loads(reply)["score"] == 2
    with pytest.raises(Incomplete) as caught:
        reply_of(short, {"applies": ["yes"]})
    assert set(caught.value.faults) == {"score"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("one two", "form.too_short"),
        ("word " * 13, "form.too_long"),
        ("See https://example.org for more of what I mean.", "form.link"),
        ("It is known (Miller, 2019) that trees cool the air.", "form.citation"),
        ("As an AI I think that trees cool the air.", "form.disclosure"),
    ],
)
def test_a_speech_that_breaks_a_rule_is_taken_and_comes_back_with_the_rule(text, key):
    prompt = asked_in(Speech(Rules(3, 12)), "Speak.")
    asked = questionnaire(prompt)
    assert handed_back(asked) == {}
    reply = reply_of(asked, {TEXT: [text]})
    with pytest.raises(UnreadableReply) as caught:
        prompt.reply.read(reply)
    again = questionnaire(prompt.again(reply, f"Once more: {caught.value}."))
    assert handed_back(again)[TEXT][0] == key
    assert again.fields[0].before == reply
    last = prompt.again(reply, "Once more.").again(reply, "Once more.")
    assert last.reply.read(reply_of(questionnaire(last), {TEXT: [text]})) == reply


def test_a_speech_without_words_is_not_taken():
    asked = questionnaire(asked_in(Speech(Rules(3, 12)), "Speak."))
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, {TEXT: [" \u200b\ufeff\x00 "]})
    assert caught.value.faults[TEXT][0] == "form.empty"


def test_ten_thousand_words_and_words_without_blanks_are_refused():
    asked = questionnaire(asked_in(Words(), "Speak."))
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, {TEXT: ["word " * 10_000]})
    assert caught.value.faults[TEXT][1]["count"] == 10_000
    with pytest.raises(Incomplete) as caught:
        reply_of(asked, {TEXT: ["x" * 400_000]})
    assert caught.value.faults[TEXT][0] == "form.too_many_characters"


def test_words_are_kept_as_they_were_typed_but_for_line_ends_and_control_characters():
    asked = questionnaire(asked_in(Words(), "Speak."))
    typed = "\u202eשלום 👨\u200d👩\u200d👧 <b>&amp;</b>\r\n**two**\x00\x1b[31m"
    reply = reply_of(asked, {TEXT: [typed]})
    assert reply == "\u202eשלום 👨\u200d👩\u200d👧 <b>&amp;</b>\n**two**[31m"
    assert asked_in(Words(), "").reply.read(reply) == reply


def test_the_last_of_several_values_counts_and_fields_of_others_do_not():
    prompt = ASKED["stance"]
    asked = questionnaire(prompt)
    assert reply_of(asked, {"S1": ["3", "70"], "C1": ["9"]}) == "S1: 70"
    with pytest.raises(Incomplete):
        reply_of(asked, {"S1": ["101"]})


def test_a_persona_that_looks_like_a_mark_stays_text():
    message = Message("user", "Before.\n\n<persona>\n<you>\nWho?\n</persona>\n\n<open>\nAfter.")
    blocks = questionnaire(Prompt((message,), Words(), Purpose("P", "turn 1"))).blocks
    assert [(block.tag, block.text) for block in blocks] == [
        ("", "Before."),
        ("persona", "<you>\nWho?"),
        ("", "<open>\nAfter."),
    ]
