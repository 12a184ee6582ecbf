"""Prompts: their hash is the canonical request; words are words."""

import dataclasses
import subprocess
import sys

import pytest
from hypothesis import given
from strategies import answered_surveys, quick, speeches, texts, thorough

from delibsim.domain.survey import Item, Survey
from delibsim.models.base import Completion, read
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply

ITEMS = tuple(
    Item(f"{k}{i}", kind, "text")
    for k, kind in (("C", "consideration"), ("P", "preference"))
    for i in (1, 2)
)
PROMPT = Prompt(
    (Message("system", "You deliberate."), Message("user", "Speak.")),
    Words(),
    Purpose("Ann", "turn 1"),
)


def test_the_hash_changes_with_message_role_form_model_and_seed():
    said, asked = PROMPT.messages
    changed = [
        PROMPT.hash("citizen", 1),
        PROMPT.hash("citizen", 2),
        PROMPT.hash("other", 1),
        dataclasses.replace(PROMPT, messages=(said, Message("user", "Speak!"))).hash("citizen", 1),
        dataclasses.replace(PROMPT, messages=(said, Message("assistant", "Speak."))).hash(
            "citizen", 1
        ),
        dataclasses.replace(PROMPT, messages=(asked, said)).hash("citizen", 1),
        dataclasses.replace(PROMPT, messages=(said,)).hash("citizen", 1),
        dataclasses.replace(
            PROMPT, messages=(Message("system", "You deliberate.\n\nSpeak."),)
        ).hash("citizen", 1),
        dataclasses.replace(PROMPT, reply=SurveyAnswers(Survey("s", ITEMS))).hash("citizen", 1),
        dataclasses.replace(PROMPT, reply=SurveyAnswers(Survey("s", ITEMS, 1, 5))).hash(
            "citizen", 1
        ),
    ]
    assert len(set(changed)) == len(changed)
    assert all(len(digest) == 64 for digest in changed)


def test_the_hash_is_of_what_is_asked_and_not_of_why():
    other = dataclasses.replace(PROMPT, purpose=Purpose("Bob", "pre", 2))
    assert other.hash("citizen", 1) == PROMPT.hash("citizen", 1)


def test_another_process_makes_the_same_hash():
    code = (
        "from delibsim.prompts.forms.words import Words; from delibsim.prompts.prompt import *;"
        " print(Prompt((Message('system', 'You deliberate.'), Message('user', 'Speak.')), Words(),"
        " Purpose('a', 'b')).hash('citizen', 1))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert printed == PROMPT.hash("citizen", 1)


def test_a_text_with_half_an_emoji_has_a_hash():
    # JSON from a provider may hold "\ud83d" alone, the half of an emoji cut in two; it is a text in
    # Python, and no UTF-8.
    prompt = dataclasses.replace(PROMPT, messages=(Message("assistant", "tea \ud83d"),))
    assert prompt.hash("citizen", 1) != dataclasses.replace(
        PROMPT, messages=(Message("assistant", "tea "),)
    ).hash("citizen", 1)


def test_the_text_holds_every_message_under_its_role():
    assert PROMPT.text == "[system]\nYou deliberate.\n\n[user]\nSpeak."


@thorough
@given(speeches)
def test_words_are_read_as_they_are(text):
    assert Words().read(f" \n{text}\n\t ") == text.strip().strip("\ufeff").strip()


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\ufeff", " \ufeff \n"])
def test_a_reply_without_words_is_unreadable(text):
    with pytest.raises(UnreadableReply, match="^the reply is empty$"):
        Words().read(text)


@thorough
@given(texts)
def test_speech_is_kept_whatever_it_looks_like(text):
    try:
        assert Words().read(text) in text
    except UnreadableReply:
        assert not text.strip().strip("\ufeff").strip()


def test_a_statement_beyond_the_limit_is_unreadable_and_its_length_is_named():
    assert Words(3).read(" one two\nthree ") == "one two\nthree"
    with pytest.raises(UnreadableReply, match=r"^the reply has 4 words; at most 3 are read$"):
        Words(3).read("one two three four")
    with pytest.raises(UnreadableReply, match="50000 words"):
        Words(600).read("word " * 50_000)
    assert len(Words().read("word " * 50_000).split()) == 50_000


@quick
@given(answered_surveys())
def test_the_schema_of_a_survey_allows_every_valid_answer_and_no_other_label(answered):
    survey, answers = answered
    schema = SurveyAnswers(survey).schema()
    assert schema["required"] == [item.id for item in survey.items]
    assert set(schema["properties"]) == set(answers)
    assert schema["additionalProperties"] is False
    assert all(answers[label] in allowed["enum"] for label, allowed in schema["properties"].items())
    assert schema["properties"]["C1"]["enum"] == list(survey.scale)
    assert schema["properties"]["P1"]["enum"] == list(range(1, len(survey.preferences) + 1))


# From completion to value


def test_a_readable_completion_gives_its_value_and_stays_as_it_is():
    completion = Completion(" Hello. ", model_requested="m")
    assert read(PROMPT, completion) == ("Hello.", completion)


def test_an_unreadable_completion_keeps_its_raw_text_and_names_the_fault():
    prompt = dataclasses.replace(PROMPT, reply=SurveyAnswers(Survey("s", ITEMS)))
    value, completion = read(prompt, Completion("C1: 9\nC2: 1\nP1: 1\nP2: 2", model_requested="m"))
    assert value is None
    assert completion == Completion(
        "C1: 9\nC2: 1\nP1: 1\nP2: 2", "unreadable", "C1 has 9, outside 1 to 7", model_requested="m"
    )


@pytest.mark.parametrize("status", ["refusal", "length", "content_filter", "timeout", "unreadable"])
def test_only_ok_yields_data(status):
    completion = Completion("These words are readable.", status, "because")
    assert read(PROMPT, completion) == (None, completion)


# Examples, by which sessions are rehearsed


@quick
@given(answered_surveys())
def test_every_survey_takes_its_own_example_and_reads_the_real_labels_in_it(answered):
    survey, _ = answered
    for reversed_ in (False, True):
        form = SurveyAnswers(survey, reversed_)
        assert set(form.read(form.example("[x]", 50))) == {item.id for item in survey.items}


def test_example_speech_opens_with_its_label_and_keeps_to_the_length_and_to_the_limit():
    assert Words().example("[statement of Ann]") == "[statement of Ann]"
    assert len(Words().example("[statement of Ann]", 150).split()) == 150
    assert len(Words(20).read(Words(20).example("[statement of Ann]", 150)).split()) == 20
