"""The third question: over topics and models, against statsmodels and by simulation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from synthetic_study import synthetic_study

from delibsim.analysis.study.blocks import compared
from delibsim.analysis.study.mixed import mixed, mixed_table, over_topics_and_models
from delibsim.analysis.study.study_table import Draws


def moved(study, sd, seed=5):
    """The study with effects of normative that differ by topic, by this standard deviation."""
    by_topic = np.random.default_rng(seed).normal(0, sd, 12)
    own = study.rows["topic"].str.removeprefix("topic").astype(int)
    spoken = study.rows["treatment"] == "normative"
    change = study.rows["dri_change"] + np.where(spoken, by_topic[own], 0)
    return replace(study, rows=study.rows.assign(dri_change=change))


STUDY = moved(synthetic_study(topics=8, models=6, replicates=3, sd_slope=0.15), 0.15)


def of(study, a="normative", b="none"):
    return over_topics_and_models(compared(study.rows, "dri_change", a, b))


def test_it_is_the_mixed_model_of_statsmodels_on_the_differences():
    blocks = compared(STUDY.rows, "dri_change", "normative", "none").blocks
    blocks = blocks.assign(difference=10 * blocks["difference"])  # variances that it can see
    crossed = {"topic": "0 + C(topic)", "model": "0 + C(model)"}
    model = smf.mixedlm("difference ~ 1", blocks, groups=np.ones(len(blocks)), vc_formula=crossed)
    fit = model.fit(reml=True, method="lbfgs")
    found = of(STUDY)
    assert found["unit"] == "topic and model"
    assert found["estimate"] == pytest.approx(fit.fe_params.iloc[0] / 10, abs=1e-6)
    assert found["error"] == pytest.approx(fit.bse_fe.iloc[0] / 10, rel=1e-3)
    assert found["low"] < found["estimate"] < found["high"]
    assert 0 < found["df"] < 40


def test_what_is_fewer_than_five_is_held_and_said():
    few = replace(STUDY, rows=STUDY.rows[STUDY.rows["model"].isin(["model0", "model1"])])
    found = of(few)
    assert (found["unit"], found["df"], found["models"]) == ("topic", 7, 2)
    assert found["note"] == "few_models: held as they are"
    none = replace(few, rows=few.rows[few.rows["topic"].isin(["topic0", "topic1"])])
    assert np.isnan(of(none)["p"])
    assert of(none)["note"].startswith("few_topics: ")


def test_the_table_has_a_row_a_contrast_and_outcome():
    result = mixed_table(STUDY)
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.query("outcome == 'dri' and scale == 'absolute' and a == 'basic'").iloc[0]
    assert row["estimate"] == pytest.approx(of(STUDY, "basic")["estimate"])
    equal = mixed_table(replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1))).rows.iloc[0]
    assert equal["note"].startswith("equal_conditions")
    assert "no_variance" in equal["note"]
    assert mixed_table(replace(STUDY, rows=STUDY.rows.iloc[:0])).why_not == "no_sessions"


def test_effects_that_differ_by_topic_do_not_make_a_finding():
    """The published model, without slopes by topic, rejects far more often than one in twenty."""
    rejected = []
    for seed in range(30):
        study = synthetic_study({"none": 0, "normative": 0}, 6, 5, 2, seed, sd_slope=0)
        rows = moved(study, 0.07, seed).rows.assign(dri_adjusted_change=np.nan)
        table, published, _ = mixed(replace(study, rows=rows), Draws(parametric=0))
        p = pd.Series(published.rows.set_index("term")["published_p"])["normative"]
        rejected.append((table.rows["p"].iloc[0] < 0.05, p < 0.05))
    ours, theirs = np.mean(rejected, axis=0)
    assert ours <= 0.14
    assert theirs > 0.25
