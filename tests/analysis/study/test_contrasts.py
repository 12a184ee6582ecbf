"""Contrasts of synthetic studies with known effects, and of studies with faults."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.study_table import DrawCounts

DRAWS = DrawCounts(permutations=500, resamples=500)
WHOLE = synthetic_study(topics=5, models=3, replicates=3)
OTHERS = [name for name in WHOLE.rows if name.endswith("_change") and name != "dri_change"]
STUDY = replace(WHOLE, rows=WHOLE.rows.drop(columns=OTHERS))
"""The same with one outcome, which most tests need alone."""


def found(rows, draws=DRAWS, **changed):
    return contrasts(replace(STUDY, rows=rows.reset_index(drop=True), **changed), draws)


def row(result, a="normative", b="none", outcome="dri", scale="absolute", population="models"):
    rows = result.rows
    mine = rows[
        (rows["a"] == a)
        & (rows["b"] == b)
        & (rows["outcome"] == outcome)
        & (rows["scale"] == scale)
        & (rows["population"] == population)
    ]
    assert len(mine) == 1
    return mine.iloc[0]


def means_of(rows, by=("topic",), a="normative", b="none", column="dri_change"):
    """The mean difference of each topic and so on, blocks counting alike."""
    cells = rows.groupby(["topic", "model", "replicate", "treatment"])[column].mean().unstack()
    return (cells[a] - cells[b]).groupby(list(by)).mean()


def enumerated(differences, draws):
    """The share of all ways of flipping the signs of draws that is as far from 0."""
    sums = differences.groupby(draws).sum().to_numpy()
    signs = np.array(list(product([-1, 1], repeat=len(sums))))
    return np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12)


def test_strengths_of_compared_texts_are_contrasted_by_topic():
    rows = STUDY.rows.copy()
    place = rows["topic"].astype("category").cat.codes.astype(float)
    sign = rows["treatment"].map({"none": 0.0, "basic": 1.0, "normative": 2.0})
    rows["pairs.ab.logical"] = sign * (1 + place)
    rows["pairs.ab.logical_note"] = ""
    told = row(found(rows), outcome="pairs.ab.logical", scale="value")
    ends = ttest_1samp([2, 4, 6, 8, 10], 0).confidence_interval()
    assert (told["estimate"], told["topics"]) == (6, 5)
    assert (told["low"], told["high"]) == pytest.approx((ends.low, ends.high))
    assert told["family"] == "published contrasts: pairs.ab.logical (value), models"


def test_known_effects_are_recovered():
    study = synthetic_study({"none": 0, "basic": 0.05, "normative": 0.1}, topics=12, sd_slope=0)
    result = contrasts(study, DRAWS)
    for (a, b), effect in {
        ("normative", "none"): 0.1,
        ("basic", "none"): 0.05,
        ("normative", "basic"): 0.05,
    }.items():
        mine = row(result, a, b)
        assert mine["estimate"] == pytest.approx(effect, abs=0.02)
        assert mine["low"] < effect < mine["high"]
        assert mine["low_draws"] < effect < mine["high_draws"]
        assert max(mine["p_holm"], mine["p_holm_draws"]) < 0.01
        assert mine["verb"] == "raised"
    assert (mine["blocks"], mine["topics"], mine["models"], mine["pairs"]) == (48, 12, 4, 240)
    assert mine["draws"] == 60


def test_the_estimate_is_the_unweighted_mean_over_blocks_also_of_an_unbalanced_study():
    rows = STUDY.rows.drop([1, 4, 8, 20, 21])
    means = rows.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    expected = (means["normative"] - means["none"]).mean()
    assert row(found(rows))["estimate"] == pytest.approx(expected, abs=1e-12)


def test_the_headline_is_the_t_test_of_the_means_of_topics():
    mine = row(contrasts(STUDY, DRAWS))
    theirs = ttest_1samp(means_of(STUDY.rows), 0)
    ends = theirs.confidence_interval()
    assert (mine["unit"], mine["df"]) == ("topic", 4)
    assert mine["p_topics"] == pytest.approx(theirs.pvalue)
    assert (mine["low"], mine["high"]) == pytest.approx((ends.low, ends.high))


def test_in_an_unbalanced_study_topics_count_alike_and_the_interval_is_around_their_mean():
    gone = (STUDY.rows["topic"] == "topic0") & (STUDY.rows["model"] != "model0")
    rows = STUDY.rows[~gone]
    mine = row(found(rows))
    topics = means_of(rows)
    assert mine["estimate"] == pytest.approx(topics.mean())
    assert mine["estimate"] != pytest.approx(means_of(rows, ("topic", "model")).mean())
    for ends in (("low", "high"), ("low_draws", "high_draws")):
        assert mine[list(ends)].sum() == pytest.approx(2 * topics.mean())


def test_the_models_of_a_draw_are_flipped_together():
    """Three models that give the same are no more evidence than one of them."""
    one = synthetic_study({"none": 0, "normative": 0.08}, 2, 1, 4, seed=5).rows
    rows = pd.concat([one.assign(model=f"model{k}") for k in range(3)])
    found_of = {}
    for name, own in (("one", one), ("three", rows)):
        mine = row(found(own))
        pairs = own.pivot_table("dri_change", ["topic", "replicate", "model"], "treatment")
        pairs = (pairs["normative"] - pairs["none"]).reset_index(name="difference")
        draws = pairs["topic"] + pairs["replicate"].astype(str)
        assert mine["p_draws"] == pytest.approx(enumerated(pairs["difference"], draws), abs=1e-12)
        assert (mine["draws"], mine["pairs"]) == (8, len(pairs))
        found_of[name] = mine
    assert found_of["three"]["p_draws"] == found_of["one"]["p_draws"]
    alone = enumerated(pairs["difference"][:12], pd.Series(range(12)))
    assert alone != enumerated(pairs["difference"][:12], draws[:12]), "model by model it is not"
    for end in ("low_draws", "high_draws", "df_draws"):
        assert found_of["three"][end] == pytest.approx(found_of["one"][end])


def test_the_interval_of_draws_is_that_of_a_regression_on_topics():
    mine = row(contrasts(STUDY, DRAWS))
    drawn = means_of(STUDY.rows, ("topic", "replicate"))
    topics = pd.get_dummies(drawn.index.get_level_values("topic")).astype(float)
    theirs = sm.OLS(drawn.to_numpy(), topics).fit().t_test(np.full(5, 0.2))
    low, high = theirs.conf_int()[0]
    assert (mine["low_draws"], mine["high_draws"]) == pytest.approx((low, high))
    assert mine["df_draws"] == 10


def test_a_topic_without_pairs_has_no_part_in_what_rests_on_draws():
    """Its replicates were held under one treatment each, so that none of its draws is a pair."""
    rows, first = STUDY.rows, STUDY.rows["topic"] == "topic0"
    early, none = rows["replicate"] == 1, rows["treatment"] == "none"
    mine = row(found(rows[~first | (early == none)]))
    kept = row(found(rows[~first]))
    assert (mine["topics"], mine["draws"]) == (5, 12)
    for column in ("low_draws", "high_draws", "df_draws"):
        assert mine[column] == pytest.approx(kept[column])
    assert mine["estimate_draws"] == pytest.approx(kept["estimate"])
    told = f"on these topics the effect is {kept['estimate']:.4f} over 36 pairs of runs"
    assert told in mine["note"]


def test_one_topic_rests_on_its_draws():
    mine = row(found(STUDY.rows[STUDY.rows["topic"] == "topic0"]))
    drawn = means_of(STUDY.rows, ("topic", "replicate"))["topic0"]
    ends = ttest_1samp(drawn, 0).confidence_interval()
    assert (mine["unit"], mine["df"], mine["topics"]) == ("draw", 2, 1)
    assert (mine["low"], mine["high"]) == pytest.approx((ends.low, ends.high))
    assert (mine["low_draws"], mine["high_draws"]) == (mine["low"], mine["high"])
    assert np.isnan([mine["p_topics"], mine["p_holm"], mine["published_low"]]).all()
    assert mine["note"].startswith("one_topic: ")
    assert mine["verb"] in ("on_these_topics", "none")


@pytest.mark.parametrize(("topics", "said"), [(4, "on_these_topics"), (5, "raised")])
def test_four_topics_raise_nothing(topics, said):
    study = synthetic_study({"none": 0, "normative": 0.5}, topics, 2, sd_residual=0.02)
    mine = row(contrasts(study, DRAWS))
    assert mine["p_holm"] < 0.05
    assert mine["verb"] == said


def test_holm_is_over_the_contrasts_of_one_outcome_scale_and_question():
    rows = contrasts(WHOLE, DRAWS).rows
    for _, family in rows.groupby(["outcome", "scale"]):
        for p, corrected in (("p_topics", "p_holm"), ("p_draws", "p_holm_draws")):
            expected = multipletests(family[p], method="holm")[1]
            assert family[corrected].tolist() == pytest.approx(expected.tolist())
        assert family["family"].nunique() == 1
    assert rows["family"].nunique() == 5


def test_one_outcome_is_primary_and_the_others_have_a_q():
    rows = contrasts(WHOLE, DRAWS).rows
    primary = rows["role"] == "primary"
    assert set(zip(rows["outcome"][primary], rows["scale"][primary], strict=True)) == {
        ("dri", "absolute")
    }
    assert rows["q"][primary].isna().all()
    expected = multipletests(rows["p_topics"][~primary], method="fdr_bh")[1]
    assert rows["q"][~primary].tolist() == pytest.approx(expected.tolist())
    other = found(WHOLE.rows, primary="diversity").rows
    assert set(other["outcome"][other["role"] == "primary"]) == {"diversity"}


def test_where_seeds_are_not_shared_labels_are_permuted_and_sessions_are_the_unit():
    result = found(STUDY.rows, paired=False)
    free = row(result)
    assert np.isnan(free["p_draws"])
    assert (free["pairs"], free["draws"]) == (0, 0)
    assert free["p_free"] == row(contrasts(STUDY, DRAWS))["p_free"]
    family = result.rows[result.rows["family"] == free["family"]]
    expected = multipletests(family["p_free"], method="holm")[1]
    assert family["p_holm_draws"].tolist() == pytest.approx(expected.tolist())
    assert "do not share seeds" in " ".join(result.notes)
    both = STUDY.rows[STUDY.rows["treatment"] != "basic"]
    cells = both["topic"] + both["model"] + both["treatment"]
    dummies = pd.get_dummies(cells).astype(float)
    contrast = [(1 if name.endswith("normative") else -1) / 15 for name in dummies]
    theirs = sm.OLS(both["dri_change"], dummies).fit().t_test(contrast)
    low, high = theirs.conf_int()[0]
    assert (free["low_draws"], free["high_draws"]) == pytest.approx((low, high))
    assert free["df_draws"] == 60


def test_the_twin_of_a_study_stands_beside_its_models():
    twin = synthetic_study(topics=5, models=1, replicates=3, seed=9, null=True).rows
    result = found(STUDY.rows, twin=twin)
    null = row(result, population="null citizen")
    assert null["estimate"] == pytest.approx(means_of(twin).mean())
    own = found(pd.concat([STUDY.rows, twin]), twin=STUDY.rows)
    assert row(own, population="null citizen")["estimate"] == null["estimate"], "its own count"


PARAPHRASES = {"normative": 0.1, "normative_a": 0.2, "normative_b": 0.3}


def worded(**more):
    """A treatment in three wordings beside none, of which the column `paraphrase_of` tells."""
    rows = synthetic_study({"none": 0.0, **PARAPHRASES}, topics=5, models=2, **more).rows
    of = rows["treatment"].where(rows["treatment"].isin(["normative_a", "normative_b"]))
    return rows.assign(paraphrase_of=of.where(of.isna(), "normative"))


def test_paraphrases_are_wordings_of_their_treatment():
    rows = worded()
    result = found(rows)
    assert set(result.rows["a"]) | set(result.rows["b"]) == {"normative", "none"}
    mine = row(result)
    means = rows.groupby(["treatment", "topic", "model"])["dri_change"].mean()
    effects = [(means[name] - means["none"]).mean() for name in PARAPHRASES]
    assert mine["estimate"] == pytest.approx(np.mean(effects))
    assert mine["sd_wordings"] == pytest.approx(np.std(effects, ddof=1))
    assert (mine["wordings"], mine["topics"], mine["blocks"], mine["draws"]) == (3, 5, 30, 25)
    unlike = row(found(rows.drop(columns="paraphrase_of")))
    assert (unlike["wordings"], unlike["estimate"]) == (1, pytest.approx(effects[0]))
    assert np.isnan(unlike["sd_wordings"])


def test_a_population_with_one_treatment_is_named():
    citizens = STUDY.rows[STUDY.rows["treatment"] == "none"].assign(null=True)
    result = found(pd.concat([STUDY.rows, citizens]))
    assert "null citizen: one treatment only (none)" in " ".join(result.notes)


def test_a_duplicated_run_is_named_and_makes_no_pair():
    result = found(pd.concat([STUDY.rows, STUDY.rows.iloc[[4]]]))
    mine = row(result, "basic", "none")
    assert mine["pairs"] == 44
    assert "duplicated_runs: 1 replicate (topic0 model0 basic r2)" in mine["note"]
    assert "on these topics the effect is" in mine["note"]
    assert row(result)["note"] == ""
    assert row(result)["pairs"] == 45


def test_a_condition_with_missing_topics_is_named_and_counted():
    rows = STUDY.rows
    gone = (rows["treatment"] == "normative") & rows["topic"].isin(["topic1", "topic3"])
    mine = row(found(rows[~gone]))
    assert (mine["blocks"], mine["topics"], mine["pairs"]) == (9, 3, 27)
    assert "no_normative: 6 blocks (topic1 model0; topic1 model1;" in mine["note"]
    assert "1 more) have no value under normative" in mine["note"]
    assert row(found(rows[~gone]), "basic", "none")["note"] == ""


def test_a_session_without_a_value_is_counted_with_its_reason_and_unmakes_its_pair():
    rows = WHOLE.rows.copy()
    rows["dri_note"] = ""
    rows.loc[2, ["dri_change", "dri_note"]] = [np.nan, "constant_row: R1"]
    mine = row(found(rows))
    assert "missing: 1 of 90 sessions have no value (1 constant_row)" in mine["note"]
    assert "unpaired: 1 session (topic0 model0 none r1) has no counterpart" in mine["note"]
    assert mine["pairs"] == 44
    assert row(found(rows), scale="relative")["pairs"] == 45


EQUAL = "equal_conditions: equal by construction or in fact"


def test_equal_conditions_are_no_test_and_are_in_no_family():
    """Basic is none here: two of three contrasts are tests, and Holm's family has two."""
    rows = STUDY.rows.copy()
    none = rows[rows["treatment"] == "none"].set_index(["topic", "model", "replicate"])
    basic = rows["treatment"] == "basic"
    places = pd.MultiIndex.from_frame(rows.loc[basic, ["topic", "model", "replicate"]])
    rows.loc[basic, "dri_change"] = none["dri_change"].loc[places].to_numpy()
    result = found(rows)
    same = row(result, "basic", "none")
    assert (same["estimate"], same["note"], same["verb"]) == (0, EQUAL, "none")
    assert np.isnan([same["low"], same["p_topics"], same["p_holm"], same["p_holm_draws"]]).all()
    assert np.isnan([same["p_draws"], same["p_free"], same["q"]]).all()
    mine = row(result)
    assert mine["p_holm"] == pytest.approx(min(1, 2 * mine["p_topics"]))
    assert mine["p_holm_draws"] == pytest.approx(min(1, 2 * mine["p_draws"]))


