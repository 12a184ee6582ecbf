"""Mixed models against lme4 and statsmodels, and effects over topics and models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from synthetic_study import synthetic_study

from delibsim.analysis.study.blocks import compared
from delibsim.analysis.study.mixed import (
    CLUSTERED,
    REML,
    mixed,
    mixed_table,
    over_topics_and_models,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable

FEW = DrawCounts(parametric=40)


def of(study, outcome="dri"):
    """Both tables, the rows of one outcome."""
    _, table, parts = mixed(study, FEW)
    return (
        table,
        table.rows[table.rows["outcome"] == outcome].set_index("term"),
        parts,
        parts.rows[parts.rows["outcome"] == outcome].set_index("component"),
    )


def changed(study, rows, paired=True):
    return StudyTable(study.study, rows, study.columns, paired)


def test_effects_and_components_of_a_study_are_recovered():
    study = synthetic_study(models=10, topics=24, sd_topic=0.06, sd_pair=0.05, sd_residual=0.1)
    table, rows, parts, shares = of(study)
    assert list(table.rows.columns) == list(table.meanings)
    assert list(parts.rows.columns) == list(parts.meanings)
    assert list(rows.index) == ["intercept", "basic", "normative"]
    assert set(rows["method"]) == {REML}
    assert rows["converged"].all()
    for treatment, truth in (("basic", 0.02), ("normative", 0.03)):
        found = rows.loc[treatment]
        assert abs(found["estimate"] - truth) < 3 * found["se"]
        assert found["published_low"] < found["estimate"] < found["published_high"]
        assert found["z"] == pytest.approx(found["estimate"] / found["se"])
    assert shares["share"].sum() == pytest.approx(1)
    assert shares.loc["residual", "sd"] == pytest.approx(0.1, rel=0.05)
    assert shares.loc["topic x replicate", "sd"] == pytest.approx(0.05, rel=0.25)
    assert shares.loc["topic", "sd"] == pytest.approx(0.06, rel=0.5)
    slope = shares.loc["slope of basic by model"]
    assert slope["share"] * 3 < slope["variance"] / shares["variance"].sum() * 1.2


@pytest.mark.parametrize(
    ("sizes", "gone"),
    [({"models": 1}, "model"), ({"topics": 1}, "topic"), ({"replicates": 1}, "topic x replicate")],
)
def test_a_term_that_a_design_cannot_estimate_is_left_out_and_named(sizes, gone):
    table, rows, _, shares = of(synthetic_study(**sizes))
    assert set(rows["method"]) == {REML}
    assert np.isnan(shares.loc[gone, "variance"])
    assert shares.loc[gone, "note"] in {"one_level", "not_identified"}
    assert any(f"Left out, {gone}:" in note for note in table.notes)
    assert rows["note"].str.contains(f"left_out:{gone}").all()


def test_where_nothing_can_be_random_least_squares_are_clustered_by_topic():
    import statsmodels.formula.api as smf

    study = synthetic_study(models=1, replicates=1)
    rows = study.rows.copy()
    # One session a topic: no term is told from the residual.
    rows = rows.groupby("topic").sample(1, random_state=0)
    table, found, parts, _ = of(changed(study, rows))
    assert set(found["method"]) == {CLUSTERED}
    assert not found["converged"].any()
    assert found["note"].str.contains("no_random_term").all()
    order = ["none", *[name for name in found.index if name != "intercept"]]
    formula = f"dri_change ~ C(treatment, levels={order})"
    groups = pd.factorize(rows["topic"])[0]
    other = smf.ols(formula, rows).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert found["estimate"].to_numpy() == pytest.approx(other.params.to_numpy())
    assert found["se"].to_numpy() == pytest.approx(other.bse.to_numpy())
    assert found["published_p"].to_numpy() == pytest.approx(other.pvalues.to_numpy())
    assert table.given
    assert parts.why_not == "no_mixed_model"


def test_a_single_cell_has_estimates_without_errors():
    rows = of(synthetic_study(models=1, topics=1, replicates=1))[1]
    assert rows["estimate"].notna().all()
    assert rows["se"].isna().all()
    assert rows["note"].str.contains("one_topic").all()


def test_sessions_of_which_nothing_is_known_are_no_citizens():
    study = synthetic_study(topics=3)
    rows = study.rows.assign(null=study.rows["null"].astype("boolean"))
    rows.loc[0, ["null", "dri_change"]] = [pd.NA, np.nan]
    assert set(of(changed(study, rows))[1]["n"]) == {len(rows) - 1}


def test_an_outcome_that_is_missing_is_named_beside_the_other():
    study = synthetic_study(topics=3)
    table = mixed(changed(study, study.rows.drop(columns="dri_adjusted_change")), FEW)[1]
    assert set(table.rows["outcome"]) == {"dri"}
    assert any(note.startswith("dri_adjusted:") for note in table.notes)


def test_settings_are_held_equal():
    study = synthetic_study()
    other = study.rows.assign(setting="rounds=4", dri_change=study.rows["dri_change"] + 0.5)
    both = changed(study, pd.concat([study.rows, other], ignore_index=True))
    table, rows, _, _ = of(both)
    single = of(study)[1]
    expected = single["estimate"] + [0.25, 0, 0]  # the intercept is at the mean of both settings
    assert rows["estimate"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6)
    assert any("Settings" in note for note in table.notes)


def moved(study, sd, seed=5):
    """The study with effects of normative that differ by topic, by this standard deviation."""
    by_topic = np.random.default_rng(seed).normal(0, sd, 12)
    own = study.rows["topic"].str.removeprefix("topic").astype(int)
    spoken = study.rows["treatment"] == "normative"
    change = study.rows["dri_change"] + np.where(spoken, by_topic[own], 0)
    return replace(study, rows=study.rows.assign(dri_change=change))


STUDY = moved(synthetic_study(topics=8, models=6, replicates=3, sd_slope=0.15), 0.15)


def over_both(study, a="normative", b="none"):
    return over_topics_and_models(compared(study.rows, "dri_change", a, b))


def test_it_is_the_mixed_model_of_statsmodels_on_the_differences():
    blocks = compared(STUDY.rows, "dri_change", "normative", "none").blocks
    blocks = blocks.assign(difference=10 * blocks["difference"])  # variances that it can see
    crossed = {"topic": "0 + C(topic)", "model": "0 + C(model)"}
    model = smf.mixedlm("difference ~ 1", blocks, groups=np.ones(len(blocks)), vc_formula=crossed)
    fit = model.fit(reml=True, method="lbfgs")
    found = over_both(STUDY)
    assert found["unit"] == "topic and model"
    assert found["estimate"] == pytest.approx(fit.fe_params.iloc[0] / 10, abs=1e-6)
    assert found["error"] == pytest.approx(fit.bse_fe.iloc[0] / 10, rel=1e-3)
    assert found["low"] < found["estimate"] < found["high"]
    assert 0 < found["df"] < 40


def test_what_is_fewer_than_five_is_held_and_said():
    few = replace(STUDY, rows=STUDY.rows[STUDY.rows["model"].isin(["model0", "model1"])])
    found = over_both(few)
    assert (found["unit"], found["df"], found["models"]) == ("topic", 7, 2)
    assert found["note"] == "few_models: held as they are"
    none = replace(few, rows=few.rows[few.rows["topic"].isin(["topic0", "topic1"])])
    assert np.isnan(over_both(none)["p"])
    assert over_both(none)["note"].startswith("few_topics: ")


def test_the_table_has_a_row_a_contrast_and_outcome():
    result = mixed_table(STUDY)
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.query("outcome == 'dri' and scale == 'absolute' and a == 'basic'").iloc[0]
    assert row["estimate"] == pytest.approx(over_both(STUDY, "basic")["estimate"])
    equal = mixed_table(replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1))).rows.iloc[0]
    assert equal["note"].startswith("equal_conditions")
    assert "no_variance" in equal["note"]
    assert mixed_table(replace(STUDY, rows=STUDY.rows.iloc[:0])).why_not == "no_sessions"
