"""What enters a comparison of two treatments, and what is named as left out."""

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.blocks import compared, missing_note, reasons_of

ROWS = synthetic_study(topics=3, models=2, replicates=2).rows


def test_blocks_and_pairs_hold_the_differences():
    found = compared(ROWS, "dri_change", "normative", "none")
    wide = ROWS.pivot_table("dri_change", ["topic", "model", "replicate"], "treatment")
    differences = wide["normative"] - wide["none"]
    assert found.pairs["difference"].tolist() == pytest.approx(differences.tolist())
    by_block = differences.groupby(level=[0, 1]).mean()
    assert found.blocks["difference"].tolist() == pytest.approx(by_block.tolist())
    assert found.blocks["pairs"].tolist() == [2] * 6
    assert (found.left_out, found.unpaired, found.equal) == ((), (), False)


def test_a_draw_is_a_replicate_of_a_topic_whatever_the_model():
    pairs = compared(ROWS, "dri_change", "normative", "none").pairs
    assert pairs.groupby("draw")[["topic", "replicate"]].nunique().eq(1).all(axis=None)
    assert pairs["draw"].value_counts().tolist() == [2] * 6, "two models have each draw"


def worded(rows, of):
    """The sessions, of which some treatments are wordings of others."""
    return rows.assign(treatment=rows["treatment"].replace(of), paraphrase=rows["treatment"])


def test_each_wording_has_blocks_of_its_own_within_the_draws_of_its_topic():
    more = ROWS[ROWS["treatment"] == "normative"].assign(treatment="normative_a")
    more["dri_change"] += 0.5
    rows = worded(pd.concat([ROWS, more]), {"normative_a": "normative"})
    found = compared(rows, "dri_change", "normative", "none")
    blocks = found.blocks.groupby("wording")["difference"].mean()
    plain = compared(ROWS, "dri_change", "normative", "none").blocks["difference"].mean()
    names = ["normative against none", "normative_a against none"]
    assert blocks.loc[names].tolist() == pytest.approx([plain, plain + 0.5])
    assert set(found.blocks["setting"]) == {"", "wording=normative_a against none"}
    assert (len(found.blocks), found.pairs["draw"].nunique(), len(found.pairs)) == (12, 6, 24)
    assert (found.left_out, found.unpaired) == ((), ())
    assert found.shared.startswith("shared: 12 sessions")


def test_wordings_of_both_sides_are_compared_each_with_each():
    rows = pd.concat([ROWS, ROWS[ROWS["treatment"] == "none"].assign(treatment="none_b")])
    own = worded(rows, {"basic": "normative", "none_b": "none"})
    found = compared(own, "dri_change", "normative", "none")
    assert set(found.blocks["wording"]) == {
        f"{a} against {b}" for a in ("normative", "basic") for b in ("none", "none_b")
    }


def test_a_part_of_a_comparison_has_its_own_blocks_runs_and_pairs():
    whole = compared(ROWS, "dri_change", "normative", "none")
    part = whole.part(whole.blocks.index[whole.blocks["topic"] == "topic1"])
    alone = compared(ROWS[ROWS["topic"] == "topic1"], "dri_change", "normative", "none")
    for own, expected in ((part.blocks, alone.blocks), (part.pairs, alone.pairs)):
        assert own["difference"].tolist() == expected["difference"].tolist()
    assert len(part.runs) == len(alone.runs) == 8


def test_runs_without_a_replicate_make_no_pair():
    found = compared(ROWS.assign(replicate=np.nan), "dri_change", "normative", "none")
    assert (len(found.blocks), len(found.pairs)) == (6, 0)
    assert found.unpaired[0].startswith("unpaired: 24 sessions (topic0 model0 none")


def test_a_block_without_any_value_is_counted():
    rows = ROWS.copy()
    rows.loc[(rows["topic"] == "topic1") & (rows["model"] == "model0"), "dri_change"] = np.nan
    found = compared(rows, "dri_change", "normative", "none")
    assert "empty_blocks: no value under either treatment in 1 of 6 blocks" in found.left_out


def test_reasons_are_codes_of_notes_then_the_status():
    rows = ROWS.head(4).assign(
        dri_note=["constant_row: R1", "", "", None], dri_relative_change=np.nan
    )
    rows["status"] = ["complete", "damaged", "no run", "complete"]
    expected = {"constant_row": 1, "damaged": 1, "no run": 1, "no reason given": 1}
    assert reasons_of(rows, "dri_relative_change") == expected
    assert missing_note(rows, "nothing_change") == "missing: the study has no column nothing_change"
    assert missing_note(rows, "dri_change") == ""