def test_an_effect_without_variance_is_undecided():
    rows = STUDY.rows.assign(dri_change=(STUDY.rows["treatment"] == "normative") * 0.25)
    mine = row(found(rows))
    assert mine["estimate"] == 0.25
    assert np.isnan([mine["low"], mine["p_topics"], mine["low_draws"]]).all()
    assert "no_variance: " in mine["note"]
    assert mine["verb"] != "raised"


def test_other_treatments_are_compared_in_pairs_and_none_is_left_out():
    other = {"treatment": {"basic": "x", "normative": "y"}}
    result = found(STUDY.rows.replace(other))
    dri = result.rows[(result.rows["outcome"] == "dri") & (result.rows["scale"] == "absolute")]
    assert list(zip(dri["a"], dri["b"], strict=True)) == [("x", "none"), ("y", "none"), ("y", "x")]
    fourth = STUDY.rows[STUDY.rows["treatment"] == "basic"].assign(treatment="strict")
    result = found(pd.concat([STUDY.rows, fourth]))
    dri = result.rows[(result.rows["outcome"] == "dri") & (result.rows["scale"] == "absolute")]
    assert len(dri) == 6
    assert dri["family"].str.startswith("published contrasts").sum() == 3
    assert dri["family"].str.startswith("other pairs").sum() == 3


