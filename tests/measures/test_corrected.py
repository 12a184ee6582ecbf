"""Effects corrected by people: the golden values, other programs, and what holds for any data."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.measures.corrected import corrected, models_alone, people_alone, units
from tests.corrected_data import equal_chances, example, whole_clusters

REFERENCE = Path(__file__).parents[1] / "reference" / "corrected.json"
CONTRAST = [0, 1]
ONE, BOTH = slice(0, 1), slice(0, 2)


@pytest.fixture(scope="module")
def reference():
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("made", "proxies", "given", "estimate", "se"),
    [
        (people_alone, ONE, (), 0.6041666667, 0.3038110208),
        (models_alone, ONE, (), 0.0833333333, 0.2025718478),
        (corrected, ONE, ([1],), 0.6319444444, 0.2576474821),
        (corrected, ONE, (), 0.6201718213, 0.1892839223),
        (corrected, BOTH, (), 0.5662509772, 0.1608995338),
    ],
)
def test_the_golden_values(made, proxies, given, estimate, se):
    x, both, people, chance, session = example()
    found = made(units(x, both[:, proxies], people, chance, session), CONTRAST, *given)
    assert (found.estimate, found.se) == pytest.approx((estimate, se), abs=1e-9)


def test_the_golden_weights_and_counts():
    x, both, people, chance, session = example()
    one = corrected(units(x, both[:, ONE], people, chance, session), CONTRAST)
    two = corrected(units(x, both, people, chance, session), CONTRAST)
    assert one.weights == pytest.approx([0.576185567], abs=1e-9)
    assert two.weights == pytest.approx([0.5740328337, 0.2983073315], abs=1e-9)
    assert (two.n, two.clusters) == (30, 12)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_a_contrast_is_that_of_ppi_python(reference, weight):
    x, proxy, people = equal_chances()
    own = units(x, proxy, people, np.full(60, 0.5), np.arange(60))
    found = corrected(own, CONTRAST, [weight])
    assert found.estimate == pytest.approx(reference[f"contrast at {weight}"], abs=1e-9)


def test_a_clustered_mean_is_that_of_glide(reference):
    """glide takes models on the clusters that people did not code; here they stand in all, so that
    its weight of 1 is one of 20/12. Its variance divides by clusters less one in each sample.
    """
    proxy, people, cluster = whole_clusters()
    own = units(np.ones((100, 1)), proxy, people, np.full(100, 0.4), cluster)
    found = corrected(own, [1], [20 / 12])
    assert found.estimate == pytest.approx(reference["mean"], abs=1e-9)
    assert found.se == pytest.approx(reference["error of the mean"], rel=0.05)


def test_few_clusters_take_the_jackknife_and_many_the_sandwich():
    rng = np.random.default_rng(3)
    t = np.tile([0, 1], 50)
    y = t + rng.normal(size=100)
    x = np.column_stack([np.ones(100), t])
    few = people_alone(units(x, y, y, np.ones(100), np.arange(100) // 5), CONTRAST)
    many = people_alone(units(x, y, y, np.ones(100), np.arange(100)), CONTRAST)
    assert few.error == few.jackknife
    assert few.clusters == 20
    assert math.isnan(many.jackknife)
    assert many.error == many.se


@pytest.mark.parametrize("estimated", [people_alone, models_alone, corrected])
def test_the_jackknife_leaves_out_one_cluster_after_another(estimated):
    x, proxies, people, chance, session = example()
    found = estimated(units(x, proxies, people, chance, session), CONTRAST)
    without = []
    for one in np.unique(session):
        rest = session != one
        parts = (part[rest] for part in (x, proxies, people, chance, session))
        without.append(estimated(units(*parts), CONTRAST).estimate)
    assert found.jackknife == pytest.approx(math.sqrt(11 * np.var(without)), abs=1e-12)


def test_a_treatment_in_one_cluster_alone_has_no_jackknife():
    t = np.array([0, 0, 0, 0, 1, 1])
    own = units(np.column_stack([np.ones(6), t]), t, t + 0.1, np.full(6, 0.3), [0, 0, 1, 1, 2, 2])
    assert math.isnan(people_alone(own, CONTRAST).jackknife)


def test_the_sandwich_without_clusters_is_that_of_unequal_variances():
    """With every unit coded and a cluster of its own, the influences are those of two means."""
    y = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 9.0])
    t = np.array([0, 0, 0, 1, 1, 1])
    own = units(np.column_stack([np.ones(6), t]), y, y, np.ones(6), np.arange(6))
    found = people_alone(own, CONTRAST)
    assert found.estimate == pytest.approx(17 / 3 - 7 / 3)
    assert found.se**2 == pytest.approx(6 / 5 * (y[:3].var() + y[3:].var()) / 3)


@pytest.mark.parametrize("chance", [0, -0.5, 1.5, math.nan])
def test_a_chance_outside_0_to_1_is_refused(chance):
    with pytest.raises(ValueError, match="chance of a drawn unit"):
        units([[1], [1]], [1, 2], [1, math.nan], [chance, 0.5], [0, 1])


def test_a_proxy_without_variance_has_the_weight_0():
    x, _, people, chance, session = example()
    own = units(x, np.full(48, 2.0), people, chance, session)
    found = corrected(own, CONTRAST)
    assert found.weights == (0.0,)
    assert found.estimate == pytest.approx(people_alone(own, CONTRAST).estimate)


@given(st.integers(0, 10_000), st.sampled_from([12, 60]), st.integers(1, 3))
def test_the_best_weights_never_have_a_longer_sandwich(seed, clusters, proxies):
    rng = np.random.default_rng(seed)
    n = clusters * 5
    session = np.arange(n) // 5
    x = np.column_stack([np.ones(n), session % 2])
    people = np.where(rng.random(n) < 0.7, rng.normal(size=n), np.nan)
    own = units(x, rng.normal(size=(n, proxies)), people, np.full(n, 0.7), session)
    best = corrected(own, CONTRAST)
    assert best.se <= people_alone(own, CONTRAST).se * (1 + 1e-9)
    assert best.se <= corrected(own, CONTRAST, [1.0] * proxies).se * (1 + 1e-9)


@given(st.integers(0, 10_000))
def test_another_unit_of_the_codes_changes_nothing_but_the_unit(seed):
    rng = np.random.default_rng(seed)
    x, both, people, chance, session = example()
    scale, shift = rng.uniform(0.5, 20), rng.normal()
    first = corrected(units(x, both, people, chance, session), CONTRAST)
    second = corrected(units(x, both, scale * people + shift, chance, session), CONTRAST)
    assert second.estimate == pytest.approx(scale * first.estimate)
    assert second.error == pytest.approx(scale * first.error)
