"""Strengths against values of R, of the published code, and of maxima found at 30 digits."""

import numpy as np
import pytest
from pair_votes import REFERENCE, votes_of
from scipy.special import gammaln

from delibsim.measures.bradley_terry.counts import counted, tabled
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.likelihood import Dummy, Normal
from delibsim.measures.bradley_terry.uncertainty import uncertainty

OTHERS = [(0, 1), (0, 2), (0, 3)]


def near(expected, digits=9):
    return pytest.approx(expected, abs=0.6 * 10.0**-digits)


def citations():
    wins = np.array(REFERENCE["citations"]["wins"])
    low, high = np.triu_indices(4, 1)
    return tabled(4, low, high, wins[low, high], 0 * low, wins[high, low])


def baseball():
    rows = []
    for home, line in enumerate(REFERENCE["baseball"]["home"]):
        for away, cell in enumerate(line.split()):
            if cell != "-":
                won, lost = cell.split("-")
                rows.append((home, away, int(won), 0, int(lost)))
    return tabled(7, *np.array(rows).T)


def test_citations_of_journals_as_r_gives_them():
    expected, votes = REFERENCE["citations"], citations()
    found = fit(votes, Model("bt", penalty=None))
    errors = uncertainty(found, clustered=False)
    assert (found.scores - found.scores[0])[1:] == near(expected["less_first"], 10)
    assert errors.difference_errors(OTHERS) == near(expected["errors"], 10)
    assert found.scores == near(expected["scores"], 8)
    assert errors.scores == near(expected["score_errors"], 8)
    ways = gammaln(votes.votes + 1) - gammaln(votes.a + 1) - gammaln(votes.b + 1)
    assert found.log_likelihood + ways.sum() == near(expected["log_likelihood"], 8)
    normal = fit(votes, Model("bt", penalty=Normal(5**0.5)))
    assert normal.raw == near(expected["normal_sqrt_5"], 8)


def test_the_advantage_of_playing_at_home():
    expected = REFERENCE["baseball"]
    found = fit(baseball(), Model("bt", order=True, penalty=None))
    errors = uncertainty(found, clustered=False)
    assert [found.delta[0], errors.delta().error[0]] == near(expected["delta"], 10)
    assert (found.scores - found.scores[6])[:6] == near(expected["less_last"], 10)
    pairs = [(team, 6) for team in range(6)]
    assert errors.difference_errors(pairs) == near(expected["errors"], 10)
    without = fit(baseball(), Model("bt", penalty=None)).scores
    for team, value in expected["without_order"].items():
        place = expected["teams"].index(team)
        assert without[place] - without[6] == near(value, 10)


@pytest.mark.parametrize(
    "row", REFERENCE["judge_1"], ids=lambda row: f"{row['kind']} {row['order']}"
)
def test_one_judge_as_glm_and_polr_give_it(row):
    model = Model(row["kind"], order=row["order"], penalty=None, ties=row.get("ties", "dropped"))
    found = fit(votes_of(1), model)
    errors = uncertainty(found, clustered=False)
    assert (found.scores - found.scores[0])[1:] == near(row["less_a"])
    # R's glm() takes errors from the weights of the step before the last.
    assert errors.difference_errors(OTHERS) == near(row["errors"], 8)
    if "delta" in row:
        assert [found.delta[0], errors.delta().error[0]] == near(row["delta"], 8)
    if "theta" in row:
        assert [found.theta[0], errors.theta().error[0]] == near(row["theta"])
    if "log_nu" in row:
        error = errors.theta().error[0] / found.theta[0]
        assert [np.log(found.theta[0]), error] == near(row["log_nu"])
    if "log_likelihood" in row:
        assert found.log_likelihood == near(row["log_likelihood"], 8)


def test_scores_that_add_up_to_0_have_errors_of_their_own():
    expected = REFERENCE["judge_1_scores"]
    found = fit(votes_of(1), Model(penalty=None))
    assert found.scores == near(expected["scores"], 8)
    assert uncertainty(found, clustered=False).scores == near(expected["errors"], 8)


@pytest.mark.parametrize("judge", [2, 3])
def test_the_other_judges_alone(judge):
    expected = REFERENCE[f"judge_{judge}"]
    found = fit(votes_of(judge), Model(order=True, penalty=None))
    assert (found.scores - found.scores[0])[1:] == near(expected["less_a"], 8)
    # polr() stops where the deviance changes by less than 1e-8 of it, which is seven digits here.
    assert [found.theta[0], found.delta[0]] == near([expected["theta"], expected["delta"]], 7)
    assert found.problem.slope(found.problem.at(found.point))[0][-2:] == near([0, 0], 9)


