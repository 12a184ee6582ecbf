"""Slopes of change on the value before: the ceiling, convergence; by hand, corrected, people."""

import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import linregress
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import reference
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
