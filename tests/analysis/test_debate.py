"""The analysis of debates against oracles, on synthetic tournaments whose strengths are known, and
where nothing can be computed.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tournaments import MOTIONS, tournament

from delibsim.analysis.debates.dimensions import paired_tests, reliability
from delibsim.analysis.debates.ratings import (
    HEADLINE,
    ON_THESE,
    analysed,
    by_debater,
    debater_contrasts,
    standings,
)
from delibsim.analysis.debates.report import findings
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.participant import SIDES
from delibsim.measures.inference.components import crossed_components
from delibsim.measures.inference.means import holm
from delibsim.measures.reliability.ratings import krippendorff_alpha

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
    published = (row["performance_published_low"], row["performance_published_high"])
    assert published == pytest.approx(tuple(interval), abs=0.2)


def test_intervals_draw_motions_or_debates_and_not_ratings():
    table = tournament({"a": 0, "b": 0}, raters=4, seed=2)
    copied = pd.concat([table, table.assign(rater="copy of " + table["rater"])], ignore_index=True)
    one, two = standings(table, seed=1), standings(copied, seed=1)
    pd.testing.assert_frame_equal(one.drop(columns="ratings"), two.drop(columns="ratings"))


def clustered_mean(values, groups):
    """What statsmodels makes of a mean with clustered errors: low, high, p."""
    import statsmodels.api as sm

    spread = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
    fit = sm.OLS(np.asarray(values, dtype=float), np.ones(len(values))).fit(**spread)
    return (*fit.conf_int()[0], fit.pvalues[0])


def test_the_standings_have_intervals_by_t_over_motions(table):
    row = standings(table).set_index("debater").loc["b"]
    own = by_debater(table).query("debater == 'b'")
    low, high, _ = clustered_mean(own["won"], pd.factorize(own["motion"])[0])
    assert (row["win_low"], row["win_high"]) == pytest.approx((low, high))
    assert (row["unit"], row["df"], row["note"]) == ("motion", 9, "")
    # All motions have equally many ratings: it is t on ten means of motions.
    from scipy.stats import t

    means = own.groupby("motion")["own.performance"].mean()
    expected = t.interval(0.95, 9, means.mean(), means.sem())
    assert (row["performance_low"], row["performance_high"]) == pytest.approx(expected)


def test_contrasts_answer_three_questions_each_by_its_own_units(table):
    table = table.copy()
    for side in SIDES:  # raters and motions differ in how they like b
        fans = table["rater"].isin(["Rater 1", "Rater 2"]) & (table[side] == "b")
        liked = table["motion"].isin(MOTIONS[:4]) & (table[side] == "b")
        table[f"{side}.performance"] += 4.0 * fans + 12.0 * liked
    found = debater_contrasts(table, samples=500)
    own = found[(found["contrast"] == "b - opponents") & (found["outcome"] == "performance")]
    view = by_debater(table).query("debater == 'b'")
    d = view["own.performance"] - view["other.performance"]
    motion, rater = (pd.factorize(view[kind])[0] for kind in ("motion", "rater"))
    groups = (motion, None, np.column_stack([motion, rater]))
    for (_, row), group in zip(own.iterrows(), groups, strict=True):
        assert row["estimate"] == pytest.approx(d.mean())
        if group is not None:
            low, high, p = clustered_mean(d, group)
            assert (row["low"], row["high"], row["p"]) == pytest.approx((low, high, p))
    assert own["unit"].tolist() == ["motion", "debate within motion", "motion and rater"]
    assert own["df"].tolist() == [9, 20, 5]
    assert own["units"].tolist() == [10, 30, 6]


def test_on_these_motions_debates_vary_about_the_mean_of_their_motion(table):
    """All debates have six ratings, so that it is the error of a mean over blocks: OLS of the means
    of debates on motions.
    """
    import statsmodels.formula.api as smf

    found = debater_contrasts(table, samples=100).query("outcome == 'performance'")
    row = found[(found["contrast"] == "b - opponents") & (found["question"] == ON_THESE)].iloc[0]
    view = by_debater(table).query("debater == 'b'")
    view = view.assign(d=view["own.performance"] - view["other.performance"])
    means = view.groupby(["motion", "debate"], as_index=False)["d"].mean()
    within = means.groupby("motion")["d"].var(ddof=1)  # three debates a motion
    se = np.sqrt((within / 3).sum()) / 10
    assert row["se"] == pytest.approx(se)
    # With equal variances in all motions it is the constant of the analysis of variance.
    fit = smf.ols("d ~ C(motion, Sum)", means).fit()
    assert row["se"] == pytest.approx(fit.bse["Intercept"])
    assert (row["low"], row["high"]) == pytest.approx(tuple(fit.conf_int().loc["Intercept"]))
    assert row["p"] == pytest.approx(fit.pvalues["Intercept"])


def test_on_these_motions_the_signs_of_whole_debates_are_flipped(table):
    """The ten debates of two debaters can be flipped in 1,024 ways, which are written out."""
    more = table[table[["proposition", "opposition"]].isin(["c", "d"]).all(axis=1)]
    d = (more["proposition.performance"] - more["opposition.performance"]) * np.where(
        more["proposition"] == "c", 1, -1
    )
    sums = d.groupby(more["debate"]).sum().to_numpy()
    ways = np.array(list(itertools.product([1, -1], repeat=len(sums)))) @ sums
    exact = (np.abs(ways) >= abs(sums.sum()) - 1e-9).mean()
    found = debater_contrasts(more, samples=20_000).query("outcome == 'performance'")
    (p,) = found.loc[found["question"] == ON_THESE, "p"]
    assert p == pytest.approx(exact)


def test_a_verb_needs_five_motions_an_interval_without_zero_and_holm(table):
    found = debater_contrasts(table, samples=500)
    first = found[found["question"] == HEADLINE]
    for row in first.itertuples():
        clear = (row.low > 0 or row.high < 0) and row.p_holm < 0.05
        assert (row.verb in ("better", "worse")) == clear
        assert row.verb != ("worse" if row.estimate > 0 else "better")
    assert set(found.loc[found["question"] != HEADLINE, "verb"]) == {""}
    assert {"better", "worse"} <= set(first["verb"])
    for _, own in first.groupby("family"):
        assert own["p_holm"].tolist() == pytest.approx(holm(own["p"].tolist()))
    few = debater_contrasts(table[table["motion"].isin(MOTIONS[:4])], samples=2000)
    first = few[few["question"] == HEADLINE]
    assert set(first["note"]) == {"few_motions"}
    assert first[["low", "high", "p"]].isna().all(axis=None)
    assert set(first["verb"]) <= {"on_these_motions", "none"}
    assert "on_these_motions" in set(first["verb"])


def test_sentences_claim_a_direction_only_where_a_verb_stands(table):
    found = debater_contrasts(table, samples=500)
    said = list(findings(found))
    assert len(said) == 8
    assert said[1].startswith("a performed better than its opponents: 11.1 [9.9, 12.2], t over")
    few = debater_contrasts(table[table["motion"] == MOTIONS[0]], samples=500)
    for sentence in findings(few):
        assert "no clear difference" in sentence
        assert "fewer than five motions say nothing of other motions" in sentence
        assert "few_motions" not in sentence


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
