"""Names of files that stay in their folder, and factorial designs that can grow."""

import shlex
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import quick, thorough

from delibsim.domain.participant import Participant
from delibsim.domain.study import Group, cross, slug
from delibsim.domain.survey import Item, Survey, Topic
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Treatment, Wording

HOSTILE = [
    "../../x", "/etc/x", "..", ".", "", " ", "CON", "con", "con.txt", "NUL", "nul", "com1", "com9.x", "lpt9", "a/b", "a\\b", "a:b",
    "a\0b", "a\nb", "x" * 300, "X" * 300, "x" * 301, "🙂", "🙃", ".hidden", "trailing.", "trailing", "Trailing", "TRAILING", "a b",
    "a-b", "ａ", "é", "e\u0301", "~", "$HOME", "*", "-", "--", "a..b", "a.b", "ı", "i", "İ", "ß", "ss", "\ud83d",
]  # fmt: skip

name = st.text(max_size=40) | st.text("ab./-_ AB\\\0", max_size=8) | st.sampled_from(HOSTILE)


def test_plain_names_are_kept():
    plain = ["normative_a", "ccps", "gpt-4.1-mini", "r1", "2026", "a.b", "x" * 60]
    assert [slug(given_name) for given_name in plain] == plain


@thorough
@given(name)
def test_a_slug_holds_no_separator_no_leading_dot_and_at_most_120_characters(given_name):
    made = slug(given_name)
    assert made.isascii()
    assert made.isprintable()
    assert not set(made) & set('/\\:*?"<>| ')
    assert made == made.lower()
    assert 1 <= len(made) <= 120
    assert not made.startswith(".")
    assert not made.endswith(".")
    assert Path(made).name == made
    assert made.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@thorough
@given(name, name)
@example("../../x", "x-a8f66ef7")  # a plain name that looks like the slug of a hostile one
def test_two_names_share_no_slug_even_where_case_does_not_count(one, other):
    assume(one != other)
    assert slug(one).casefold() != slug(other).casefold()


# Factorial designs

SURVEY = Survey(
    "s",
    tuple(
        Item(f"{k}{i}", kind, "text")
        for k, kind in (("C", "consideration"), ("P", "preference"))
        for i in (1, 2)
    ),
)
WORDING = Wording("w", {})


def group(label, model="citizen"):
    return Group(
        label,
        (Participant("Ann", model=model), Participant("Bob", model=model)),
        {model: {"kind": "citizen"}},
    )


def design(topics, treatments, groups, replicates, seed=0):
    return cross(
        [(Topic(topic, "?"), SURVEY) for topic in topics],
        (Treatment(treatment) for treatment in treatments),
        (group(label) for label in groups),
        WORDING,
        (replicate for replicate in replicates),
        seed,
    )


small = st.lists(
    st.sampled_from(["a", "b", "../c", "D", "d", "e.e"]), min_size=1, max_size=4, unique=True
)


@quick
@given(
    small, small, small, st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True), st.data()
)
def test_enlarging_a_design_leaves_the_sessions_it_had_equal(
    topics, treatments, groups, replicates, data
):
    before = design(topics, treatments, groups, replicates, seed=3)
    more = [data.draw(st.permutations(factor + added)) for factor, added in (
        (topics, ["new"]), (treatments, ["new"]), (groups, ["new"]), (replicates, [10, 11]),
    )]  # fmt: skip
    after = {session.id: session for session in design(*more, seed=3)}
    assert [after[session.id] for session in before] == list(before)
    assert [after[s.id].seed_for("Ann", "pre", 0) for s in before] == [
        s.seed_for("Ann", "pre", 0) for s in before
    ]
    assert len(after) == (len(topics) + 1) * (len(treatments) + 1) * (len(groups) + 1) * (
        len(replicates) + 2
    )


@pytest.mark.parametrize("name", ["first", "my study", "it's", "a;b", "été"])
def test_a_study_is_named_in_one_way_that_a_shell_takes(name):
    (_, word) = shlex.split(study_named(name))
    assert word == name
