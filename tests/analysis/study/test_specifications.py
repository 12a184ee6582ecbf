"""The specification curve: which choices there are, and that each row is the contrast of its own."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.mixed import mixed_table
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import DrawCounts

DRAWS = DrawCounts(permutations=500, resamples=500)
STUDY = synthetic_study(topics=6, models=2, replicates=3)


def plain(table):
    """The rows of means, all weights but those alike over topics and all that is left out gone."""
    return table[
        table["weights"].eq("topics alike")
        & table["left_out"].eq("nothing")
        & table["model"].eq("means")
        & table["pairing"].eq("all sessions")
    ]


def test_a_plain_study_has_two_indices_two_scales_and_what_can_be_left_out():
    result, joint = specifications(STUDY, DRAWS)
    table = result.rows
    assert set(table["wording"]) == set(table["runs"]) == {"all"}
    assert set(table["pairing"]) == {"all sessions"}
    assert set(table["weights"]) == {"topics alike"}
    assert set(table["model"]) == {"means", "covariance"}
    assert table["left_out"].nunique() == 1 + 6 + 2
    assert len(table) == 3 * (2 * 2 + 2) * 9
    assert any(note.startswith("normative minus none: 54 specifications") for note in result.notes)
    assert (joint.rows["specifications"] == 54).all()
    assert (joint.rows["units"] == 18).all()


def test_estimates_are_those_of_the_contrasts_and_p_is_by_t_over_topics():
    table = plain(specifications(STUDY, DRAWS)[0].rows)
    theirs = contrasts(STUDY, DRAWS).rows
    indices = {"dri": "plain", "dri_adjusted": "adjusted"}
    compared = 0
    for _, row in theirs[theirs["outcome"].isin(indices)].iterrows():
        same = (table["a"] == row["a"]) & (table["b"] == row["b"])
        same &= (table["index"] == indices[row["outcome"]]) & (table["scale"] == row["scale"])
        own = table[same].iloc[0]
        assert own["estimate"] == pytest.approx(row["estimate"])
        assert (own["low"], own["high"]) == pytest.approx((row["low"], row["high"]))
        assert (own["p"], own["df"]) == pytest.approx((row["p_topics"], 5))
        compared += 1
    assert compared == 12


def test_leaving_out_a_topic_is_the_t_test_of_the_others():
    table = specifications(STUDY, DRAWS)[0].rows
    means = STUDY.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = (means["normative"] - means["none"]).drop("topic2")
    chosen = table[table["left_out"].eq("topic topic2") & table["model"].eq("means")]
    row = chosen.query("index == 'plain' and scale == 'absolute' and a == 'normative'").iloc[0]
    assert row["p"] == pytest.approx(ttest_1samp(own, 0).pvalue)
    assert row["estimate"] == pytest.approx(own.mean())


def test_weights_and_pairs_are_choices_where_they_differ():
    rows = STUDY.rows.drop(STUDY.rows.index[[0, 4, 5]])
    table = specifications(replace(STUDY, rows=rows), DRAWS)[0].rows
    assert set(table["pairing"]) == {"all sessions", "pairs alone"}
    assert set(table["weights"]) == {"topics alike", "by sessions"}
    less = rows[(rows["topic"] != "topic0") | (rows["model"] != "model0")]
    table = specifications(replace(STUDY, rows=less), DRAWS)[0].rows
    chosen = table[table["weights"].eq("blocks alike") & table["index"].eq("plain")]
    row = chosen[chosen["scale"].eq("absolute") & chosen["a"].eq("basic")].iloc[0]
    means = less.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    assert row["estimate"] == pytest.approx((means["basic"] - means["none"]).mean())


def test_with_five_models_the_mixed_model_is_a_specification():
    study = synthetic_study(topics=6, models=5, replicates=2)
    table = specifications(study, DRAWS)[0].rows
    own = table[table["model"] == "mixed model"]
    theirs = mixed_table(study).rows
    assert len(own) == 12
    row = own.query("index == 'plain' and scale == 'absolute' and a == 'basic'").iloc[0]
    other = theirs.query("outcome == 'dri' and scale == 'absolute' and a == 'basic'").iloc[0]
    columns = ["estimate", "low", "high", "df", "p"]
    assert row[columns].tolist() == pytest.approx(other[columns].tolist())


@pytest.mark.parametrize("paired", [True, False])
def test_the_joint_test_finds_an_effect_and_none_where_there_is_none(paired):
    effect = {"none": 0.0, "normative": 0.15}
    strong = replace(synthetic_study(effect, 5, 2, 2), paired=paired)
    assert (specifications(strong, DRAWS)[1].rows["p"] < 0.05).all()
    found = []
    for seed in range(20):
        nothing = synthetic_study({"none": 0.0, "normative": 0.0}, 5, 2, 2, seed, sd_slope=0)
        found.append(
            specifications(replace(nothing, paired=paired), DRAWS)[1].rows["p"].iloc[[0, 2]]
        )
    assert np.mean(np.array(found) < 0.05) <= 0.15


def test_an_estimate_by_hand_without_the_sessions_that_were_asked_again():
    rows = STUDY.rows.copy()
    rows.loc[rows["replicate"] == 1, "reasked"] = 2
    table = plain(specifications(replace(STUDY, rows=rows), DRAWS)[0].rows)
    assert len(table) == 24
    own = rows[rows["replicate"] > 1]
    means = own.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    chosen = table[(table["runs"] == "without re-asked") & (table["index"] == "plain")]
    row = chosen[(chosen["scale"] == "absolute") & (chosen["a"] == "basic")].iloc[0]
    assert row["estimate"] == pytest.approx((means["basic"] - means["none"]).mean())


def test_sessions_with_a_stand_in_can_be_left_out():
    people = STUDY.rows["replicate"].eq(1).astype("Int64")  # one of each block
    rows = STUDY.rows.assign(people_stood_in=people)
    table = plain(specifications(replace(STUDY, rows=rows), DRAWS)[0].rows)
    own = STUDY.rows[STUDY.rows["replicate"] > 1]
    means = own.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    chosen = table[(table["runs"] == "without stand-ins") & (table["index"] == "plain")]
    row = chosen[(chosen["scale"] == "absolute") & (chosen["a"] == "basic")].iloc[0]
    assert row["estimate"] == pytest.approx((means["basic"] - means["none"]).mean())
    none = rows.assign(people_stood_in=pd.array([pd.NA] * len(rows), dtype="Int64"))
    left = specifications(replace(STUDY, rows=none), DRAWS)[0].rows
    assert "without stand-ins" not in set(left["runs"])


def test_wordings_and_paraphrases_are_choices():
    other = synthetic_study(topics=6, models=2, replicates=3, seed=4)
    rows = other.rows.assign(wording="plain", setting="wording=plain")
    both = replace(STUDY, rows=pd.concat([STUDY.rows.assign(setting="wording=default"), rows]))
    table = plain(specifications(both, DRAWS)[0].rows)
    assert set(table["wording"]) == {"all", "default", "plain"}
    own = table[table["wording"] == "plain"]["estimate"]
    expected = plain(specifications(other, DRAWS)[0].rows)["estimate"]
    assert own.to_numpy() == pytest.approx(expected.to_numpy())
    told = STUDY.rows[STUDY.rows["treatment"] == "normative"].assign(
        treatment="normative_a", paraphrase_of="normative"
    )
    told["dri_change"] += 0.1
    table = specifications(replace(STUDY, rows=pd.concat([STUDY.rows, told])), DRAWS)[0].rows
    first = table[
        (table["a"] == "normative") & (table["b"] == "none") & (table["index"] == "plain")
    ]
    first = plain(first[first["scale"] == "absolute"])
    by_wording = first.set_index("wording")["estimate"]
    assert by_wording["normative_a"] == pytest.approx(by_wording["normative"] + 0.1)
    assert set(table["a"]) == {"normative", "basic"}, "paraphrases are no contrasts of their own"


def test_what_is_missing_has_a_reason():
    one = replace(STUDY, rows=STUDY.rows[STUDY.rows["treatment"] == "none"])
    result = specifications(one, DRAWS)[0]
    assert (result.why_not, len(result.rows)) == ("one_treatment", 0)
    columns = [name for name in STUDY.rows.columns if not name.startswith("dri")]
    debates = replace(STUDY, rows=STUDY.rows[columns])
    assert specifications(debates, DRAWS)[0].why_not in ("no_outcome", "no_value")
    own = [name for name in STUDY.rows.columns if not name.startswith("dri_adjusted")]
    result = specifications(replace(STUDY, rows=STUDY.rows[own]), DRAWS)[0]
    assert set(result.rows["index"]) == {"plain"}
    assert any("dri_adjusted" in note for note in result.notes)
