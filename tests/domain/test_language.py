"""Which texts are German, and where texts are parted. Differences in words: both texts can be told
from the pieces, and no text takes long.
"""

from itertools import pairwise

import pytest
from cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts, thorough

from delibsim.domain.text import language, parts, prevailing, sentences
from delibsim.domain.word_differences import MOST, alike, marked, passages, word_differences
from delibsim.scorers.neural import batches

CASES = cases_of(__file__)


NEITHER = dict.fromkeys(CASES["what_is_plainly_neither_is_unknown"], "unknown")
LANGUAGES = NEITHER | {
    "Ich halte das für einen guten Vorschlag, weil er allen nützt.": "german",
    "Wer soll das bezahlen? Die Gemeinde hat kein Geld.": "german",
    "Genau so ist es.": "german",
    "Die App is great, aber die Server sind zu langsam.": "german",
    "I think this is a good proposal, because it helps all of us.": "english",
    "Who is going to pay for that?": "english",
    "As the mayor of Zürich put it, we all have to do more.": "english",
    "Schadenfreude is not a policy.": "english",
    "Buses run late, roads are loud, schools lack teachers.": "english",
    **dict.fromkeys(("", "42", "Ok.", "Tempolimit!", "??? 12:30")),
}
"""Texts and their languages; some do not say."""


@pytest.mark.parametrize(("text", "found"), LANGUAGES.items())
def test_the_language_of_a_text_is_found(text, found):
    assert language(text) == found


def test_a_text_that_does_not_say_follows_the_others():
    assert prevailing(["Ok.", "Das ist gut.", "Das sehe ich auch so.", "That is good."]) == "german"
    assert prevailing(["Ok.", "Das ist gut.", "That is good."]) == "unknown"
    assert prevailing(["Ok.", "That is good."]) == "english"
    assert prevailing(["Das ist gut.", "C'est trop cher.", "Je ne sais pas."]) == "unknown"
    assert prevailing([]) == "unknown"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("One. Two! Three? “Four.” Five", 5),
        ("Dr. Roe met Mr. Poe, i.e. nobody else, at 3 p.m. yesterday.", 1),
        ("Das kostet z. B. 3.5 Mio. Euro.\nUnd das jedes Jahr", 2),
        ("Wait ... what?", 2),
        ("", 1),
    ],
)
def test_sentences(text, n):
    assert len(sentences(text)) == n


@thorough
@given(texts)
def test_sentences_joined_are_the_text(text):
    assert "".join(sentences(text)) == text


@thorough
@given(st.text("ab .,!?\n", max_size=120), st.integers(1, 30))
def test_parts_fit_and_joined_are_the_text(text, most):
    found = parts(text, lambda part: len(part) <= most)
    assert "".join(found) == text
    assert all(len(part) <= most for part in found)


def test_parts_are_whole_sentences_where_those_fit():
    text = "One two three. Four five. Six, seven eight nine ten eleven."
    assert parts(text, lambda part: len(part) <= 26) == [
        "One two three. Four five. ",
        "Six, seven eight nine ten ",
        "eleven.",
    ]
    assert parts(text, lambda part: len(part) <= 100) == [text]


@thorough
@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_batches_hold_everything_once_by_length_and_no_more_than_allowed(lengths, tokens):
    found = list(batches(lengths, tokens))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    assert [lengths[i] for batch in found for i in batch] == sorted(lengths)
    assert all(
        len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= tokens for batch in found
    )


TEXTS = st.text(st.sampled_from("ab cé,. \n漢字")) | st.text()


def first(pieces):
    return "".join(piece.text for piece in pieces if piece.kind != "in")


def second(pieces):
    return "".join(piece.text for piece in pieces if piece.kind != "out")


@given(TEXTS, TEXTS)
def test_both_texts_can_be_told_from_the_pieces(a, b):
    pieces = word_differences(a, b)
    assert (first(pieces), second(pieces)) == (a, b)
    assert all(piece.text for piece in pieces)
    assert (a == b) == all(piece.kind == "same" for piece in pieces)
    assert 0 <= alike(pieces) <= 1
    kinds = [piece.kind for piece in pieces]
    assert ("same", "same") not in pairwise(kinds)


def test_words_are_parted_and_not_letters():
    pieces = word_differences("It was a hot day.", "It was a hat day.")
    assert [piece.text for piece in pieces if piece.kind == "out"] == ["hot"]
    assert marked(pieces) == "It was a [-hot-]{+hat+} day."


def test_words_that_changed_one_after_another_are_one_difference():
    pieces = word_differences("We shall, surely, go now", "We will, perhaps, go now")
    assert marked(pieces) == "We [-shall, surely-]{+will, perhaps+}, go now"


def test_far_from_a_difference_words_are_left_out():
    a = "one two three four five six seven eight nine ten"
    assert (
        marked(word_differences(a, a.replace("five", "5")), 1) == "... four [-five-]{+5+} six ..."
    )
    assert marked(word_differences(a, f"{a} eleven"), 2) == "... nine ten{+ eleven+}"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("word " * 50_000, "wurd " * 50_000),
        ("a b " * 25_000 + "x", "b a " * 25_000 + "y"),
        ("w" * 250_000, "v" * 250_000),
        (" ".join(map(str, range(MOST))), " ".join(map(str, range(MOST, 0, -1)))),
    ],
)
def test_no_text_is_too_long(a, b):
    pieces = word_differences(a, b)
    assert (first(pieces), second(pieces)) == (a, b)


def test_of_long_texts_the_passages_that_differ_are_given():
    a = "\n".join(f"Line {n} of the prompt." for n in range(2_000))
    b = a.replace("Line 7 of", "Line seven of").replace("Line 1999 of", "Line 1999 in")
    assert [marked(words) for words in passages(a, b)] == [
        "Line [-7-]{+seven+} of the prompt.",
        "Line 1999 [-of-]{+in+} the prompt.",
    ]
    assert passages(a, a) == []
