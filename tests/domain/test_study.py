"""Names of files that stay in their folder, and factorial designs that can grow."""

import itertools
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
from delibsim.domain.treatment import Procedure, Treatment, Wording

HOSTILE = [
    "../../x", "/etc/x", "..", ".", "", " ", "CON", "con", "con.txt", "NUL", "nul", "com1", "com9.x", "lpt9", "a/b", "a\\b", "a:b",
    "a\0b", "a\nb", "x" * 300, "X" * 300, "x" * 301, "🙂", "🙃", ".hidden", "trailing.", "trailing", "Trailing", "TRAILING", "a b",
    "a-b", "ａ", "é", "e\u0301", "~", "$HOME", "*", "-", "--", "a..b", "a.b", "ı", "i", "İ", "ß", "ss", "\ud83d",
]  # fmt: skip

name = st.text(max_size=40) | st.text("ab./-_ AB\\\0", max_size=8) | st.sampled_from(HOSTILE)


@pytest.mark.parametrize("given_name", HOSTILE)
def test_a_slug_is_a_file_that_can_be_made_in_its_folder(tmp_path, given_name):
    path = tmp_path / slug(given_name)
    path.write_text("x")
    assert path.resolve().parent == tmp_path.resolve()
    assert path.name not in ("", ".", "..")


def test_hostile_names_stay_distinct_on_every_file_system():
    assert len({slug(given_name).casefold() for given_name in HOSTILE}) == len(HOSTILE)


def test_plain_names_are_kept():
    plain = ["normative_a", "ccps", "gpt-4.1-mini", "r1", "2026", "a.b", "x" * 60]
    assert [slug(given_name) for given_name in plain] == plain


def test_a_slug_still_shows_what_it_names():
    assert slug("Climate & Energy").startswith("climate-energy-")
    assert slug("🙂").startswith("name-")
    assert slug("Q" * 300).startswith("q" * 60 + "-")


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


def test_the_slug_of_a_slug_is_not_the_slug_of_another_name():
    assert slug(slug("Ann")) != slug("Ann")


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


def cells(sessions):
    return {(s.topic.id, s.treatment.name, s.id.split(".")[2], s.replicate) for s in sessions}


def test_a_design_holds_every_cell_once():
    factors = (
        ["ccps", "acp", "bep"],
        ["none", "basic", "normative"],
        ["citizen", "mixed"],
        [1, 2, 3, 4, 5],
    )
    sessions = design(*factors)
    assert len(sessions) == 3 * 3 * 2 * 5
    assert cells(sessions) == set(itertools.product(*factors))
    assert len({session.id for session in sessions}) == 90


def test_every_session_holds_what_its_cell_says():
    people = group("big", "large")
    procedure = Procedure(shuffle_items=False)
    (session,) = cross(
        [(Topic("ccps", "?"), SURVEY)],
        [Treatment("basic", "Talk.", 3)],
        [people],
        WORDING,
        [4],
        11,
        procedure,
    )
    assert session.id == "ccps.basic.big.r4"
    assert (session.topic.id, session.survey, session.wording, session.procedure) == (
        "ccps",
        SURVEY,
        WORDING,
        procedure,
    )
    assert (session.treatment.rounds, session.participants, session.models) == (
        3,
        people.participants,
        people.models,
    )
    assert (session.seed, session.replicate, session.format) == (11, 4, "deliberation")


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


@quick
@given(small, small, small, st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True))
def test_names_of_sessions_are_unique_and_files_in_one_folder(
    topics, treatments, groups, replicates
):
    ids = [session.id for session in design(topics, treatments, groups, replicates)]
    assert (
        len({session.casefold() for session in ids})
        == len(ids)
        == len(topics) * len(treatments) * len(groups) * len(replicates)
    )
    assert all(Path(session).name == session and not session.startswith(".") for session in ids)


def test_names_with_dots_do_not_make_two_cells_one():
    ids = [session.id for session in design(["a", "a.b"], ["c", "b.c"], ["g"], [1])]
    assert len(set(ids)) == 4


def test_a_session_of_long_names_still_fits_in_a_folder(tmp_path):
    (session,) = design(["t" * 300], ["r" * 120], ["g" * 120], [1])
    (tmp_path / session.id).mkdir()
    assert [path.name for path in tmp_path.iterdir()] == [session.id]


def test_a_design_has_one_replicate_by_default():
    (session,) = cross([(Topic("a", "?"), SURVEY)], [Treatment("x")], [group("g")], WORDING)
    assert (session.id, session.replicate, session.seed) == ("a.x.g.r1", 1, 0)


def test_treatments_and_groups_share_seeds_within_a_replicate():
    seeds = {
        (s.topic.id, s.replicate, s.seed_for("Ann", "pre", 0))
        for s in design(["a", "b"], ["x", "y"], ["g", "h"], [1, 2])
    }
    assert len(seeds) == 4


@pytest.mark.parametrize("name", ["first", "my study", "it's", "a;b", "été"])
def test_a_study_is_named_in_one_way_that_a_shell_takes(name):
    (_, word) = shlex.split(study_named(name))
    assert word == name
