"""The specification curve: which choices there are, and that each row is the contrast of its own."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.analyses.contrasts import contrasts
from delibsim.analysis.study.analyses.specifications import specifications
from delibsim.analysis.study.draws import Draws

DRAWS = Draws(permutations=500, resamples=500)
STUDY = synthetic_study(topics=6, models=2, replicates=3)


def test_a_plain_study_has_two_indices_two_scales_and_two_tests():
    result = specifications(STUDY, DRAWS)
    table = result.rows
    assert len(table) == 3 * 2 * 2 * 2
    assert set(table["wording"]) == set(table["runs"]) == {"all"}
    assert set(table["pairing"]) == {"paired", "free"}
    assert set(result.meanings) == set(table.columns)
    assert any(note.startswith("normative minus none: 8 specifications") for note in result.notes)
    assert "500 permutations" in result.definition
    alone = specifications(replace(STUDY, paired=False), DRAWS).rows
    assert set(alone["pairing"]) == {"free"}


def test_estimates_are_those_of_the_contrasts():
    table = specifications(STUDY, DRAWS).rows
    theirs = contrasts(STUDY, DRAWS).rows
    assert len(theirs)
    indices = {"dri": "plain", "dri_adjusted": "adjusted"}
    compared = 0
    for _, row in theirs[theirs["outcome"].isin(indices)].iterrows():
        same = (table["a"] == row["a"]) & (table["b"] == row["b"])
        same &= (table["index"] == indices[row["outcome"]]) & (table["scale"] == row["scale"])
        assert np.allclose(table.loc[same, "estimate"], row["estimate"])
        paired = table[same & (table["pairing"] == "paired")].iloc[0]
        assert paired["p"] == pytest.approx(row["p_paired"], abs=0.1), "both are simulated"
        compared += 1
    assert compared == 12


def test_an_estimate_by_hand_without_the_sessions_that_were_asked_again():
    rows = STUDY.rows.copy()
    rows.loc[rows["replicate"] == 1, "reasked"] = 2
    table = specifications(replace(STUDY, rows=rows), DRAWS).rows
    assert len(table) == 48
    own = rows[rows["replicate"] > 1]
    means = own.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    chosen = table[(table["runs"] == "without re-asked") & (table["index"] == "plain")]
    row = chosen[(chosen["scale"] == "absolute") & (chosen["a"] == "basic")].iloc[0]
    assert row["estimate"] == pytest.approx((means["basic"] - means["none"]).mean())


def test_sessions_with_a_stand_in_can_be_left_out():
    people = STUDY.rows["replicate"].eq(1).astype("Int64")  # one of each block
    rows = STUDY.rows.assign(people_stood_in=people)
    table = specifications(replace(STUDY, rows=rows), DRAWS).rows
    own = STUDY.rows[STUDY.rows["replicate"] > 1]
    means = own.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    chosen = table[(table["runs"] == "without stand-ins") & (table["index"] == "plain")]
    row = chosen[(chosen["scale"] == "absolute") & (chosen["a"] == "basic")].iloc[0]
    assert row["estimate"] == pytest.approx((means["basic"] - means["none"]).mean())
    none = rows.assign(people_stood_in=pd.array([pd.NA] * len(rows), dtype="Int64"))
    left = specifications(replace(STUDY, rows=none), DRAWS).rows
    assert "without stand-ins" not in set(left["runs"])


def test_wordings_and_paraphrases_are_choices():
    other = synthetic_study(topics=6, models=2, replicates=3, seed=4)
    rows = other.rows.assign(wording="plain", setting="wording=plain")
    both = replace(STUDY, rows=pd.concat([STUDY.rows.assign(setting="wording=default"), rows]))
    table = specifications(both, DRAWS).rows
    assert set(table["wording"]) == {"all", "default", "plain"}
    plain = table[(table["wording"] == "plain") & (table["pairing"] == "free")].reset_index()
    alone = specifications(other, DRAWS).rows
    expected = alone[alone["pairing"] == "free"]["estimate"]
    assert plain["estimate"].to_numpy() == pytest.approx(expected.to_numpy())
    told = STUDY.rows[STUDY.rows["treatment"] == "normative"].assign(treatment="normative_a")
    told["dri_change"] += 0.1
    table = specifications(replace(STUDY, rows=pd.concat([STUDY.rows, told])), DRAWS).rows
    first = table[
        (table["a"] == "normative") & (table["b"] == "none") & (table["index"] == "plain")
    ]
    first = first[(first["scale"] == "absolute") & (first["pairing"] == "free")]
    by_wording = first.set_index("wording")["estimate"]
    assert by_wording["normative_a"] == pytest.approx(by_wording["all"] + 0.1)
    assert set(table["a"]) == {"normative", "basic"}, "paraphrases are no contrasts of their own"


def test_what_is_missing_has_a_reason():
    one = replace(STUDY, rows=STUDY.rows[STUDY.rows["treatment"] == "none"])
    result = specifications(one, DRAWS)
    assert (result.why_not, len(result.rows)) == ("one_treatment", 0)
    columns = [name for name in STUDY.rows.columns if not name.startswith("dri")]
    debates = replace(STUDY, rows=STUDY.rows[columns])
    assert specifications(debates, DRAWS).why_not in ("no_outcome", "no_value")
    plain = [name for name in STUDY.rows.columns if not name.startswith("dri_adjusted")]
    result = specifications(replace(STUDY, rows=STUDY.rows[plain]), DRAWS)
    assert set(result.rows["index"]) == {"plain"}
    assert any("dri_adjusted" in note for note in result.notes)


def test_all_sessions_asked_again_leave_no_estimate():
    rows = STUDY.rows.assign(reasked=1)
    table = specifications(replace(STUDY, rows=rows), DRAWS).rows
    left = table[table["runs"] == "without re-asked"]
    assert left["estimate"].isna().all()
    assert left["note"].str.startswith("no_block").all()


def test_equal_seeds_give_equal_curves():
    first, second = specifications(STUDY, DRAWS), specifications(STUDY, DRAWS)
    pd.testing.assert_frame_equal(first.rows, second.rows)
