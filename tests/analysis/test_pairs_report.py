"""The report on a comparison: known strengths and biases are found, and Webis is reproduced."""

import csv
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared_votes import STRENGTHS, compared, drawn, vote

from delibsim.analysis.figures.entries import entries_of
from delibsim.analysis.pairs.fitted import Compared, Settings, fitted
from delibsim.analysis.pairs.judges import majorities
from delibsim.analysis.pairs.report import PANELS, pairs_report, scores
from delibsim.asking.kinds.imported import columns_of, import_pairs
from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.likelihood import Dummy
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.store.answers import Comparisons
from delibsim.store.runs import Runs

WEBIS = Path(__file__).resolve().parents[3] / "shared" / "data" / "webis"


ORDERED = Settings(Model(order=True, judges="discriminating"))


@pytest.fixture(scope="module")
def report():
    return pairs_report(compared(drawn(STRENGTHS, 0.8, 0.4)), ORDERED)


def test_known_strengths_place_bias_and_threshold_are_found(report):
    table = report.results["scores"].rows
    truth = np.array([STRENGTHS[id] for id in table["id"]])
    assert np.corrcoef(table["score"], truth)[0, 1] > 0.93
    inside = (table["low"] <= truth) & (truth <= table["high"])
    assert inside.mean() > 0.8
    row = report.results["judges"].rows.iloc[0]
    assert row["delta_low"] < 0.8 < row["delta_high"]
    assert row["theta_low"] < 0.4 < row["theta_high"]
    assert (table["rank_low"] <= table["rank"]).all()
    assert (table["wins"] + table["losses"] + table["ties"] == 46).all()
    assert any("favour the text shown first" in line for line in report.told)


def test_votes_that_are_missing_are_counted_and_leave_the_report_partial():
    votes = [vote("x", "y", "a"), vote("y", "z", "b"), vote("x", "z", None)]
    report = pairs_report(compared(votes, {("j", "logical"): 4}), Settings())
    row = report.results["counts"].rows.iloc[0]
    assert tuple(row[["planned", "asked", "answered", "used"]]) == (4, 3, 2, 2)
    assert row["missing"] == "1 refusal"
    assert not report.whole


def test_errors_by_pair_are_given_where_they_are_the_larger():
    one_order = [one for one in drawn(STRENGTHS, 0.3, 0.4, seed=5) if one.sheet.a < one.sheet.b]
    own = fitted(compared(3 * one_order[::2]), "logical", ORDERED)
    by_pair, of_model = uncertainty(own.fit, True), uncertainty(own.fit, False)
    assert np.median(by_pair.scores) > np.median(of_model.scores)
    assert own.errors.scores == pytest.approx(by_pair.scores)  # three runs that say the same
    strong = {id: 6 * strength for id, strength in list(STRENGTHS.items())[::2]}
    votes = [one for one in drawn(strong, 0.3, 0.4) if one.sheet.a < one.sheet.b]
    few = fitted(compared([*votes, *votes[:2]]), "logical", ORDERED)
    by_pair, of_model = uncertainty(few.fit, True), uncertainty(few.fit, False)
    assert np.median(by_pair.scores) < 0.8 * np.median(of_model.scores)
    assert few.errors.scores == pytest.approx(of_model.scores)  # hardly a vote is a surprise
    told = " ".join(pairs_report(compared([*votes, *votes[:2]]), ORDERED).told)
    assert "errors by pair are smaller than those of the model, which are given instead" in told


def test_the_majority_of_votes_on_a_pair_needs_more_than_half():
    said = [("x", "y", "a"), ("y", "x", "a"), ("x", "y", "a"), ("x", "z", "tie"), ("x", "z", "a")]
    votes = [vote(a, b, outcome, run=n) for n, (a, b, outcome) in enumerate(said, 1)]
    assert majorities(votes) == [("x", "y")]


def test_scales_move_scores_and_keep_their_order():
    votes = drawn(STRENGTHS, 0, 0.3)
    by_scale = {}
    for scale in ("log_odds", "z", "unit", "win"):
        own = fitted(compared(votes), "logical", Settings(Model(), scale))
        by_scale[scale] = pd.DataFrame(scores(own)).set_index("id")["score"]
    assert abs(by_scale["log_odds"].sum()) < 1e-6
    assert abs(by_scale["z"].std(ddof=0) - 1) < 1e-9
    assert (by_scale["unit"].min(), by_scale["unit"].max()) == (0, 1)
    ranked = {tuple(table.sort_values().index) for table in by_scale.values()}
    assert len(ranked) == 1


def test_votes_without_pairs_in_common_have_scores_of_their_own():
    votes = [vote("x", "y", "a"), vote("y", "x", "tie"), vote("p", "q", "b"), vote("q", "p", "tie")]
    report = pairs_report(compared(votes), Settings(Model(judges="pooled")))
    assert any("no votes join 2 parts of its texts" in line for line in report.told)
    assert report.results["scores"].rows["component"].nunique() == 2


@pytest.mark.skipif(not WEBIS.is_dir(), reason="the judgments of Webis are not at hand")
def test_the_published_scores_of_webis_are_reproduced(tmp_path):
    runs = Runs(tmp_path / "runs", "webis")
    columns = columns_of("a,b,outcome", "topic")
    found = import_pairs(WEBIS / "pairs_logical.csv", runs, columns, "main", "logical")
    assert (found.new, found.facts["texts"], found.facts["groups"]) == (13952, 1269, 20)
    votes = Comparisons.of(runs, "main").all()
    shares = Counter(one.outcome for one in votes)
    assert shares["a"] / len(votes) == pytest.approx(0.445958, abs=1e-6)
    texts = {id: one.sheet.group for one in votes for id in (one.sheet.a, one.sheet.b)}
    settings = Settings(Model(penalty=Dummy(0.1), theta=0.05), "z")
    whole = Compared("webis", "main", tuple(votes), {}, texts, True, 0)
    table = pd.DataFrame(scores(fitted(whole, "logical", settings))).set_index("id")["score"]
    with (WEBIS / "scores_logical.csv").open(encoding="utf-8") as lines:
        published = {f"{row['topic']}:{row['id']}": row["score"] for row in csv.DictReader(lines)}
    both = np.array([(table[id], float(score)) for id, score in published.items()]).T
    assert np.abs(both[0] - both[1]).max() < 2e-4
    assert np.corrcoef(both)[0, 1] > 0.999999


def test_a_figure_draws_what_can_be_read_and_says_what_it_leaves_out():
    ids = [f"g{group}/t{n}" for group in range(PANELS + 2) for n in range(50 if group == 3 else 3)]
    votes = [vote(a, b, "a") for a, b in pairwise(ids) if a[:2] == b[:2]]
    groups = {id: id[:2] for id in ids}
    report = pairs_report(replace(compared(votes), texts=groups), Settings())
    one = report.drawn()[0]
    ends = entries_of("pairs")["scores"].how["ends"]
    assert f"Drawn are the {PANELS} of {PANELS + 2} groups that have the most texts." in one.caption
    assert "the 20 strongest and the 20 weakest are drawn. The table has every text." in one.caption
    svg = one.svg()
    named = re.findall(r">(g\d/t\d+|\(\d+ between\))<", svg)
    assert len(named) == 2 * ends + 1 + 3 * (PANELS - 1)
    assert "(10 between)" in named
    assert len(report.results["scores"].rows) == len(ids)
