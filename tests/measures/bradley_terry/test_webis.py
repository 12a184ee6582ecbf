"""The Webis pairs: the published scores, and what else was computed of them."""

import numpy as np
import pytest
from pair_votes import REFERENCE, webis

from delibsim.measures.bradley_terry.counts import triads
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.likelihood import Dummy
from delibsim.measures.bradley_terry.stability import separation, split_half
from delibsim.measures.bradley_terry.strengths import z_scale
from delibsim.measures.bradley_terry.uncertainty import uncertainty

EXPECTED = REFERENCE["webis"]
PUBLISHED = Model(theta=0.05, penalty=Dummy(0.1, 1))


@pytest.fixture(scope="module")
def votes():
    return webis()


@pytest.fixture(scope="module")
def found(votes):
    return fit(votes[0], PUBLISHED)


def test_the_published_scores(votes, found):
    _, ids, published = votes
    assert len(ids) == len(published) == 1269
    z = z_scale(found.raw)
    expected = np.array([published[text] for text in ids])
    assert np.abs(z - expected).max() < 2e-4
    assert np.corrcoef(z, expected)[0, 1] > 0.999999


def test_objective_scores_and_errors(votes, found):
    ids = votes[1]
    assert found.log_likelihood == pytest.approx(EXPECTED["log_likelihood"], abs=6e-7)
    assert found.penalty == pytest.approx(EXPECTED["penalty"], abs=6e-7)
    assert found.raw.mean() == pytest.approx(EXPECTED["mean"], abs=6e-11)
    assert found.raw.std() == pytest.approx(EXPECTED["sd"], abs=6e-11)
    errors = uncertainty(found)
    assert not errors.clustered
    z = z_scale(found.raw)
    for text, expected in EXPECTED["texts"].items():
        place = ids.index(text)
        own = [found.raw[place], z[place], errors.scores[place]]
        assert own == pytest.approx(expected, abs=6e-11)
    spread = [np.median(errors.scores), errors.scores.min(), errors.scores.max()]
    assert spread == pytest.approx(list(EXPECTED["errors"].values()), abs=6e-11)
    assert separation(found.scores, errors.scores, found.graph) == pytest.approx(0.647, abs=6e-4)
    assert len(found.graph.sizes) == 20
    assert found.flags == ("not_connected",)


def test_the_threshold_estimated_and_the_order(votes, found):
    estimated = fit(votes[0], Model(penalty=Dummy(0.1, 1)), found)
    assert estimated.theta[0] == pytest.approx(EXPECTED["estimated"]["theta"], abs=6e-8)
    assert estimated.objective == pytest.approx(EXPECTED["estimated"]["objective"], abs=6e-7)
    assert np.corrcoef(estimated.raw, found.raw)[0, 1] == pytest.approx(
        EXPECTED["estimated"]["r"], abs=6e-6
    )
    order = fit(votes[0], Model(order=True, penalty=Dummy(0.1, 1)))
    assert order.theta[0] == pytest.approx(EXPECTED["order"]["theta"], abs=6e-8)
    assert order.delta[0] == pytest.approx(EXPECTED["order"]["delta"], abs=6e-8)
    assert order.objective == pytest.approx(EXPECTED["order"]["objective"], abs=6e-7)
    assert "one_order" in order.flags  # the pairs of the file come in a sorted order


def test_pairs_are_ordered_as_their_scores_and_triangles_go_round(votes, found):
    rows = votes[0]
    decided = rows.a != rows.b
    ahead = found.raw[rows.first] > found.raw[rows.second]
    share = (ahead == (rows.a > rows.b))[decided].mean()
    assert share == pytest.approx(EXPECTED["ordered"], abs=6e-7)
    won = rows.a[decided] > 0
    winners = np.where(won, rows.first[decided], rows.second[decided])
    losers = np.where(won, rows.second[decided], rows.first[decided])
    found = triads(rows.n, winners, losers)
    assert (found.triangles, found.circular) == (EXPECTED["triangles"], EXPECTED["circular"])


def test_split_halves(votes):
    halves = split_half(votes[0], PUBLISHED, seed=1, splits=5)
    assert halves.r.mean() == pytest.approx(0.485, abs=0.02)
    assert halves.rho.mean() == pytest.approx(0.49, abs=0.02)
    assert halves.tau.mean() == pytest.approx(0.34, abs=0.02)
    assert halves.reliability == pytest.approx(0.65, abs=0.02)
