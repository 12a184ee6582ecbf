"""The analysis of debates against oracles, on synthetic tournaments whose strengths are known, and
where nothing can be computed.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tournaments import MOTIONS, tournament

from delibsim.analysis.debates.dimensions import paired_tests
from delibsim.analysis.debates.ratings import analysed, by_debater, columns, debaters_of, standings
from delibsim.analysis.debates.reliability import reliability
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.inference.multiplicity import holm
from delibsim.measures.reliability.ratings import krippendorff_alpha
from delibsim.measures.variance_components import crossed_components

ORACLE = json.loads((Path(__file__).parents[1] / "reference" / "debate.json").read_text())
KNOWN = {"a": 0.9, "b": 0.3, "c": -0.3, "d": -0.9}


@pytest.fixture(scope="module")
def table():
    return tournament(KNOWN, raters=6, seed=1)


def test_paired_tests_are_those_of_pingouin():
    left, right = np.array(ORACLE["paired"]["left"]), np.array(ORACLE["paired"]["right"])
    table = tournament({"a": 0, "b": 0}, raters=3, seed=0).iloc[:30].copy()
    for i, dimension in enumerate(DIMENSIONS[:4]):
        table[f"proposition.{dimension}"], table[f"opposition.{dimension}"] = (
            left[:, i],
            right[:, i],
        )
    found = paired_tests(table).set_index(["contrast", "dimension"]).loc["proposition - opposition"]
    assert found["t"].iloc[:4].tolist() == pytest.approx(ORACLE["paired"]["t"])
    assert found["n"].tolist() == [30] * 11
    assert holm(found["p"].iloc[:4].tolist()) == pytest.approx(ORACLE["paired"]["holm"])


def test_standings_count_wins_and_rank_the_strengths(table):
    found = standings(table).set_index("debater")
    assert list(found.sort_values("rank").index) == ["a", "b", "c", "d"]
    assert found["debates"].tolist() == [30] * 4
    own = table[(table.proposition == "a") | (table.opposition == "a")]
    won = ((own.winner == "proposition") & (own.proposition == "a")) | (
        (own.winner == "opposition") & (own.opposition == "a")
    )
    assert found.loc["a", "win_rate"] == pytest.approx(won.mean())
    assert found["win_rate"].mean() == pytest.approx(0.5)
    assert (found["win_low"] < found["win_rate"]).all()
    assert (found["win_rate"] < found["win_high"]).all()


def test_the_bootstrap_is_seeded_and_agrees_with_scipy(table):
    from scipy.stats import bootstrap

    once = table[
        table["rater"] == "Rater 1"
    ]  # one rating a debate, so that drawing debates is drawing ratings
    found = standings(once, seed=5)
    pd.testing.assert_frame_equal(found, standings(once, seed=5))
    values = by_debater(once).query("debater == 'a'")["own.performance"].to_numpy()
    interval = bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=1
    ).confidence_interval
    row = found.set_index("debater").loc["a"]
    assert (row["performance_low"], row["performance_high"]) == pytest.approx(
        tuple(interval), abs=0.2
    )


def test_the_bootstrap_draws_debates_and_not_ratings():
    table = tournament({"a": 0, "b": 0}, raters=4, seed=2)
    copied = pd.concat([table, table.assign(rater="copy of " + table["rater"])], ignore_index=True)
    one, two = standings(table, seed=1), standings(copied, seed=1)
    pd.testing.assert_frame_equal(one.drop(columns="ratings"), two.drop(columns="ratings"))


def test_reliability_is_that_of_the_measures_on_the_right_arrays(table):
    found = reliability(table).set_index("measure")
    winners = table.pivot(index="debate", columns="rater", values="winner") == "proposition"
    assert found.loc["winner_alpha", "value"] == pytest.approx(
        krippendorff_alpha(winners.to_numpy(float))
    )
    sides = [
        table.pivot(index="debate", columns="rater", values=f"{s}.performance").to_numpy(float)
        for s in ("proposition", "opposition")
    ]
    assert found.loc["performance_icc_2k", "value"] == pytest.approx(
        crossed_components(np.concatenate(sides)).icc_2k
    )
    assert found.loc["performance_icc_2k", ["units", "raters"]].tolist() == [120, 6]
    assert (found["note"] == "").all()


def test_a_winner_whom_nobody_named_counts_for_ac1_and_leaves_alpha_undefined(table):
    alike = table.assign(winner="proposition")
    found = reliability(alike)
    of_all = found[found["debaters"] == "all"].set_index("measure")
    assert of_all.loc["winner_ac1", ["value", "note"]].tolist() == [1.0, ""]
    assert np.isnan(of_all.loc["winner_alpha", "value"])
    assert of_all.loc["winner_alpha", "note"] == "one_category"


def test_reliability_needs_no_debate_that_all_rated(table):
    alternating = table[(table["debate"].factorize()[0] + table["rater"].factorize()[0]) % 2 == 0]
    row = reliability(alternating).set_index("measure").loc["performance_icc_2k"]
    whole = reliability(table).set_index("measure").loc["performance_icc_2k"]
    assert (row["note"], row["units"], row["raters"]) == ("", 120, 6)
    # The mean of three raters rather than six, by the formula of Spearman and Brown.
    assert row["value"] == pytest.approx(whole["value"] / (2 - whole["value"]), abs=0.1)


def test_a_missing_rating_leaves_a_row_out_of_what_needs_it_and_nothing_else(table):
    gap = table.copy()
    gap.loc[0, "proposition.logic"] = np.nan
    whole, less = (paired_tests(t).set_index(["contrast", "dimension"])["n"] for t in (table, gap))
    fewer = whole - less
    assert fewer["proposition - opposition"].to_dict() == {
        d: float(d == "logic") for d in DIMENSIONS
    }


def test_those_who_failed_the_attention_check_are_left_out_and_those_not_asked_are_kept(table):
    mixed = table.astype({"attentive": object}).copy()
    mixed.loc[0, "attentive"], mixed.loc[1, "attentive"] = False, None
    assert len(analysed(mixed)) == len(table) - 1
    assert 1 in analysed(mixed).index


def test_an_empty_table_gives_empty_tables_and_reasons():
    empty = pd.DataFrame(columns=columns())
    assert debaters_of(empty) == []
    assert standings(empty).empty
    assert set(reliability(empty)["note"]) == {"too_few_ratings"}
    assert set(paired_tests(empty)["note"]) == {"too_few_ratings"}


def test_the_table_of_a_tournament_is_balanced(table):
    assert len(table) == 6 * len(MOTIONS) * 6
    assert table.groupby("motion")["debate"].nunique().unique().tolist() == [6]
