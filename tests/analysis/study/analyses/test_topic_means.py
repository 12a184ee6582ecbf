"""Means over topics: by t against statsmodels, the published bootstrap against scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap
from statsmodels.stats.weightstats import DescrStatsW

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import over_topics


def test_the_interval_agrees_with_scipy_within_simulation_error():
    rng = np.random.default_rng(1)
    topics = pd.Series(np.repeat(np.arange(10), 3))
    values = pd.Series(rng.normal(0.03, 0.1, 10)[topics] + rng.normal(0, 0.05, 30))
    found = over_topics(values, topics, Draws(resamples=20_000))
    means = values.groupby(topics).mean().to_numpy()
    theirs = bootstrap(
        (means,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found["mean"] == pytest.approx(means.mean())
    published = found["published_low"], found["published_high"]
    assert published == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert (found["low"], found["high"]) == pytest.approx(DescrStatsW(means).tconfint_mean())
    assert found["df"] == 9
    assert (found["n"], found["topics"], found["note"]) == (30, 10, "")


def test_people_s_published_interval_is_found_again():
    """Published: mean change .099 [.026, .196]; its ends move by .003 from seed to seed.

    By t over the twelve topics it is [-.0015, .199].
    """
    changes = pd.Series(of_topics(BENCHMARK, "dri", "change"))
    found = over_topics(changes, pd.Series(BENCHMARK), Draws())
    assert found["mean"] == pytest.approx(0.099, abs=0.0005)
    published = found["published_low"], found["published_high"]
    assert published == pytest.approx((0.026, 0.196), abs=0.003)
    assert (found["low"], found["high"]) == pytest.approx((-0.0015, 0.199), abs=0.0005)


def test_equal_seeds_give_equal_intervals_and_few_topics_are_marked():
    values, topics = pd.Series([1.0, 2, 4, 8]), pd.Series(["a", "a", "b", "c"])
    found = over_topics(values, topics, Draws(resamples=100))
    again = over_topics(values, topics, Draws(resamples=100))
    assert pd.Series(found).equals(pd.Series(again))
    assert np.isnan([found["published_low"], found["published_high"]]).all()
    assert found["mean"] == pytest.approx((1.5 + 4 + 8) / 3)
    assert found["note"] == "few_topics"
    assert over_topics(values[:0], topics[:0], Draws())["note"] == "no_value"
