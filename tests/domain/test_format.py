"""Formats: what each declares fits what is held and asked under it. Designs of tournaments: what
balance means is counted, not assumed. The rules of speeches: what breaks them, what does not,
and cutting at the end of a sentence.
"""

import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick, thorough

from delibsim.domain.errors import WrongInput
from delibsim.domain.format import (
    DEBATE,
    DELIBERATION,
    FORMATS,
    Match,
    against_baseline,
    format_named,
    round_robin,
)
from delibsim.domain.participant import AUDIENCE, SIDES
from delibsim.domain.treatment import Rules, cut


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_every_task_and_role_has_a_text_that_the_wording_needs(format):
    texts = {*format.texts, *format.optional_texts}
    assert {*format.tasks, *format.roles} <= texts
    assert set(format.fields) <= texts
    assert set(format.sides) <= set(format.roles)


def test_an_unknown_format_is_refused_with_the_closest():
    with pytest.raises(WrongInput, match="unknown format 'debat'; did you mean debate"):
        format_named("debat")


def test_only_the_sides_of_a_debate_are_not_surveyed():
    assert [DEBATE.surveyed(role) for role in (*SIDES, AUDIENCE)] == [False, False, True]
    assert DELIBERATION.surveyed("citizen")


TEN = [f"motion{i}" for i in range(10)]


def assert_balanced(matches, pairs, motions):
    per_motion = Counter(m.motion for m in matches)
    assert set(per_motion) == set(motions)
    assert len(set(per_motion.values())) == 1
    per_pair = Counter(frozenset((m.proposition, m.opposition)) for m in matches)
    assert set(per_pair) == {frozenset(pair) for pair in pairs}
    assert len(set(per_pair.values())) == 1
    as_seated = Counter((m.proposition, m.opposition) for m in matches)
    for a, b in pairs:
        assert as_seated[a, b] == as_seated[b, a]
    assert len(set(matches)) == len(matches)


@quick
@given(st.integers(2, 7), st.integers(1, 11), st.integers(0, 5))
def test_a_round_robin_is_balanced_whatever_the_numbers(debaters, motions, seed):
    names, subjects = [f"d{i}" for i in range(debaters)], [f"m{i}" for i in range(motions)]
    matches = round_robin(names, subjects, seed=seed)
    pairs = list(combinations(names, 2))
    assert_balanced(matches, pairs, subjects)
    assert len(matches) == len(pairs) * (motions if motions % 2 == 0 else 2 * motions)


@quick
@given(st.integers(2, 5), st.integers(1, 6), st.integers(1, 13))
def test_a_number_of_meetings_is_balanced_or_refused_with_numbers_that_are_not(
    debaters, motions, meetings
):
    names, subjects = [f"d{i}" for i in range(debaters)], [f"m{i}" for i in range(motions)]
    pairs = list(combinations(names, 2))
    try:
        matches = round_robin(names, subjects, meetings)
    except WrongInput as error:
        offered = [int(n) for n in re.findall(r"\d+", str(error).rpartition("can: ")[2])]
        for n in offered:
            assert_balanced(round_robin(names, subjects, n), pairs, subjects)
        assert meetings not in offered
    else:
        assert_balanced(matches, pairs, subjects)
        assert len(matches) == len(pairs) * meetings


def test_challengers_meet_the_baseline_and_nobody_else():
    matches = against_baseline("base", ["a", "b", "c"], TEN)
    assert_balanced(matches, [("base", x) for x in "abc"], TEN)


def test_the_draw_depends_on_names_and_seed_alone():
    drawn = round_robin(["a", "b", "c"], TEN, seed=3)
    assert drawn == round_robin(["c", "a", "b"], TEN[::-1], seed=3)
    assert drawn != round_robin(["a", "b", "c"], TEN, seed=4)
    assert isinstance(drawn[0], Match)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: round_robin(["a", "b"], TEN, meetings=5),
            "5 meetings of a pair cannot be split evenly between the sides",
        ),
        (
            lambda: round_robin(["a", "b"], TEN, meetings=12),
            "the nearest that can: 10 or 20 meetings",
        ),
        (lambda: round_robin(["a", "b"], TEN, meetings=1), "the nearest that can: 10 meetings"),
        (lambda: round_robin(["a", "b", "a"], TEN), "'a' is named twice"),
        (lambda: round_robin(["a"], TEN), "at least 2 must be named, not 1"),
        (lambda: round_robin(["a", "b"], []), "at least 1 must be named, not 0"),
        (lambda: against_baseline("a", ["a", "b"], TEN), "cannot challenge itself"),
        (lambda: against_baseline("a", [], TEN), "at least 1 must be named"),
        (lambda: round_robin(["a", "b"], TEN, meetings=0), "the nearest that can: 10 meetings"),
    ],
)
def test_what_cannot_be_balanced_is_refused_with_the_nearest_that_can(make, message):
    with pytest.raises(WrongInput, match=message):
        make()


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
