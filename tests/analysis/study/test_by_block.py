"""Contrasts by model, by topic and without each topic, against scipy."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests
from synthetic_study import synthetic_study

from delibsim.analysis.study.by_block import by_block
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.study_table import DrawCounts

DRAWS = DrawCounts(permutations=100, resamples=300)
WHOLE = synthetic_study(topics=5, models=3, replicates=3)
OTHERS = [name for name in WHOLE.rows if name.endswith("_change") and name != "dri_change"]
STUDY = replace(WHOLE, rows=WHOLE.rows.drop(columns=OTHERS))
"""With one outcome, which these tests need alone."""


def tables(rows=None, **changed):
    rows = STUDY.rows if rows is None else rows.reset_index(drop=True)
    study = replace(STUDY, rows=rows, **changed)
    return {result.name: result for result in by_block(study, DRAWS)}


def first(result, **named):
    rows = result.rows
    named = {"outcome": "dri", "scale": "absolute", "a": "normative", "b": "none", **named}
    for column, value in named.items():
        rows = rows[rows[column] == value]
    return rows


def differences(rows, by):
    """Normative less none, blocks counting alike, by topic, model or replicate."""
    cells = rows.groupby(["topic", "model", "replicate", "treatment"])["dri_change"].mean()
    cells = cells.unstack()
    return (cells["normative"] - cells["none"]).groupby(by).mean()


@pytest.mark.parametrize(
    ("name", "unit", "of"), [("model", "topic", "topic"), ("topic", "draw", "model")]
)
def test_every_row_is_a_t_test_over_its_unit(name, unit, of):
    """A model is tested over topics; a topic over its draws, the means over models."""
    rows = first(tables()[f"by_{name}"])
    apart = differences(STUDY.rows, [name, of])
    units = differences(STUDY.rows, [name, "topic" if unit == "topic" else "replicate"])
    p = []
    for _, row in rows.iterrows():
        own, tested = apart[row[name]], ttest_1samp(units[row[name]], 0)
        ends = tested.confidence_interval()
        assert (row["unit"], row["df"]) == (unit, len(units[row[name]]) - 1)
        assert row["estimate"] == pytest.approx(own.mean())
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
        assert row["median"] == pytest.approx(own.median())
        assert row["sd"] == pytest.approx(own.std())
        assert row["share_positive"] == pytest.approx((own > 0).mean())
        assert row["n"] == len(own)
        p.append(tested.pvalue)
    assert rows["p"].tolist() == pytest.approx(p)
    assert rows["p_holm"].tolist() == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert rows["published_low"].isna().all() == (name == "topic"), "three models, five topics"
    if name == "topic":
        published = [ttest_1samp(apart[topic], 0).pvalue for topic in rows["topic"]]
        assert rows["p_published"].tolist() == pytest.approx(published)


def test_the_draws_of_a_model_are_flipped():
    """Two topics of three replicates: all 64 ways of flipping the signs of six draws."""
    rows = STUDY.rows[STUDY.rows["topic"].isin(["topic0", "topic1"])]
    found = first(tables(rows)["by_model"])
    signs = np.array(list(product([-1, 1], repeat=6)))
    for _, row in found.iterrows():
        drawn = differences(rows, ["model", "topic", "replicate"])[row["model"]].to_numpy()
        expected = np.mean(np.abs(signs @ drawn) >= abs(drawn.sum()) - 1e-12)
        assert row["p_draws"] == pytest.approx(expected, abs=1e-12)
        assert row["note"].startswith("few_topics: 2 topics")
        assert row["df"] == 1


def test_where_seeds_are_not_shared_a_topic_rests_on_its_sessions():
    found = tables(paired=False)
    assert found["by_model"].rows["p_draws"].isna().all()
    row = first(found["by_topic"], topic="topic2").iloc[0]
    own = STUDY.rows[(STUDY.rows["topic"] == "topic2") & (STUDY.rows["treatment"] != "basic")]
    cells = pd.get_dummies(own["model"] + own["treatment"]).astype(float)
    weights = [(1 if name.endswith("normative") else -1) / 3 for name in cells]
    theirs = sm.OLS(own["dri_change"], cells).fit().t_test(weights)
    assert (row["unit"], row["df"]) == ("session", 12)
    assert row["p"] == pytest.approx(theirs.pvalue.item())
    assert (row["low"], row["high"]) == pytest.approx(tuple(theirs.conf_int()[0]))


def test_the_null_citizen_stands_beside_each_row():
    """Of the same topics; without the topic that a row leaves out."""
    twin = synthetic_study(topics=5, models=1, replicates=3, seed=4, null=True).rows
    null = differences(twin, "topic")
    found = tables(twin=twin)
    assert first(found["by_model"])["null_citizen"].tolist() == pytest.approx([null.mean()] * 3)
    assert first(found["by_topic"])["null_citizen"].tolist() == pytest.approx(null.tolist())
    without = first(found["leave_one_out"])["null_citizen"].tolist()
    assert without == pytest.approx([null.drop(topic).mean() for topic in null.index])
    assert first(tables()["by_model"])["null_citizen"].isna().all()


def test_without_a_topic_the_estimate_is_that_of_the_study_without_it():
    rows = first(tables()["leave_one_out"])
    assert rows["left_out"].tolist() == [f"topic{i}" for i in range(5)]
    kept = STUDY.rows[STUDY.rows["topic"] != "topic2"]
    whole = contrasts(replace(STUDY, rows=kept), DRAWS).rows.iloc[0]
    without = rows.iloc[2]
    for column in ("estimate", "low", "high", "df"):
        assert without[column] == pytest.approx(whole[column])
    assert without["note"].startswith("few_topics: 4 topics")


def test_one_topic_rests_on_its_draws_and_one_model_is_no_matter():
    one = STUDY.rows[STUDY.rows["topic"] == "topic0"]
    found = tables(one)
    alone = first(found["by_model"])
    drawn = differences(one, ["model", "replicate"])
    p = [ttest_1samp(drawn[model], 0).pvalue for model in alone["model"]]
    assert alone["unit"].tolist() == ["draw"] * 3
    assert alone["p"].tolist() == pytest.approx(p)
    assert np.isnan(first(found["leave_one_out"])["estimate"]).all()
    assert first(found["leave_one_out"])["note"].str.startswith("no_topics: ").all()
    alone = first(tables(STUDY.rows[STUDY.rows["model"] == "model0"])["by_topic"])
    assert alone["df"].tolist() == [2] * 5
    assert alone["p_published"].isna().all()


def test_what_was_left_out_stands_in_the_first_row_of_a_contrast():
    gone = (STUDY.rows["treatment"] == "none") & (STUDY.rows["topic"] == "topic1")
    found = tables(STUDY.rows[~gone])
    for result in found.values():
        notes = first(result)["note"].tolist()
        assert "no_none: 3 blocks (topic1 model0;" in notes[0]
        assert not any("no_none" in note for note in notes[1:])