def test_judges_with_a_bias_of_their_own():
    expected = REFERENCE["own_bias"]
    found = fit(votes_of(1, 2, 3), Model(order=True, penalty=None, judges="own_bias"))
    assert found.log_likelihood == near(expected["log_likelihood"], 8)
    assert (found.scores - found.scores[0])[1:] == near(expected["less_a"], 10)
    errors = uncertainty(found, clustered=False)
    assert errors.difference_errors(OTHERS) == near(expected["errors"], 9)
    assert found.theta == near(expected["theta"], 8)
    assert found.delta == near(expected["delta"], 10)
    assert found.alpha.tolist() == [1, 1, 1]


@pytest.mark.parametrize("signed", [False, True])
def test_judges_who_tell_texts_apart_unequally_well(signed):
    expected = REFERENCE["discriminating"]
    model = Model(order=True, penalty=None, judges="discriminating", signed=signed)
    found = fit(votes_of(1, 2, 3), model)
    errors = uncertainty(found, clustered=False)
    assert found.log_likelihood == near(expected["log_likelihood"], 8)
    assert found.scores == near(expected["scores"], 8)
    assert found.alpha == near(expected["alpha"], 8)
    assert np.prod(found.alpha) == pytest.approx(1, abs=1e-12)
    assert found.theta == near(expected["theta"], 8)
    assert found.delta == near(expected["delta"], 10)
    assert errors.delta().error == near(expected["delta_errors"], 9)
    scale = found.alpha[0]
    assert scale * (found.scores - found.scores[0])[1:] == near(expected["less_a_alpha_1"], 10)
    logs = np.log(found.alpha)
    assert logs[1:] - logs[0] == near(expected["log_alpha"], 9)
    covariance = errors.judges[6:, 6:]
    apart = np.diag(covariance) + covariance[0, 0] - 2 * covariance[0]
    assert np.sqrt(apart[1:]) == near(expected["log_alpha_errors"], 8)


def test_the_test_of_equal_discrimination():
    fits = [
        fit(votes_of(1, 2, 3), Model(order=True, penalty=None, judges=kind))
        for kind in ("own_bias", "discriminating")
    ]
    found = likelihood_ratio(fits[0].log_likelihood, fits[1].log_likelihood, 2)
    assert found.statistic == near(REFERENCE["discriminating"]["ratio"], 6)
    assert found.p == pytest.approx(np.exp(-found.statistic / 2), rel=1e-12)  # chi-squared, 2 df
    with pytest.raises(ValueError, match="no further"):
        likelihood_ratio(-2, -1, 0)


def test_crowd_bt():
    expected = REFERENCE["crowd_bt"]
    found = crowd_bt(votes_of(1, 2, 3))
    assert found.eta == near(expected["eta"], 8)
    assert found.raw == near(expected["raw"], 10)
    assert found.objective == near(expected["objective"], 8)
    assert found.flags == ()
    assert (found.eta_low < found.eta).all()
    assert (found.eta < found.eta_high).all()


@pytest.mark.parametrize(
    ("name", "penalty"),
    [("dummy_0.1", Dummy()), ("dummy_0.5", Dummy(0.5)), ("normal_1", Normal(1))],
)
def test_a_text_that_won_all_has_a_strength_with_a_penalty_and_keeps_its_note(name, penalty):
    votes = tabled(3, [0, 1, 2], [1, 2, 1], [3, 2, 1], [0, 0, 0], [0, 0, 0])
    found = fit(votes, Model("bt", penalty=penalty))
    assert found.raw == near(REFERENCE["won_all"][name], 10)
    assert found.notes[0] == "won_all"


def test_the_example_of_the_published_code():
    expected = REFERENCE["published"]
    votes = []
    for one, sign, other in expected["votes"].split():
        votes.append(("ABCD".index(one), "ABCD".index(other), int(sign == ">")))
    found = fit(counted(4, *np.array(votes).T), Model(theta=0.01, penalty=Dummy(0.3, 1)))
    assert found.raw == near(expected["raw"], 8)
    assert found.log_likelihood == near(expected["log_likelihood"], 8)
    assert found.penalty == near(expected["penalty"], 8)
