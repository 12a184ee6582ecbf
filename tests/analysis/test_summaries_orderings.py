"""Judges against the comparisons of people: order, ties, correlations, labels, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted_summaries import planted
from scipy.stats import pearsonr, spearmanr

from delibsim.analysis.summaries.agreement import labels, orderings
from delibsim.analysis.summaries.report import summaries_report
from delibsim.domain.summary import DIMENSIONS

near = pytest.approx
RATED = ["judge", "people", "summary", "opinion", "control", "missing", *DIMENSIONS]
COMPARED = ["judge", "people", "a", "b", "opinion", "first", "missing", *DIMENSIONS]
# person, rating of the first, comparison, whether the rated one is A
PEOPLE = [
    ("p1", 4, 1, True),
    ("p2", 4, 5, True),
    ("p3", 3, 4, False),
    ("p4", 2, 3, True),
    ("p5", 5, 5, False),
]
# what the judge gives a and b beside the opinion of each
JUDGE = {"p1": (5, 3), "p2": (2, 2), "p3": (4, 2), "p4": (3, 5), "p5": (1, 4)}


@pytest.fixture
def judged():
    ratings, compared = [], []
    for person, rating, comparison, is_a in PEOPLE:
        rated = "x" if is_a else "y"
        ratings.append((person, True, rated, person, False, "", *[rating] * 4))
        compared.append((person, True, "x", "y", person, rated, "", *[comparison] * 4))
        for summary, value in zip("xy", JUDGE[person], strict=True):
            ratings.append(("j", False, summary, person, False, "", *[value] * 4))
    return replace(
        planted(n=20, runs=1),
        ratings=pd.DataFrame(ratings, columns=RATED),
        comparisons=pd.DataFrame(compared, columns=COMPARED),
    )


def row(rows, **wanted):
    (found,) = [row for row in rows if wanted.items() <= row.items()]
    return found


def test_a_judge_is_scored_where_the_person_prefers_one(judged):
    found = row(orderings([judged]), judge="j", dimension="rep")
    # p1 as the person, p2 a tie of the judge, p3 against, p4 a tie of the person, p5 as the person
    assert (found["by"], found["n"], found["ties"], found["judge_ties"]) == ("ratings", 4, 1, 1)
    assert found["ordered"] == near((1 + 0.5 + 0 + 1) / 4)
    assert 0 <= found["low"] < found["ordered"] < found["high"] <= 1
    theirs = [c - 3 for _, _, c, _ in PEOPLE]
    ours = [b - a for a, b in JUDGE.values()]
    assert found["spearman"] == near(spearmanr(theirs, ours).statistic)
    assert found["differences"] == near(pearsonr(theirs, ours).statistic)


def test_comparisons_of_a_judge_count_in_both_orders(judged):
    rows = []
    for person, c, turned in (("p1", 2, 5), ("p2", 3, 3), ("p3", 1, 5), ("p5", 4, 4)):
        rows.append(("k", False, "x", "y", person, "", "", *[c] * 4))
        rows.append(("k", False, "y", "x", person, "", "", *[turned] * 4))
    both = pd.concat([judged.comparisons, pd.DataFrame(rows, columns=COMPARED)], ignore_index=True)
    found = row(orderings([replace(judged, comparisons=both)]), judge="k", dimension="pol")
    # p1 means (-1 - 2) / 2, p2 nothing, p3 against, p5 (1 - 1) / 2: two ties
    assert (found["by"], found["n"], found["judge_ties"]) == ("comparisons", 4, 2)
    assert found["ordered"] == near((1 + 0.5 + 0 + 0.5) / 4)


def test_labels_are_as_rated_additive_and_linear(judged):
    result = list(labels([judged]))
    found = {
        label: row(result, judge="j", dimension="neu", label=label)
        for label in ("rated", "additive", "linear")
    }
    assert {one["n"] for one in found.values()} == {5}
    other = [3, 2, 4, 5, 1]  # what the judge gives the summary that was compared
    additive, linear = [2, 6, 2, 2, 3], [-1, 7, 1, 3, -1]
    assert found["additive"]["spearman"] == near(spearmanr(additive, other).statistic)
    assert found["linear"]["spearman"] == near(spearmanr(linear, other).statistic)
    assert found["linear"]["mae"] == near(np.abs(np.subtract(linear, other)).mean())
    rated = [one[1] for one in PEOPLE]
    own = [5, 2, 2, 3, 4]
    assert found["rated"]["spearman"] == near(spearmanr(rated, own).statistic)


def test_without_people_there_is_no_table_and_it_is_said_why():
    results = summaries_report([planted(n=20, runs=1)]).results
    for result in (results["orderings"], results["labels"]):
        assert (result.given, result.why_not) == (False, "not_asked")
        assert "delibsim judge handout STUDY" in result.detail


def test_people_who_prefer_nothing_leave_the_share_undefined(judged):
    same = judged.comparisons.assign(**dict.fromkeys(DIMENSIONS, 3.0))
    found = row(orderings([replace(judged, comparisons=same)]), judge="j", dimension="inf")
    assert (found["n"], found["ties"]) == (0, 5)
    assert np.isnan(found["ordered"])
    assert np.isnan(found["spearman"])