LED = {"none": "none", "basic": "opening", "normative": "rounds"}
FACILITATED = {
    "none": "procedure.facilitation=None",
    "opening": "facilitator=default, procedure.facilitation=opening",
    "rounds": "facilitator=default, procedure.facilitation=rounds",
}


def led(rows, treatment="normative"):
    """The same sessions, as if facilitation had differed and not the treatment."""
    levels = rows["treatment"].map(LED)
    designed = {"facilitation": levels.mask(levels == "none"), "setting": levels.map(FACILITATED)}
    return rows.assign(treatment=treatment, rounds=2, **designed)


def test_levels_of_a_part_are_compared_as_treatments_are():
    study = synthetic_study({"none": 0.0, "basic": 0.0, "normative": 0.5}, topics=5, models=2)
    of_treatments = contrasts(study, DRAWS).rows
    found = contrasts(replace(study, rows=led(study.rows)), DRAWS).rows
    back = {f"facilitation={level}": name for name, level in LED.items()}
    keys, named = ["outcome", "scale", "a", "b"], ["family", "p_free"]  # which draws by name
    found = found.assign(a=found["a"].map(back), b=found["b"].map(back)).drop(columns=named)
    expected = of_treatments.drop(columns=named).set_index(keys)
    pd.testing.assert_frame_equal(found.set_index(keys).loc[expected.index], expected)
    assert set(expected["verb"]) >= {"raised", "none"}


