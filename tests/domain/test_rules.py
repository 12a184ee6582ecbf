"""The rules of speeches: what breaks them, what does not, and cutting at the end of a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import thorough

from delibsim.domain.rules import KINDS, Rules, cut

LOOSE = Rules(1, 1000)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("See https://a.b/c for this.", "link"), ("See www.votes.org.", "link"), ("Read it on votes.org today.", "link"),
        ("As was shown (Smith, 2019), it works.", "citation"), ("It works [3].", "citation"), ("Jones et al. say so.", "citation"),
        ("As (Smith and Jones 2019a; Lee et al., 2020) show.", "citation"), ("It holds [1, 2] here.", "citation"),
        ("As an AI, I have no view.", "disclosure"), ("I'm just a language model.", "disclosure"), ("I am an AI.", "disclosure"),
        ("I was trained by OpenAI to say so.", "disclosure"), ("It is not in my training data.", "disclosure"),
        ("Being a large language model, I cannot vote.", "disclosure"), ("As an artificial intelligence I cannot vote.", "disclosure"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_named_with_its_kind_and_the_words(text, kind):
    broken = LOOSE.broken(text)
    assert list(broken) == [kind]
    assert broken[kind].endswith(")")


@pytest.mark.parametrize(
    "text",
    [
        "This house would ban AI-generated art, and an AI cannot be an artist.", "An AI is as good as its makers.",
        "Turnout rose (by ten points, in 2019) after the reform.", "I was trained by my father to argue.",
        "We won. Next, the costs.", "The U.S. and the E.U. agree, e.g. on this.", "Google and Meta sell targeted advertisements.",
    ],
)  # fmt: skip
def test_what_a_debate_may_well_say_breaks_none(text):
    assert LOOSE.broken(text) == {}


def test_the_number_of_words_is_told():
    rules = Rules(3, 5)
    assert rules.broken("one two") == {
        "too_short": "the speech has 2 words; at least 3 are asked for"
    }
    assert rules.broken("one two three four five six") == {
        "too_long": "the speech has 6 words; at most 5 are allowed"
    }
    assert rules.broken("one two three") == rules.broken("one two three four five") == {}


@pytest.mark.parametrize("limits", [(0, 5), (6, 5)])
def test_limits_nobody_can_keep_are_refused(limits):
    with pytest.raises(ValueError, match=r"rules\.least"):
        Rules(*limits)
    with pytest.raises(ValueError, match=r"rules\.reasks"):
        Rules(reasks=-1)


@thorough
@given(
    st.lists(
        st.sampled_from(["so", "it", "is.", "yes!", "“no.”", "then"]), min_size=1, max_size=30
    ).map(" ".join),
    st.integers(1, 12),
)
def test_a_cut_is_a_beginning_that_ends_a_sentence_and_no_longer_one_does(text, most):
    found = cut(text, most)
    assert text.startswith(found)
    if found != text:
        assert len(found.split()) <= most
        assert found.rstrip("”")[-1] in ".!?"
        rest = text[len(found) :].split()
        ends = [
            i
            for i, word in enumerate(rest, len(found.split()) + 1)
            if word.rstrip("”")[-1] in ".!?"
        ]
        assert not ends or ends[0] > most


def test_a_text_without_an_end_within_the_limit_is_not_cut_in_the_middle():
    assert cut("one two three four", 2) == "one two three four"


def test_kinds_are_those_that_are_told():
    assert set(LOOSE.broken("As an AI see a.org [1]")) <= set(KINDS)
