"""Differences in words: both texts can be told from the pieces, and no text takes long."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.domain.word_differences import (
    MOST,
    alike,
    marked,
    passages,
    word_differences,
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
