"""Convergence against statsmodels, with people beside."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import linregress
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import reference
from delibsim.analysis.study.slopes import convergence
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study(topics=6, models=3, replicates=3)


def test_it_is_the_line_that_statsmodels_fits():
    found = convergence(STUDY, Draws()).rows.set_index("population")
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
    row = convergence(STUDY, Draws()).rows.set_index("population").loc["people"]
    people = [reference(topic) for topic in BENCHMARK]
    fit = linregress(
        [own["pre"]["diversity"] for own in people], [own["change"]["diversity"] for own in people]
    )
    assert (row["slope"], row["se"], row["p"]) == pytest.approx((fit.slope, fit.stderr, fit.pvalue))
    assert row["mean_change"] == pytest.approx(-1.213, abs=0.0005), "published"


def test_without_diversity_there_is_a_reason():
    study = replace(STUDY, rows=STUDY.rows.assign(diversity_pre=np.nan))
    result = convergence(study, Draws())
    assert (result.why_not, len(result.rows)) == ("no_value", 0)
