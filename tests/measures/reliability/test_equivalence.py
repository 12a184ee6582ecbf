"""Differences of coefficients on the same texts against irrCAC's, and the bootstrap of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import difference, resampled_differences, verdicts
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

KEPT = json.loads((Path(__file__).parents[2] / "reference" / "agreement.json").read_text())
KEPT = KEPT["difference"]
NA = math.nan


@pytest.fixture
def tables():
    """Ensemble and first person, first and second person."""
    a, b, ensemble = ([float(code) for code in KEPT[name]] for name in ("a", "b", "ensemble"))
    return np.column_stack([ensemble, a]), np.column_stack([a, b])


def test_the_difference_and_its_tests_are_those_of_the_reference(tables):
    found = difference(*tables, KEPT["levels"], "ac", KEPT["weighting"])
    for own, kept in ((found.first, KEPT["first"]), (found.second, KEPT["second"]), (found, KEPT)):
        assert own.value == pytest.approx(kept["value"], abs=1e-8)
        assert own.error == pytest.approx(kept["error"], abs=1e-8)
    assert found.interval() == pytest.approx(KEPT["interval_95"], abs=1e-6)
    assert found.interval(0.9) == pytest.approx(KEPT["interval_90"], abs=1e-6)
    tested = found.equivalence(KEPT["bound"])
    assert tested.p == pytest.approx(KEPT["p"], abs=1e-6)
    assert (tested.low, tested.high) == pytest.approx(KEPT["interval_90"], abs=1e-6)
    assert verdicts(*found.interval(), KEPT["bound"]) == ("undecided",)


def test_the_bootstrap_of_the_difference_draws_the_same_texts_for_both(tables):
    drawn = resampled_differences(*tables, KEPT["levels"], "ac", "linear", 4000, 1)
    assert drawn.std(ddof=1) == pytest.approx(KEPT["bootstrap_error"], abs=0.003)
    low, high = percentile_interval(drawn)
    assert low < 0 < high
    none = resampled_differences(tables[0], tables[0], KEPT["levels"], "kappa", "linear", 100, 1)
    assert np.nanmax(np.abs(none)) == 0


@pytest.mark.parametrize("kind", [("kappa", "linear"), ("fleiss", "linear"), ("alpha", "interval")])
def test_the_error_in_closed_form_is_near_that_of_the_bootstrap(kind):
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, (300, 1))
    noise = rng.integers(0, 4, (300, 3))
    a, b, c = np.where(rng.random((300, 3)) < [0.8, 0.7, 0.6], truth, noise).T
    pair = np.column_stack([a, b]), np.column_stack([a, c])
    found = difference(*pair, range(4), *kind)
    drawn = resampled_differences(*pair, range(4), *kind, 2000, 2)
    assert found.error == pytest.approx(drawn.std(ddof=1), rel=0.08)
    assert found.value == pytest.approx(drawn.mean(), abs=0.01)


def test_texts_that_one_side_lacks_are_left_out_and_counted(tables):
    one, other = (table.copy() for table in tables)
    one[0], other[1], one[2], other[2] = NA, NA, NA, NA
    found = difference(one, other, KEPT["levels"], "ac", "linear")
    assert (found.texts, found.left_out) == (17, 2)
    whole = coefficient(codes_of(tables[0][3:], KEPT["levels"]), "ac", "linear")
    assert found.first == whole


def test_a_difference_of_what_is_undefined_is_undefined_for_that_reason():
    alike = np.zeros((5, 2))
    found = difference(alike, alike, [0, 1], "kappa")
    assert found.reason == "one_category"
    assert math.isnan(found.value + found.error)
    assert verdicts(*found.interval(), 0.1) == ()
    assert math.isnan(difference(np.eye(2), np.eye(2), [0, 1], "alpha", "ordinal").error)
    assert math.isnan(found.equivalence(0.1).p)
    with pytest.raises(ValueError, match="margin"):
        found.equivalence(0)
    same = difference(np.eye(2), np.eye(2), [0, 1])
    assert (same.value, same.error, same.equivalence(0.1).p) == (0, 0, 0)
    with pytest.raises(ValueError, match="the same texts, and not 5 and 4 rows"):
        difference(alike, alike[1:], [0, 1])


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.05, 0.05, ("equivalent",)),
        (0.01, 0.05, ("equivalent", "different")),
        (0.12, 0.2, ("different", "better")),
        (-0.2, -0.12, ("different", "worse")),
        (0.05, 0.2, ("different",)),
        (-0.05, 0.2, ("undecided",)),
    ],
)
def test_verdicts(low, high, said):
    assert verdicts(low, high, 0.1) == said
