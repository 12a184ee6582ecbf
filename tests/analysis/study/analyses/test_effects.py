"""The mean of differences, its published interval, and what may be said of an effect."""

import numpy as np
import pytest
from scipy.stats import bootstrap, ttest_1samp

from delibsim.analysis.study.effects import mean_of, noted, published_coverage, too_few, verb
from delibsim.analysis.study.study_table import Draws

DRAWS = Draws(resamples=4_000)
CLEAR = {"topics": 5, "estimate": 0.1, "low": 0.02, "high": 0.2, "p_holm": 0.04}


@pytest.mark.parametrize("size", [2, 11])
def test_interval_and_p_are_those_of_scipy(size):
    values = np.random.default_rng(size).normal(0.03, 0.06, size)
    summary, _ = mean_of(values, "topic", DRAWS)
    theirs = ttest_1samp(values, 0)
    ends = theirs.confidence_interval()
    assert (summary["low"], summary["high"]) == pytest.approx((ends.low, ends.high))
    assert (summary["df"], summary["p"]) == (theirs.df, pytest.approx(theirs.pvalue))


def test_the_published_interval_is_the_percentile_bootstrap_from_five_on():
    values = np.random.default_rng(6).normal(0.03, 0.06, 6)
    summary, note = mean_of(values, "topic", DRAWS)
    theirs = bootstrap((values,), np.mean, method="percentile", rng=1).confidence_interval
    found = summary["published_low"], summary["published_high"]
    assert found == pytest.approx((theirs.low, theirs.high), abs=0.004)
    assert summary["low"] < found[0] < found[1] < summary["high"]
    assert note == ""
    few, note = mean_of(values[:4], "topic", DRAWS)
    assert np.isnan([few["published_low"], few["published_high"]]).all()
    assert few["low"] < few["estimate"] < few["high"]
    assert note.startswith("few_topics: 4 topics")


def test_the_coverage_of_the_published_interval_is_that_of_a_simulation():
    """Means of normal topics, each study resampled by itself."""
    rng = np.random.default_rng(3)
    topics, studies = 6, 3_000
    held = 0
    for _ in range(studies):
        values = rng.normal(0, 1, topics)
        means = values[rng.integers(0, topics, (400, topics))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        held += low <= 0 <= high
    assert published_coverage(topics) == pytest.approx(held / studies, abs=0.02)
    assert np.isnan(published_coverage(1))


def test_a_summary_says_what_it_could_not_compute():
    summary, note = mean_of([0.2] * 5, "topic", DRAWS)
    assert note.startswith("no_variance: all topics have the same difference")
    assert "undecided" in note
    assert summary["estimate"] == pytest.approx(0.2)
    assert np.isnan([summary["low"], summary["high"], summary["p"]]).all()
    summary, note = mean_of([0.0] * 5, "topic", DRAWS)
    assert note.startswith("equal_conditions: ")
    assert np.isnan(summary["p"])
    summary, note = mean_of([], "model", DRAWS)
    assert (summary["n"], note.partition(":")[0]) == (0, "no_models")
    assert mean_of([0.1], "topic", DRAWS)[1].startswith("one_topic: ")


def test_a_note_holds_the_sentences_that_there_are():
    assert noted("", "a", "", "b") == "a; b"
    assert [bool(too_few(unit, n)) for unit, n in (("topic", 4), ("topic", 5), ("model", 4))] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "raised"),
        ({"estimate": -0.1, "low": -0.2, "high": -0.02}, "lowered"),
        ({"topics": 4}, "none"),
        ({"low": -0.01}, "none"),
        ({"p_holm": 0.05}, "none"),
        ({"p_holm": None}, "none"),
        ({"low": float("nan"), "high": float("nan")}, "none"),
        ({"p_holm": 0.05, "p_holm_draws": 0.01}, "on_these_topics"),
        ({"topics": 4, "p_holm_draws": 0.01}, "on_these_topics"),
        ({"topics": 4, "p_holm_draws": 0.05}, "none"),
    ],
)
def test_raised_needs_five_topics_an_interval_and_holm(change, said):
    assert verb(CLEAR | change) == said
