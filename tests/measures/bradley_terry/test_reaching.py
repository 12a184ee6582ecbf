"""What designs need: worlds with known ties, the table of PAIRS 12, and where a curve crosses."""

import math

import numpy as np
import pytest

from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.penalty import Normal
from delibsim.measures.bradley_terry.reaching import (
    Question,
    _adaptive_curve,
    _between,
    _values,
    reached,
)
from delibsim.measures.bradley_terry.worlds import World, world_with
from delibsim.measures.pair_designs import all_pairs

WORLD = World(100, 2.0, 0.3, 0.4)
PRIOR = Question(repeats=3, model=Model(order=True, penalty=Normal(2.0)))


@pytest.mark.parametrize("share", [0.01, 0.15, 0.6])
def test_equal_texts_have_the_ties_of_the_closed_form(share):
    found = world_with(10, 0.0, share, 0.0)
    assert math.tanh(found.theta / 2) == pytest.approx(share)  # Rao and Kupper with d = 0
    assert found.ties == pytest.approx(share)


def test_votes_have_the_share_of_ties_that_was_asked_for():
    world = world_with(300, 2.0, 0.15, 0.4)
    votes = world.judged(all_pairs(300), seed=1)
    assert votes.tie.sum() / votes.votes.sum() == pytest.approx(0.15, abs=0.02)
    assert world_with(300, 2.0, 0.0, 0.4).judged(all_pairs(300), seed=1).tie.sum() == 0
    assert world.truth(1).std() == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize(
    ("design", "level", "r"),
    [("random", 8, 0.87), ("random", 20, 0.95), ("both_orders", 10, 0.943), ("groups", 3, 0.868)],
)
def test_designs_reach_what_the_table_says(design, level, r):
    """PAIRS 12 at standard deviation 2; `both_orders` of 10 pairs a text takes 20 comparisons."""
    assert np.mean(_values(WORLD, design, level, PRIOR)) == pytest.approx(r, abs=0.025)


def test_adaptive_pairs_reach_it_with_fewer():
    """PAIRS 12 with probe pairs at standard deviation 2: 0.95 within 12 to 16 a text."""
    *_, (each, values) = _adaptive_curve(WORLD, PRIOR)
    assert values.mean() >= 0.95
    assert each <= 15


def test_where_a_power_law_crosses_its_target():
    curve = [(at, np.full(4, 1 - 2 / at)) for at in (5.0, 10.0, 40.0)]
    found = _between("random", curve, 0.9)
    assert found.comparisons == pytest.approx(20)
    assert found.error == pytest.approx(0)
    noisy = [(at, own + np.array([-0.01, 0.01, -0.02, 0.02])) for at, own in curve]
    assert _between("random", noisy, 0.9).error > 0.5
    first = _between("random", curve[:1], 0.5)
    assert (first.comparisons, math.isnan(first.error)) == (5.0, True)


def test_what_cannot_be_reached_is_no_number():
    world = world_with(6, 0.3, 0.15, 0.4)
    for design in ("random", "adaptive", "three_runs"):
        found = reached(world, design, Question(target=0.99, repeats=3))
        assert math.isnan(found.comparisons)
        assert found.most == (15 if design == "three_runs" else 5)
        assert found.value < 0.99


def test_the_same_seed_gives_the_same():
    world = world_with(12, 2.0, 0.15, 0.4)
    one, again, other = (
        reached(world, "random", Question(target=0.85, repeats=3, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again != other
