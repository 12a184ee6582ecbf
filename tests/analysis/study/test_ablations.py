"""Levels, personas and reasoning compared within topics, against scipy and statsmodels."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import ttest_1samp
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.multitest import multipletests
from synthetic_study import synthetic_study

from delibsim.analysis.study.ablations import ablations, personas
from delibsim.analysis.study.study_table import DrawCounts

BASE = synthetic_study({"normative": 0.03}, topics=3, models=2, replicates=3)


def with_levels(factor, levels):
    """The base study and others that differ from it in one factor; each has its own numbers."""
    parts = [BASE.rows]
    for k, level in enumerate(levels):
        rows = synthetic_study({"normative": 0.03}, 3, 2, 3, seed=k + 1).rows
        parts.append(rows.assign(**{factor: level}))
    return replace(BASE, rows=pd.concat(parts, ignore_index=True))


def rows_of(study):
    return ablations(study, DrawCounts()).rows.set_index(["factor", "outcome", "a", "b"])


def test_levels_are_compared_within_topics():
    """By t over the means of topics; the nine draws are flipped whole."""
    study = with_levels("rounds", (4, 6))
    found = rows_of(study)
    p = []
    for a, b in (("4", "2"), ("6", "2"), ("6", "4")):
        row = found.loc["rounds", "dri_change", a, b]
        of = study.rows.assign(level=study.rows["rounds"].astype(str))
        cells = of.pivot_table("dri_change", ["topic", "model", "replicate"], "level")
        apart = cells[a] - cells[b]
        theirs = ttest_1samp(apart.groupby("topic").mean(), 0)
        ends = theirs.confidence_interval()
        assert (row["unit"], row["df"]) == ("topic", 2)
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
        assert row["p"] == pytest.approx(theirs.pvalue)
        sums = apart.groupby(["topic", "replicate"]).sum().to_numpy()
        signs = np.array(list(product([-1, 1], repeat=9)))
        expected = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12)
        assert row["p_draws"] == pytest.approx(expected, abs=1e-12)
        p.append(theirs.pvalue)
    rows = found.xs("dri_change", level="outcome")
    assert rows["p_holm"].tolist() == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_what_topics_share_is_no_evidence_between_levels():
    """A topic that is far off moves both levels: Tukey's p, which ignores topics, is larger."""
    study = with_levels("rounds", (4,))
    rows = study.rows.copy()
    rows["dri_change"] += rows["topic"].map({"topic0": -1.0, "topic1": 0.0, "topic2": 1.0})
    rows.loc[rows["rounds"] == 4, "dri_change"] += 0.3
    found = rows_of(replace(study, rows=rows)).loc["rounds", "dri_change", "4", "2"]
    assert found["p"] < 0.05 < found["p_tukey"]
    assert found["published_low"] < 0 < found["low"]


def test_it_is_what_statsmodels_gives():
    study = with_levels("rounds", (4, 6))
    found = rows_of(study)
    for outcome in ("dri_change", "diversity_pre", "diversity_change"):
        theirs = pairwise_tukeyhsd(study.rows[outcome], study.rows["rounds"].astype(str))
        pairs = zip(*np.triu_indices(3, 1), strict=True)
        for k, (i, j) in enumerate(pairs):
            row = found.loc["rounds", outcome, theirs.groupsunique[j], theirs.groupsunique[i]]
            assert row["difference"] == pytest.approx(theirs.meandiffs[k])
            assert row["p_tukey"] == pytest.approx(theirs.pvalues[k], abs=1e-4)
            ends = row["published_low"], row["published_high"]
            assert ends == pytest.approx(theirs.confint[k], abs=1e-4)
            assert (row["n_a"], row["n_b"]) == (18, 18)
            assert row["note"].startswith("few_topics: 3 topics")


def test_a_textbook_example():
    """NIST/SEMATECH e-Handbook of Statistical Methods, section 7.4.7.1: four treatments, n = 5.

    The table of SciPy's own tests holds these intervals too (scipy/stats/tests/test_hypotests.py).
    """
    groups = {
        3: [6.9, 5.4, 5.8, 4.6, 4.0],
        5: [8.3, 6.8, 7.8, 9.2, 6.5],
        7: [8.0, 10.5, 8.1, 6.9, 9.3],
        9: [5.8, 3.8, 6.1, 5.6, 6.2],
    }
    rows = []
    for size, values in groups.items():
        for replicate, value in enumerate(values):
            rows.append({"topic": "t", "model": "m", "setting": "", "treatment": "normative",
                         "replicate": replicate, "group_size": size, "dri_change": value})  # fmt: skip
    found = rows_of(replace(BASE, rows=pd.DataFrame(rows)))
    printed = {
        ("5", "3"): (0.29, 4.47),
        ("7", "3"): (1.13, 5.31),
        ("7", "5"): (-1.25, 2.93),
        ("9", "3"): (-1.93, 2.25),
        ("9", "5"): (-4.31, -0.13),
        ("9", "7"): (-5.15, -0.97),
    }
    for (a, b), interval in printed.items():
        row = found.loc["group_size", "dri_change", a, b]
        ends = row["published_low"], row["published_high"]
        assert ends == pytest.approx(interval, abs=0.01)


