"""With and without personas: HC3 against statsmodels, d by hand, what cannot be compared."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import ttest_1samp
from synthetic_study import synthetic_study

from delibsim.analysis.study.ablations import personas
from delibsim.analysis.study.study_table import Draws

BASE = synthetic_study({"none": 0.0, "normative": 0.03}, topics=3, models=2, replicates=3)
TOLD = synthetic_study({"none": 0.0, "normative": 0.03}, 3, 2, 3, seed=7).rows
TOLD = TOLD.assign(diversity_pre=TOLD["diversity_pre"] * 2, persona="human:" + TOLD["topic"])
STUDY = replace(BASE, rows=pd.concat([BASE.rows, TOLD], ignore_index=True))


def test_it_is_least_squares_with_hc3_errors():
    found = personas(STUDY, Draws()).rows.set_index("outcome")
    data = STUDY.rows.assign(told=(STUDY.rows["persona"] != "none").astype(float))
    for outcome in ("diversity_pre", "consideration_agreement_change", "dri_change"):
        fit = smf.ols(f"{outcome} ~ told", data).fit(cov_type="HC3", use_t=True)
        row = found.loc[outcome]
        assert (row["estimate"], row["published_se"], row["p_published"]) == pytest.approx(
            (fit.params["told"], fit.HC3_se["told"], fit.pvalues["told"])
        )
        ends = row["published_low"], row["published_high"]
        assert ends == pytest.approx(fit.conf_int().loc["told"])
        assert (row["n_with"], row["n_without"], row["note"]) == (36, 36, "few_topics: 3 topics")


def test_interval_and_p_are_by_t_over_topics():
    row = personas(STUDY, Draws()).rows.set_index("outcome").loc["dri_change"]
    by = ["topic", "model", "treatment"]
    means = [part.groupby(by)["dri_change"].mean() for part in (TOLD, BASE.rows)]
    expected = ttest_1samp((means[0] - means[1]).groupby("topic").mean(), 0)
    assert row["p"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (row["low"], row["high"], row["df"]) == pytest.approx((interval.low, interval.high, 2))


def test_d_by_hand():
    row = personas(STUDY, Draws()).rows.set_index("outcome").loc["diversity_pre"]
    told, plain = TOLD["diversity_pre"], BASE.rows["diversity_pre"]
    pooled = np.sqrt((told.var(ddof=1) + plain.var(ddof=1)) / 2)
    assert row["d"] == pytest.approx((told.mean() - plain.mean()) / pooled)


def test_only_what_occurs_with_and_without_is_compared():
    rows = STUDY.rows[~((STUDY.rows["persona"] != "none") & (STUDY.rows["topic"] == "topic2"))]
    result = personas(replace(STUDY, rows=rows), Draws())
    assert set(result.rows["n_with"]) == set(result.rows["n_without"]) == {24}
    assert any("12 sessions" in note for note in result.notes)


def test_several_kinds_are_taken_together_and_named():
    values = STUDY.rows["persona"].where(STUDY.rows["model"] == "model0", "values")
    rows = STUDY.rows.assign(persona=values.where(STUDY.rows["persona"] != "none", "none"))
    result = personas(replace(STUDY, rows=rows), Draws())
    assert "Personas of several kinds are taken together: human, values." in result.notes
    assert set(result.rows["n_with"]) == {36}


def test_what_cannot_be_estimated_has_a_reason():
    rows = STUDY.rows.assign(dri_change=0.5, diversity_pre=np.nan)
    told = rows["persona"] != "none"
    rows.loc[rows.index[told][1:], "dri_pre"] = np.nan
    found = personas(replace(STUDY, rows=rows), Draws()).rows.set_index("outcome")
    assert found.loc["dri_change", "note"] == "constant_outcome"
    assert found.loc["diversity_pre", "note"] == "no_value"
    assert found.loc["dri_pre", "note"] == "too_few_values"
    assert np.isnan(found.loc["dri_pre", "estimate"])
    assert np.isfinite(found.loc["dri_adjusted_change", "estimate"])


def test_a_study_without_both_has_a_reason():
    result = personas(BASE, Draws())
    assert (result.why_not, len(result.rows)) == ("one_level", 0)
    assert personas(replace(BASE, rows=TOLD), Draws()).why_not == "one_level"
    assert personas(replace(BASE, rows=BASE.rows.iloc[:0]), Draws()).why_not == "no_sessions"
