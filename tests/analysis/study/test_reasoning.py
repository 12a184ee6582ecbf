"""Reasoning models against others of their family, on a study whose difference is known."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from synthetic_study import synthetic_study

from delibsim.analysis.study.by_block import reasoning
from delibsim.analysis.study.study_table import DrawCounts

DRAWS = DrawCounts(resamples=300)
STUDY = synthetic_study(topics=8, models=5, sd_model=0, sd_slope=0)
ROWS = STUDY.rows.copy()
ROWS.loc[ROWS["reasoning"] & (ROWS["family"] == "family0"), "dri_change"] += 0.2


def of(rows, **changed):
    return reasoning(replace(STUDY, rows=rows, **changed), DRAWS)


def cells(rows, by):
    """What reasoning adds in each cell of the normative sessions of both families."""
    own = rows[(rows["treatment"] == "normative") & (rows["family"] != "family2")]
    means = own.groupby([*by, "reasoning"])["dri_change"].mean().unstack()
    return means[True] - means[False]


def test_a_known_difference_is_recovered_within_its_family_and_pooled():
    result = of(ROWS)
    assert list(result.rows.columns) == list(result.meanings)
    rows = result.rows[result.rows["outcome"] == "dri"].set_index("family")
    assert rows.index.tolist() == ["family0", "family1", "all"]
    assert rows.loc["family0", "estimate"] == pytest.approx(0.2, abs=0.05)
    assert rows.loc["family0", "p"] < 0.001
    assert rows.loc["family1", "estimate"] == pytest.approx(0, abs=0.05)
    pooled = rows.loc[["family0", "family1"], "estimate"].mean()
    assert rows.loc["all", "estimate"] == pytest.approx(pooled)
    assert rows["n"].tolist() == [8, 8, 16]
    assert "left out: family2" in " ".join(result.notes)


def test_the_test_is_over_the_means_of_topics():
    """Both families of a topic are one value, not two."""
    rows = of(ROWS).rows.set_index(["outcome", "family"])
    apart = cells(ROWS, ["family", "topic"])
    for family in ("family0", "family1", "all"):
        own = apart.groupby("topic").mean() if family == "all" else apart[family]
        theirs = ttest_1samp(own, 0)
        ends = theirs.confidence_interval()
        found = rows.loc["dri", family]
        assert (found["unit"], found["df"]) == ("topic", 7)
        assert found["p"] == pytest.approx(theirs.pvalue)
        assert (found["low"], found["high"]) == pytest.approx((ends.low, ends.high))
        assert found["low"] < found["published_low"] < found["published_high"] < found["high"]


def test_the_families_of_a_draw_are_flipped_together():
    rows = ROWS[ROWS["topic"].isin(["topic0", "topic1"])]
    found = of(rows).rows.set_index(["outcome", "family"]).loc["dri", "all"]
    drawn = cells(rows, ["topic", "replicate", "family"])
    sums = drawn.groupby(["topic", "replicate"]).sum().to_numpy()
    signs = np.array(list(product([-1, 1], repeat=10)))
    expected = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12)
    assert found["p_draws"] == pytest.approx(expected, abs=1e-12)
    assert found["note"].startswith("few_topics: 2 topics")
    assert np.isnan(found["published_low"])
    assert of(rows, paired=False).rows["p_draws"].isna().all()


def test_only_normative_sessions_count():
    normative = ROWS[ROWS["treatment"] == "normative"]
    pd.testing.assert_frame_equal(of(ROWS).rows, of(normative).rows)


def test_models_of_unknown_kind_are_named():
    rows = ROWS.assign(reasoning=ROWS["reasoning"].astype(object))
    rows.loc[rows["model"] == "model0", "reasoning"] = None
    result = of(rows)
    assert set(result.rows["family"]) == {"family1", "all"}
    assert "not known whether they reason: model0" in " ".join(result.notes)
