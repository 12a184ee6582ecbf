"""The intraclass correlation against R's psych and aov (tests/reference/intraclass.R)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from delibsim.measures.inference.intraclass import intraclass

ORACLE = json.loads((Path(__file__).parents[2] / "reference" / "intraclass.json").read_text())


def dummies(*columns):
    return pd.concat(
        [pd.get_dummies(pd.Series(column), dtype=float) for column in columns], axis=1
    ).to_numpy()  # none left out: what follows from others must do no harm


@pytest.mark.parametrize("name", ["balanced", "unequal", "below_zero"])
def test_without_fixed_effects_it_is_that_of_r(name):
    case = ORACLE[name]
    found = intraclass(case["value"], case["cluster"], 50, 1)
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    assert found.note == ""


def test_it_can_be_negative():
    assert ORACLE["below_zero"]["icc"] < -0.9


def test_after_fixed_effects_it_is_that_of_r():
    case = ORACLE["crossed"]
    fixed = dummies(case["model"], case["treatment"])
    found = intraclass(case["value"], case["cluster"], 50, 1, fixed)
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    raw = intraclass(case["value"], case["cluster"], 50, 1)
    assert raw.icc == pytest.approx(case["raw"], abs=1e-9)
    assert raw.n == len(case["value"])


def test_the_interval_is_that_of_estimates_on_samples_of_clusters():
    case = ORACLE["crossed"]
    values, clusters = np.array(case["value"]), np.array(case["cluster"])
    fixed = dummies(case["model"], case["treatment"])
    rng = np.random.default_rng(5)
    draws = []
    for _ in range(400):
        picked = rng.choice(np.unique(clusters), 5)
        rows = [np.flatnonzero(clusters == cluster) for cluster in picked]
        index = np.concatenate(rows)
        own = np.repeat(range(5), [len(part) for part in rows])
        if len(set(picked)) > 1:
            draws.append(intraclass(values[index], own, 1, 1, fixed[index]).icc)
    found = intraclass(values, clusters, 4000, 1, fixed)
    assert (found.low, found.high) == pytest.approx(np.percentile(draws, [2.5, 97.5]), abs=0.06)


def test_the_truth_is_recovered():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 10)) + rng.normal(0, 0.5, (400, 1))
    found = intraclass(values.ravel(), np.repeat(range(400), 10), 500, 1)
    assert found.icc == pytest.approx(0.2, abs=0.04)
    assert found.low < 0.2 < found.high


@pytest.mark.parametrize(
    ("values", "clusters", "note"),
    [
        ([1.0, 2.0], ["a", "a"], "one_cluster"),
        ([], [], "one_cluster"),
        ([1.0, 2.0], ["a", "b"], "no_replication"),
        ([0.1, 0.1, 0.1, 0.1], ["a", "a", "b", "b"], "no_variance"),
    ],
)
def test_what_is_undefined_says_why(values, clusters, note):
    found = intraclass(values, clusters, 20, 1)
    assert np.isnan([found.icc, found.low, found.high]).all()
    assert (found.note, found.n) == (note, len(values))