def test_what_is_held_and_what_is_ignored_is_said():
    study = with_levels("rounds", (4,))
    other = synthetic_study({"normative": 0.03}, 3, 2, 3, seed=9).rows.assign(group_size=7)
    result = ablations(replace(study, rows=pd.concat([study.rows, other])), DrawCounts())
    assert "ignores topics" in result.definition
    assert any(
        note.startswith("rounds: the other factors are held at group size 5")
        for note in result.notes
    )
    assert set(result.rows["factor"]) == {"rounds", "group_size"}


def test_a_level_without_values_leaves_the_others():
    study = with_levels("group_size", (3, 7))
    rows = study.rows.assign(
        dri_change=study.rows["dri_change"].where(study.rows["group_size"] != 7)
    )
    found = rows_of(replace(study, rows=rows))
    two = rows_of(replace(study, rows=rows[rows["group_size"] != 7]))
    expected = two.loc["group_size", "dri_change", "5", "3"]
    pd.testing.assert_series_equal(found.loc["group_size", "dri_change", "5", "3"], expected)
    assert found.loc[("group_size", "dri_change", "7", "3"), "note"] == "no_value"
    assert found.loc[("group_size", "dri_change", "7", "3"), "n_a"] == 0


def test_levels_that_are_equal_by_construction_are_said():
    twice = replace(BASE, rows=pd.concat([BASE.rows, BASE.rows.assign(temperature=0.7)]))
    found = rows_of(twice)
    assert (found["difference"] == 0).all()
    assert found["note"].str.startswith("equal_conditions").all()


PLAIN = synthetic_study({"none": 0.0, "normative": 0.03}, topics=3, models=2, replicates=3)
TOLD = synthetic_study({"none": 0.0, "normative": 0.03}, 3, 2, 3, seed=7).rows
TOLD = TOLD.assign(diversity_pre=TOLD["diversity_pre"] * 2, persona="human:" + TOLD["topic"])
STUDY = replace(PLAIN, rows=pd.concat([PLAIN.rows, TOLD], ignore_index=True))


def test_it_is_least_squares_with_hc3_errors():
    found = personas(STUDY, DrawCounts()).rows.set_index("outcome")
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
    row = personas(STUDY, DrawCounts()).rows.set_index("outcome").loc["dri_change"]
    by = ["topic", "model", "treatment"]
    means = [part.groupby(by)["dri_change"].mean() for part in (TOLD, PLAIN.rows)]
    expected = ttest_1samp((means[0] - means[1]).groupby("topic").mean(), 0)
    assert row["p"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (row["low"], row["high"], row["df"]) == pytest.approx((interval.low, interval.high, 2))


def test_d_by_hand():
    row = personas(STUDY, DrawCounts()).rows.set_index("outcome").loc["diversity_pre"]
    told, plain = TOLD["diversity_pre"], PLAIN.rows["diversity_pre"]
    pooled = np.sqrt((told.var(ddof=1) + plain.var(ddof=1)) / 2)
    assert row["d"] == pytest.approx((told.mean() - plain.mean()) / pooled)


def test_only_what_occurs_with_and_without_is_compared():
    rows = STUDY.rows[~((STUDY.rows["persona"] != "none") & (STUDY.rows["topic"] == "topic2"))]
    result = personas(replace(STUDY, rows=rows), DrawCounts())
    assert set(result.rows["n_with"]) == set(result.rows["n_without"]) == {24}
    assert any("12 sessions" in note for note in result.notes)


def test_several_kinds_are_taken_together_and_named():
    values = STUDY.rows["persona"].where(STUDY.rows["model"] == "model0", "values")
    rows = STUDY.rows.assign(persona=values.where(STUDY.rows["persona"] != "none", "none"))
    result = personas(replace(STUDY, rows=rows), DrawCounts())
    assert "Personas of several kinds are taken together: human, values." in result.notes
    assert set(result.rows["n_with"]) == {36}
