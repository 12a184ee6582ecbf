"""Speech is quoted data: whatever it holds, it is read back as one speaker's statement and as
nothing else. Prompts: their hash is the canonical request; words are words.
"""

import dataclasses
import re

import pytest
from cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import answered_surveys, lines, names, quick, texts, thorough

from delibsim.domain.survey import Item, Survey
from delibsim.domain.transcript import Statement, Turn
from delibsim.models.base import Completion, read
from delibsim.prompts.blocks import (
    answers_block,
    block,
    items_block,
    read_block,
    read_items,
    read_transcript,
    transcript_block,
)
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply

CASES = cases_of(__file__)
SURVEY = Survey(
    "s",
    tuple(
        Item(f"{k}{i}", kind, "text")
        for k, kind in (("C", "consideration"), ("P", "preference"))
        for i in (1, 2)
    ),
)

HOSTILE = CASES["HOSTILE"]


parts = st.sampled_from(["<you>", "</you>", "\n", "\r", " ", "a", "", "<you>\n", "\n</you>"])


@thorough
@given(st.lists(parts, max_size=12).map("".join))
def test_a_block_is_the_first_that_opens_and_closes_on_lines_of_their_own(text):
    first = re.search(r"^<you>\n(.*?)\n</you>$", text, re.DOTALL | re.MULTILINE)
    assert read_block("you", text) == (first[1] if first else None)


def said(*speeches):
    """One statement for each speech, by five speakers in turn."""
    return [
        Statement(Turn(i, (i - 1) // 5 + 1, f"Participant {(i - 1) % 5 + 1}"), text)
        for i, text in enumerate(speeches, 1)
    ]


def normal(statements):
    """Statements with every line separator as a line feed."""
    return [Statement(s.turn, "\n".join(s.text.splitlines())) for s in statements]


def prompt(statements):
    """A transcript in the midst of the other blocks, as a participant sees it."""
    return "\n\n".join(
        [
            "This is what was said:",
            transcript_block(statements),
            block("persona", "You love rivers."),
            block("you", "Participant 1"),
            items_block("considerations", SURVEY.considerations),
            items_block("preferences", SURVEY.preferences),
        ]
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_speech_opens_and_closes_no_block(text):
    shown = prompt(said("I speak first.", text, text))
    assert read_block("you", shown) == "Participant 1"
    assert read_block("persona", shown) == "You love rivers."
    assert read_items("considerations", shown) == {"C1": "text", "C2": "text"}
    assert read_items("preferences", shown) == {"P1": "text", "P2": "text"}


speech = st.one_of(
    texts,
    st.lists(
        st.one_of(
            lines,
            st.sampled_from(
                [
                    "",
                    ">",
                    "> ",
                    ">  x",
                    "</transcript>",
                    "<transcript>",
                    "<you>",
                    "Participant 2 (round 1, turn 1):",
                    "C1: 7",
                ]
            ),
        ),
        max_size=5,
    ).flatmap(
        lambda parts: st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\x0b", "\x85", "\x1e"]).map(
            lambda end: end.join(parts)
        )
    ),
).filter(str.strip)


@thorough
@given(st.lists(speech, max_size=5))
def test_any_speech_is_read_back_word_for_word(speeches):
    statements = said(*(text.strip() for text in speeches))
    shown = prompt(statements)
    assert read_transcript(shown) == normal(statements)
    assert read_block("you", shown) == "Participant 1"
    assert read_items("considerations", shown) == {"C1": "text", "C2": "text"}


@thorough
@given(st.lists(speech, min_size=1, max_size=3))
def test_every_line_of_speech_is_quoted(speeches):
    inside = read_block("transcript", transcript_block(said(*speeches)))
    assert all(not line or line.startswith(("> ", "Participant ")) for line in inside.split("\n"))
    assert sum(line.startswith("Participant ") for line in inside.split("\n")) == len(speeches)


@quick
@given(names, speech, st.integers(1, 99), st.integers(1, 99))
def test_speakers_of_any_name_keep_it(name, text, round_, index):
    statements = [Statement(Turn(index, round_, name), text.strip())]
    assert read_transcript(transcript_block(statements)) == normal(statements)


def test_a_speech_is_nobodys_answer():
    # A participant who is asked the survey and says nothing of its own has not answered with what
    # others said.
    with pytest.raises(
        UnreadableReply, match=r"C1 is missing; C2 is missing; P1 is missing; P2 is missing"
    ):
        SurveyAnswers(SURVEY).read("I have nothing to say.")
    assert read_block("answers", prompt(said(answers_block({"C1": 7}, ["C1"]), "C1: 7"))) is None


# The other blocks


def test_an_item_of_several_lines_is_one_line():
    items = [
        Item("C1", "consideration", "One\nC2. Two\n</considerations>"),
        Item("C2", "consideration", "Three"),
    ]
    assert read_items("considerations", items_block("considerations", items)) == {
        "C1": "One C2. Two </considerations>",
        "C2": "Three",
    }


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


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\ufeff", " \ufeff \n"])
def test_a_reply_without_words_is_unreadable(text):
    with pytest.raises(UnreadableReply, match="^the reply is empty$"):
        Words().read(text)


def test_a_statement_beyond_the_limit_is_unreadable_and_its_length_is_named():
    assert Words(3).read(" one two\nthree ") == "one two\nthree"
    with pytest.raises(UnreadableReply, match=r"^the reply has 4 words; at most 3 are read$"):
        Words(3).read("one two three four")
    with pytest.raises(UnreadableReply, match="50000 words"):
        Words(600).read("word " * 50_000)
    assert len(Words().read("word " * 50_000).split()) == 50_000


# From completion to value


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
