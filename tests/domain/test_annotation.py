"""Panels on paper. Allocations of debates to raters: what balance means is counted, whatever the
numbers. What differs between debates that are pooled, beyond motion and debaters.
"""

from collections import Counter

import numpy as np
import pytest
from debates import debate
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from delibsim.domain.annotation import Coder, Panel, allocate
from delibsim.domain.effect import differing
from delibsim.domain.errors import WrongInput
from delibsim.domain.treatment import Wording

WORDING = Wording("plain", {})


@pytest.mark.parametrize("name", ["", " panel", "two\nlines", "<you>"])
def test_a_name_that_could_not_stand_in_a_prompt_is_refused(name):
    with pytest.raises(ValueError, match="printable line"):
        Panel(name, (Coder(name, 1),), {}, WORDING)


def test_coders_of_another_panel_are_refused():
    with pytest.raises(ValueError, match="'a' holds coders of another panel"):
        Panel("a", (Coder("a", 1), Coder("b", 2)), {}, WORDING)


def debates(motions, each):
    """So many debates on each of so many motions: the motion by the name of the debate."""
    return {f"m{i}.d{k}": f"m{i}" for i in range(motions) for k in range(each)}


def raters_per_debate(subjects, allocation):
    """How many raters each debate is allocated to."""
    shown = Counter(showing.debate for own in allocation.values() for showing in own)
    return {debate: shown[debate] for debate in subjects}


def raters(n, panel="panel"):
    return [f"{panel} {k}" for k in range(1, n + 1)]


def led(showings):
    """By how much one side leads as Speaker A."""
    return abs(sum(1 if one.first == "proposition" else -1 for one in showings))


sizes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 25), st.data())


@quick
@given(sizes, st.integers(0, 5))
def test_every_debate_is_rated_equally_often_and_shown_from_both_sides(size, seed):
    motions, each, n, data = size
    subjects = debates(motions, each)
    share = data.draw(st.integers(1, len(subjects)))
    found = allocate(subjects, raters(n), share, seed)
    counts = raters_per_debate(subjects, found).values()
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == n * share
    for showings in found.values():
        assert len({one.debate for one in showings}) == len(showings) == share
    shown = [one for showings in found.values() for one in showings]
    for subject in subjects:
        assert led([one for one in shown if one.debate == subject]) <= 1


@quick
@given(sizes, st.integers(1, 10))
def test_more_raters_later_are_the_same_as_more_raters_at_once(size, more):
    motions, each, n, data = size
    subjects = debates(motions, each)
    share = data.draw(st.integers(1, len(subjects)))
    first = allocate(subjects, raters(n), share, 3)
    at_once = allocate(subjects, raters(n + more), share, 3)
    assert list(at_once.items())[:n] == list(first.items())
    assert allocate(subjects, raters(n + more), share, 3, earlier=first) == at_once


def test_the_published_design_is_balanced_in_all_that_was_asked_for():
    """A hundred debates on ten motions, ten for each of fifty raters: five raters a debate."""
    subjects = debates(10, 10)
    for seed in range(5):
        found = allocate(subjects, raters(50), 10, seed)
        assert set(raters_per_debate(subjects, found).values()) == {5}
        assert {len({subjects[one.debate] for one in own}) for own in found.values()} == {10}
        assert sum(led(own) == 0 for own in found.values()) >= 45
        assert max(led(own) for own in found.values()) <= 2
        places = {debate: [] for debate in subjects}
        for own in found.values():
            for place, one in enumerate(own):
                places[one.debate].append(place)
        means = np.array([np.mean(own) for own in places.values()])
        # Of five places drawn at random from ten, the mean has a standard deviation of 1.28.
        assert means.std() < 0.5
        assert means.mean() == pytest.approx(4.5)


def test_debates_held_later_go_to_the_raters_who_join_until_they_have_caught_up():
    before, after = debates(2, 3), debates(3, 3)
    first = allocate(before, raters(6), 3, 0)
    more = allocate(after, raters(12), 3, 0, earlier=first)
    assert list(more.items())[:6] == list(first.items())
    joined = {one.debate for own in list(more.values())[6:9] for one in own}
    assert joined == set(after) - set(before)
    assert set(raters_per_debate(after, more).values()) == {4}


@pytest.mark.parametrize("each", [0, -1, 13])
def test_what_no_rater_can_rate_is_refused_with_what_can_be(each):
    with pytest.raises(WrongInput, match=rf"at least 1 debate and at most all 12 .*, not {each}"):
        allocate(debates(3, 4), raters(2), each, 0)


def test_other_motions_debaters_and_replicates_are_no_other_condition(tmp_path):
    one = debate(tmp_path, "proposition=citizen_eloquent", "opposition=citizen_halting")
    other = debate(tmp_path, "proposition=citizen_plain", "opposition=citizen", motion="nuclear")
    alone = debate(tmp_path, "replicate=2")
    assert differing([one, other, alone]) == {}


def test_what_else_differs_is_named_with_its_values(tmp_path):
    one = debate(tmp_path, "temperature=0")
    other = debate(tmp_path, "temperature=0.7", "audience=2", "persona=values")
    found = differing([one, other])
    assert set(found) == {"temperature", "audience", "persona"}
    assert found["temperature"] == ("0", "0.7")
    assert found["audience"] == ("0", "2")


def test_values_of_one_name_are_told_apart(tmp_path):
    one = debate(tmp_path)
    other = debate(tmp_path, "treatment.instructions=Sing.")
    (told,) = differing([one, other]).values()
    assert len(set(told)) == 2
    assert all(value.startswith("oxford (") for value in told)