def test_levels_of_a_part_are_compared_within_treatments_and_treatments_within_levels():
    parts = []
    for shift, treatment in enumerate(("basic", "normative")):
        rows = led(STUDY.rows, treatment)
        parts.append(rows.assign(dri_change=rows["dri_change"] + 0.3 * shift))
    result = found(pd.concat(parts))
    of_part = row(result, "facilitation=rounds", "facilitation=none")
    assert (of_part["blocks"], of_part["pairs"]) == (30, 90)
    assert of_part["estimate"] == pytest.approx(means_of(STUDY.rows).mean())
    assert row(result, "normative", "basic")["estimate"] == pytest.approx(0.3)
    assert set(result.rows["family"].str.partition(":")[0]) == {
        "facilitation",
        "published contrasts",
    }


def test_a_level_names_what_differs_within_it_and_is_one_where_only_topics_differ():
    rows = led(STUDY.rows)
    rounds, even = rows["facilitation"] == "rounds", rows["replicate"] == 2
    by_topic = rows.assign(briefing=rows["topic"].where(rounds), facilitation=None)
    by_topic["setting"] = ("briefing=" + rows["topic"]).where(rounds, "")
    pair = found(by_topic[rounds | rows["facilitation"].isna()]).rows[["a", "b"]]
    assert set(map(tuple, pair.to_numpy())) == {("briefing=of the topic", "briefing=none")}
    models = ", facilitator.model=" + even.map({True: "large", False: "small"})
    rows["setting"] += models.where(rounds, "")
    names = set(found(rows).rows["a"])
    assert {f"facilitation=rounds facilitator.model={one}" for one in ("large", "small")} <= names
