"""Slopes of change on the value before: the ceiling, convergence; by hand, corrected, people."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import linregress
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK, reference
from delibsim.analysis.study.people import ceiling, convergence
from delibsim.analysis.study.study_table import DrawCounts

STUDY = synthetic_study(topics=6, models=3, replicates=3)


def rows_of(study):
    return ceiling(study, DrawCounts()).rows.set_index("population")


def test_every_condition_has_the_line_that_statsmodels_fits_with_clustered_errors():
    found = rows_of(STUDY)
    for name in ("all models", "none", "basic", "normative"):
        own = STUDY.rows
        if name != "all models":
            own = own[own["treatment"] == name]
        fit = sm.OLS(own["dri_change"], sm.add_constant(own["dri_pre"])).fit(
            cov_type="cluster", cov_kwds={"groups": pd.factorize(own["topic"])[0]}, use_t=True
        )
        row = found.loc[name]
        assert (row["slope"], row["published_se"], row["r2"], row["intercept"]) == pytest.approx(
            (fit.params["dri_pre"], fit.bse["dri_pre"], fit.rsquared, fit.params["const"])
        )
        published = row["published_low"], row["published_high"]
        assert published == pytest.approx(fit.conf_int().loc["dri_pre"])
        assert row["se"] >= row["published_se"] * 0.9
        assert row["low"] < row["slope"] < row["high"]
        assert (row["n"], row["clusters"], row["df"]) == (len(own), 6, 5)


def test_people_stand_beside_with_the_published_values():
    """Published: slope -.418, standard error .291, R squared .17, p .182 over the twelve topics."""
    found = rows_of(STUDY)
    people = found.loc["people"]
    assert (people["slope"], people["se"], people["p"]) == pytest.approx(
        (-0.418, 0.291, 0.182), abs=0.0005
    )
    assert people["r2"] == pytest.approx(0.17, abs=0.005)
    assert people["n"] == 12
    fives = found.loc["people in groups of five"]
    assert (fives["n"], fives["clusters"]) == (77, 12)
    assert (fives["slope"], fives["se"]) == pytest.approx((-0.638, 0.148), abs=0.0005)
    published = [note for note in ceiling(STUDY, DrawCounts()).notes if "-0.672" in note]
    assert len(published) == 1


def test_the_null_citizen_is_a_population_of_its_own():
    citizens = synthetic_study(topics=6, models=1, replicates=3, seed=5, null=True)
    rows = pd.concat([STUDY.rows, citizens.rows], ignore_index=True)
    both, alone = rows_of(replace(STUDY, rows=rows)), rows_of(citizens)
    assert both.loc["null citizen"].equals(alone.loc["null citizen"])
    assert both.loc["normative"].equals(rows_of(STUDY).loc["normative"])
    assert "all models" not in alone.index
    assert "no finding about language models" in ceiling(citizens, DrawCounts()).notes[0]


def test_a_condition_without_the_measure_and_sessions_without_it_are_said():
    rows = STUDY.rows.copy()
    rows.loc[rows["treatment"] == "basic", "dri_change"] = np.nan
    result = ceiling(replace(STUDY, rows=rows), DrawCounts())
    basic = result.rows.set_index("population").loc["basic"]
    assert (basic["note"], basic["n"]) == ("no_value", 0)
    assert np.isnan(basic["slope"])
    assert any("54 of 162 sessions have no dri_pre and dri_change" in note for note in result.notes)


def test_one_topic_has_a_slope_and_no_error():
    study = synthetic_study({"normative": 0.03}, topics=1, replicates=6)
    found = rows_of(study)
    assert found.loc["normative", "note"].startswith("one_topic")
    assert found.loc["normative", "n"] == 24
    assert np.isnan(found.loc["normative", ["se", "low", "high", "p"]].astype(float)).all()
    few = rows_of(synthetic_study(topics=3))
    assert few.loc["normative", "note"].startswith("few_topics")


def test_groups_that_never_change_have_no_error():
    rows = STUDY.rows.assign(dri_change=0.0)
    found = rows_of(replace(STUDY, rows=rows)).loc["none"]
    assert found["slope"] == 0
    assert found["note"].startswith("constant_outcome")
    assert np.isnan(found["p"])


def test_error_of_measurement_alone_gives_a_raw_slope_and_no_corrected_one():
    """Conditions differ by an SD of .2, each survey errs by .2, and nobody changes."""
    study = synthetic_study(topics=12, models=3, replicates=3)
    rng, rows = np.random.default_rng(3), study.rows.copy()
    condition = rows.groupby(["topic", "model"]).ngroup()
    true = rng.normal(0, 0.2, 36)[condition]
    rows["dri_pre"] = true + rng.normal(0, 0.2, len(rows))
    rows["dri_change"] = true + rng.normal(0, 0.2, len(rows)) - rows["dri_pre"]
    found = rows_of(replace(study, rows=rows))
    row = found.loc["all models"]
    assert row["slope"] < -0.3
    assert row["p"] < 0.05
    assert row["under_none"] == found.loc["none", "slope"]
    assert row["reliability"] == pytest.approx(0.5, abs=0.2)
    assert row["corrected_low"] < 0 < row["corrected_high"]
    assert found.loc["people", "note"].startswith("no_replication")


def test_it_is_the_line_that_statsmodels_fits():
    found = convergence(STUDY, DrawCounts()).rows.set_index("population")
    own = STUDY.rows[STUDY.rows["treatment"] == "basic"]
    fit = sm.OLS(own["diversity_change"], sm.add_constant(own["diversity_pre"])).fit(
        cov_type="cluster", cov_kwds={"groups": pd.factorize(own["topic"])[0]}, use_t=True
    )
    row = found.loc["basic"]
    assert (row["slope"], row["published_se"], row["r2"]) == pytest.approx(
        (fit.params.iloc[1], fit.bse.iloc[1], fit.rsquared)
    )
    assert row["mean_change"] == pytest.approx(own["diversity_change"].mean())


def test_people_stand_beside_over_the_twelve_topics():
    row = convergence(STUDY, DrawCounts()).rows.set_index("population").loc["people"]
    people = [reference(topic) for topic in BENCHMARK]
    fit = linregress(
        [own["pre"]["diversity"] for own in people], [own["change"]["diversity"] for own in people]
    )
    assert (row["slope"], row["se"], row["p"]) == pytest.approx((fit.slope, fit.stderr, fit.pvalue))
    assert row["mean_change"] == pytest.approx(-1.213, abs=0.0005), "published"
