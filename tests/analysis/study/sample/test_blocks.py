"""What enters a comparison of two treatments, and what is named as left out."""

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.sample.blocks import (
    compared,
    duplicates_note,
    missing_note,
    reasons_of,
)

ROWS = synthetic_study(topics=3, models=2, replicates=2).rows


def test_blocks_and_pairs_hold_the_differences():
    found = compared(ROWS, "dri_change", "normative", "none")
    wide = ROWS.pivot_table("dri_change", ["topic", "model", "replicate"], "treatment")
    differences = wide["normative"] - wide["none"]
    assert found.pairs["difference"].tolist() == pytest.approx(differences.tolist())
    by_block = differences.groupby(level=[0, 1]).mean()
    assert found.blocks["difference"].tolist() == pytest.approx(by_block.tolist())
    assert found.blocks["pairs"].tolist() == [2] * 6
    assert found.mean_by("topic").to_dict() == pytest.approx(
        by_block.groupby(level=0).mean().to_dict()
    )
    assert found.mean_by("model").index.tolist() == ["model0", "model1"]
    assert (found.left_out, found.unpaired, found.equal) == ((), (), False)


def test_an_index_that_is_not_unique_does_no_harm():
    rows = pd.concat([ROWS, ROWS.assign(setting="rounds=4")])
    rows.iloc[0, rows.columns.get_loc("dri_change")] = np.nan
    found = compared(rows, "dri_change", "normative", "none")
    assert (len(found.blocks), len(found.pairs)) == (12, 23)
    assert found.left_out == ("missing: 1 of 48 sessions have no value (1 no reason given)",)


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


def test_duplicates_are_named():
    assert duplicates_note(ROWS) == []
    (note,) = duplicates_note(pd.concat([ROWS, ROWS.head(7)]))
    assert note.startswith("duplicated_runs: 7 replicates (topic0 model0 none r1; ")
    assert "; 2 more) have more than one session under a treatment, 14 in all" in note
