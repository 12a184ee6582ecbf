"""The intraclass correlation against R's psych and aov (tests/reference/intraclass.R)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from delibsim.measures.inference.components import intraclass

ORACLE = json.loads((Path(__file__).parents[2] / "reference" / "intraclass.json").read_text())


def dummies(*columns):
    return pd.concat(
        [pd.get_dummies(pd.Series(column), dtype=float) for column in columns], axis=1
    ).to_numpy()  # none left out: what follows from others must do no harm


@pytest.mark.parametrize("name", ["balanced", "unequal", "below_zero"])
def test_without_fixed_effects_it_is_that_of_r(name):
    case = ORACLE[name]
    found = intraclass(case["value"], case["cluster"])
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    assert found.note == ""


def test_it_can_be_negative():
    assert ORACLE["below_zero"]["icc"] < -0.9


def test_after_fixed_effects_it_is_that_of_r():
    case = ORACLE["crossed"]
    fixed = dummies(case["model"], case["treatment"])
    found = intraclass(case["value"], case["cluster"], fixed)
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    raw = intraclass(case["value"], case["cluster"])
    assert raw.icc == pytest.approx(case["raw"], abs=1e-9)
    assert raw.n == len(case["value"])


def test_the_interval_is_that_of_psych():
    """Revelle's psych prints -0.133 and 0.72 for ICC1 of table 2 of Shrout and Fleiss (1979)."""
    case = ORACLE["balanced"]
    found = intraclass(case["value"], case["cluster"])
    assert found.low == pytest.approx(-0.133, abs=0.0005)
    assert found.high == pytest.approx(0.72, abs=0.005)


@pytest.mark.parametrize("topics", [5, 6, 12])
@pytest.mark.parametrize("equal", [True, False])
def test_the_interval_holds_the_truth(topics, equal):
    """1,000 studies a case: a nominal .95, with a simulation error of .007."""
    rng, held = np.random.default_rng([topics, equal]), []
    sizes = np.full(topics, 20) if equal else rng.integers(8, 40, topics)
    clusters = np.repeat(np.arange(topics), sizes)
    fixed = (np.arange(len(clusters)) % 3 == 0)[:, None]
    for _ in range(1000):
        values = rng.normal(size=len(clusters)) + rng.normal(0, 0.5, topics)[clusters]
        found = intraclass(values + fixed[:, 0], clusters, fixed)
        held.append(found.low <= 0.2 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97


def test_the_truth_is_recovered():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 10)) + rng.normal(0, 0.5, (400, 1))
    found = intraclass(values.ravel(), np.repeat(range(400), 10))
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
    found = intraclass(values, clusters)
    assert np.isnan([found.icc, found.low, found.high]).all()
    assert (found.note, found.n) == (note, len(values))
