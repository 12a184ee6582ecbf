"""What tables of effects share: intervals, verbs, and the three questions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap, ttest_1samp
from synthetic_study import synthetic_study

from delibsim.analysis.result import Result
from delibsim.analysis.study.contrasts import contrasts, questions
from delibsim.analysis.study.effects import (
    OVER_DRAWS,
    OVER_MODELS,
    OVER_TOPICS,
    mean_of,
    published_coverage,
    verb,
)
from delibsim.analysis.study.study_table import DrawCounts

DRAWS = DrawCounts(resamples=4_000)
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


ONE_HUNDRED = DrawCounts(permutations=100, resamples=100)
STUDY = synthetic_study({"none": 0.0, "normative": 0.05}, topics=5, models=2, replicates=2)
TWIN = synthetic_study({"none": 0.0, "normative": 0.2}, topics=5, models=1, replicates=2, null=True)


def of(study, *more):
    tables = {table.name: table for table in (contrasts(study, ONE_HUNDRED), *more)}
    return questions(tables), tables["contrasts"]


def main(rows, population="models"):
    """The rows of the index by their question."""
    own = (rows["outcome"] == "dri") & (rows["scale"] == "absolute")
    return rows[own & (rows["population"] == population)].set_index("question")


def mixed(**more):
    """A row of the mixed model as its table has it, with invented numbers."""
    row = {"population": "models", "outcome": "dri", "scale": "absolute"}
    row |= {"a": "normative", "b": "none", "unit": "topic and model"}
    row |= {"estimate": 0.5, "low": 0.25, "high": 0.75, "df": 3.5, "p": 0.125, "note": "as told"}
    return Result("mixed", "", "", "", pd.DataFrame([row | more]))


def test_the_three_questions_stand_in_their_order_with_unit_and_df():
    result, table = of(replace(STUDY, twin=TWIN.rows), mixed())
    assert list(result.rows.columns) == list(result.meanings)
    found = main(result.rows)
    assert found.index.tolist() == [OVER_TOPICS, OVER_DRAWS, OVER_MODELS]
    assert found["unit"].tolist() == ["topic", "draw", "topic and model"]
    assert found["df"].tolist() == [4, 5, 3.5]
    assert set(found["role"]) == {"primary"}
    row = main(table.rows.assign(question="")).iloc[0]
    names = ["estimate", "low", "high", "p", "p_holm"]
    first = row[["estimate", "low", "high", "p_topics", "p_holm"]].tolist()
    assert found.loc[OVER_TOPICS, names].tolist() == first
    second = row[["estimate", "low_draws", "high_draws", "p_draws", "p_holm_draws"]].tolist()
    assert found.loc[OVER_DRAWS, names].tolist() == second
    assert found.loc[OVER_MODELS, names[:4]].tolist() == [0.5, 0.25, 0.75, 0.125]
    assert found.loc[OVER_MODELS, "note"] == "as told"
    result, _ = of(STUDY, mixed(unit="topic"))
    held = main(result.rows).loc[OVER_MODELS]
    assert (held["note"], np.isnan(held["low"])) == ("few_models", True), "held as they are"


def test_the_mixed_model_of_another_contrast_gives_no_third_row():
    for other in (mixed(population="null citizen"), mixed(a="basic"), mixed(outcome="diversity")):
        assert OVER_MODELS not in main(of(STUDY, other)[0].rows).index


def test_one_topic_has_no_row_over_topics():
    one = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] == "topic0"])
    found = main(of(one)[0].rows)
    assert found.index.tolist() == [OVER_DRAWS]
    assert found["note"].iloc[0].startswith("one_topic: ")
    assert found["df"].tolist() == [1]


def test_equal_treatments_are_said_once():
    found = main(of(replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1)), mixed())[0].rows)
    assert found.index.tolist() == [OVER_TOPICS]
    assert found["estimate"].tolist() == [0]
    assert found[["low", "p", "p_holm"]].isna().all(axis=None)
    assert found["note"].iloc[0].startswith("equal_conditions: ")


def test_where_seeds_are_not_shared_the_unit_is_the_session():
    result, table = of(replace(STUDY, paired=False))
    found = main(result.rows).loc[OVER_DRAWS]
    assert (found["unit"], found["df"]) == ("session", 20)
    assert found["p"] == main(table.rows.assign(question=""))["p_free"].iloc[0]
