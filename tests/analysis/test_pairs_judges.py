"""Judges beside each other and beside people, differences of texts, and what else a report tells:
values of other programs (PAIRS 11), and cases worked by hand.
"""

from dataclasses import replace

import numpy as np
import pytest

from delibsim.analysis.pairs.beside import against
from delibsim.analysis.pairs.fitted import Compared, JudgesAsked, People, Settings, fitted
from delibsim.analysis.pairs.judges import runs
from delibsim.analysis.pairs.report import pairs_report
from delibsim.conduct.compare_report import examples_among
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.likelihood import Dummy
from tests.pair_votes import REFERENCE

OUTCOMES = ("a", "tie", "b")
LABEL = {"A": "a", "T": "tie", "B": "b"}
LIKELY = Model(order=True, penalty=None, judges="discriminating")


def golden(*judges):
    """The votes of PAIRS 11 C to G of some of its judges, numbered from 1."""
    votes = []
    for line in REFERENCE["sheets"]:
        sheet, *cells = line.split("|")
        for judge in judges:
            said = zip(OUTCOMES, map(int, cells[judge - 1].split()), strict=True)
            given = [outcome for outcome, n in said for _ in range(n)]
            for run, outcome in enumerate(given, 1):
                votes.append(Vote(Sheet(*sheet.split()), f"j{judge}", "logical", outcome, run))
    return votes


def compared(votes, people=None, **asked):
    both = [*votes, *(people.votes if people else ())]
    texts = {id: vote.sheet.group for vote in both for id in (vote.sheet.a, vote.sheet.b)}
    return Compared(
        "s", "main", tuple(votes), {}, texts, False, 1, asked=JudgesAsked(**asked), people=people
    )


@pytest.fixture(scope="module")
def three():
    """The report on all three judges, which are beside judge 1 as people."""
    people = People("people", tuple(golden(1)), ordered=True)
    settings = Settings(LIKELY, top=2, differences=(("a", "c"),))
    return pairs_report(compared(golden(1, 2, 3), people), settings)


def rows(report, name):
    return report.results[name].rows.to_dict("records")


def test_differences_have_the_errors_of_other_programs():
    model = Model(order=True, penalty=None)
    report = pairs_report(
        compared(golden(1)), Settings(model, differences=(("a", "b"), ("a", "d"), ("b", "a")))
    )
    first, second, turned = rows(report, "differences")
    # MASS::polr, PAIRS 11 D.
    assert first["difference"] == pytest.approx(0.284134826674, abs=1e-8)
    assert first["se"] == pytest.approx(0.2432139797, abs=1e-8)
    assert second["difference"] == pytest.approx(0.989541113499, abs=1e-8)
    assert second["se"] == pytest.approx(0.2490598235, abs=1e-8)
    assert turned["difference"] == -first["difference"]
    assert second["p_holm"] == pytest.approx(3 * second["p"])
    assert any("fewer than two pairs a parameter" in line for line in report.told)


def test_differences_are_asked_for_and_of_texts_that_there_are(three):
    asked = {(row["a"], row["b"]) for row in rows(three, "differences")}
    assert asked == {("a", "c"), ("a", "b")}
    none = pairs_report(compared(golden(1)), Settings())
    assert none.plain()["not_given"]["differences"]["reason"] == "not_asked"
    with pytest.raises(WrongInput, match="unknown text 'z'"):
        pairs_report(compared(golden(1)), Settings(differences=(("a", "z"),)))


def test_models_of_the_judges_are_tested_as_by_hand(three):
    pooled, own, discriminating = rows(three, "judge_models")
    assert own["log_likelihood"] == pytest.approx(-570.838407929, abs=1e-6)
    assert discriminating["statistic"] == pytest.approx(38.677897, abs=1e-6)
    assert (own["df"], discriminating["df"]) == (4, 2)
    assert (pooled["parameters"], pooled["note"]) == (2, "")
    table = three.results["judge_parameters"].rows.set_index(["model", "judge", "parameter"])
    assert table.loc[("own_bias", "j2", "delta"), "value"] == pytest.approx(0.0175953082653)
    alpha = table.loc[("discriminating", "j2", "alpha")]
    assert alpha["value"] == pytest.approx(2.86284247, abs=1e-7)
    assert alpha["low"] < alpha["value"] < alpha["high"]
    eta = [row["eta"] for row in rows(three, "crowd_bt")]
    assert eta == pytest.approx([0.79899609, 0.97126107, 0.59006798], abs=1e-7)


def test_a_judge_beside_itself_agrees_in_full_and_passes_its_ceiling(three):
    alone = three.results["against"].rows.set_index("judge")
    assert alone.loc["j1", "r"] == 1
    assert 0 < alone.loc["j1", "reliability"] < 1
    assert alone.loc["j1", "r_of_ceiling"] == pytest.approx(alone.loc["j1", "reliability"] ** -0.5)
    labels = three.results["against_labels"].rows.set_index("judge")
    assert labels.loc["j1", "agreement"] == labels.loc["j1", "kappa"] == 1
    assert labels.loc["j1", "clear"] == 1
    assert {"all judges", "j2", "j3"} <= set(alone.index)
    assert any(line.startswith("logical, j1 beside people: r 1.000") for line in three.told)


def beside(votes, people):
    """The tables of judges beside people, by name."""
    given = compared(votes, people)
    fits = [fitted(given, dimension, Settings()) for dimension in given.dimensions]
    return {one.name: one for one in against(given, fits)}


def pairs_of(labels, judge, turned=False):
    """One vote on each of twelve pairs, of the texts of a pair alone; all turned round or not."""
    back = {"a": "b", "b": "a", "tie": "tie"}
    votes = []
    for n, letter in enumerate(labels):
        sheet, outcome = Sheet(f"x{n}", f"y{n}"), LABEL[letter]
        if turned:
            sheet, outcome = sheet.turned, back[outcome]
        votes.append(Vote(sheet, judge, "logical", outcome))
    return votes


@pytest.mark.parametrize("turned", [False, True])
def test_labels_are_those_of_the_order_in_which_people_saw_the_pair(turned):
    people = People("people", tuple(pairs_of("AABBTTABATBA", "p")))
    found = beside(pairs_of("ABBBTATBATAA", "j", turned), people)
    (row,) = found["against_labels"].rows.to_dict("records")
    assert row["kappa"] == pytest.approx(0.489361702128)  # scikit-learn, PAIRS 11 K
    assert (row["always_a"], row["people_tie"]) == pytest.approx((5 / 12, 0.25))
    assert row["clear"] == pytest.approx(6 / 9)
    assert found["against_tests"].why_not == "one_judge"


def test_examples_shown_to_judges_count_in_no_agreement():
    votes = pairs_of("AABBTTABATBA", "p")
    people = People("people", tuple(votes), left_out=frozenset({votes[0].sheet.pair}))
    found = beside(pairs_of("ABBBTATBATAA", "j"), people)
    (row,) = found["against_labels"].rows.to_dict("records")
    assert (row["pairs"], row["agreement"]) == (11, pytest.approx(7 / 11))
    digests = {id: Text(id, f"Said by {id}.").sha256 for id in ("x0", "y0", "z")}
    example = {"a": "Said by y0.", "b": "Said by x0.", "answer": "A"}
    strange = {**example, "a": "Said by nobody."}
    task = {"texts": digests, "dimensions": {"logical": {"examples": [example, strange]}}}
    assert examples_among(task, {"x0": "g", "y0": "g"}) == {Pair("x0", "y0", "g")}


def test_two_judges_are_tested_against_each_other_and_by_all_their_labels(three):
    (first, *_) = rows(three, "against_tests")
    assert (first["a"], first["b"], first["r_a"]) == ("j1", "j2", 1)
    assert first["difference"] == pytest.approx(1 - first["r_b"])
    assert first["only_b"] == 0
    assert first["only_a"] > 0
    agreed = three.results["agreement"].rows
    assert len(agreed) == 3
    assert agreed["r"].between(-1, 1).all()


def test_people_who_judged_no_dimension_of_the_comparison_are_told():
    votes = [*golden(1), *(Vote(Sheet("a", "b"), "j1", "rhetorical", "a") for _ in range(1))]
    other = Vote(Sheet("a", "b"), "p", "dialectical", "a")
    found = beside(votes, People("people", (other,)))
    assert found["against"].why_not == "no_dimension"


def test_runs_that_never_differ_are_told_and_others_counted():
    votes = [
        Vote(Sheet(a, b), "j", "logical", outcome, run)
        for a, b, labels in (("x", "y", "aa"), ("y", "z", "ab"), ("x", "z", "bb"))
        for run, outcome in enumerate(labels, 1)
    ]
    drawn = {"runs": 2, "temperature": 0.7}
    row = of_runs(votes, **drawn)
    shares = pytest.approx((2 / 3, 0, 1 / 3))
    assert (row["equal"], row["some"], row["different"]) == shares
    assert (row["sheets"], row["note"]) == (3, "")
    assert np.isnan(of_runs(votes, runs=3)["equal"])  # no sheet has a vote in every run
    same = [vote for vote in votes if vote.sheet.id != "y | z"]
    assert of_runs(same, **drawn)["note"] == "runs_identical"
    report = pairs_report(compared(same, **drawn), Settings())
    assert any("runs are no draws of their own" in line for line in report.told)


def of_runs(votes, **asked):
    given = compared(votes, **asked)
    return next(runs(fitted(given, "logical", Settings()), given))


def test_what_a_judge_cost_and_what_it_did_not_answer():
    votes = [
        Vote(Sheet("x", "y"), "j", "logical", "a"),
        Vote(Sheet("y", "x"), "j", "logical", "tie"),
        Vote(Sheet("x", "z"), "j", "logical", None, 1, Reason("refusal")),
    ]
    calls = [
        {
            "purpose": {"participant": "j"},
            "completion": {"status": "ok", "usage": {"cost_usd": 0.25}},
        }
        for _ in range(4)
    ]
    report = pairs_report(compared(votes, calls=calls), Settings())
    (row,) = rows(report, "judges")
    assert (row["missing"], row["calls"], row["cost_usd"], row["cost_per_vote"]) == (1, 4, 1, 0.5)


def test_a_judge_that_names_one_place_is_named_and_its_votes_are_not_used():
    first = [Vote(vote.sheet, "first", "logical", "a", vote.run) for vote in golden(1)]
    report = pairs_report(compared([*golden(1), *first]), Settings(LIKELY))
    counts = report.results["counts"].rows.set_index("judge")["used"]
    assert (counts["j1"], counts["first"]) == (192, 0)
    assert any("always names the text shown first" in line for line in report.told)
    models = rows(report, "judge_models")
    assert models[1]["note"] == "judges_left_out"
    assert np.isnan(models[1]["p"])


@pytest.mark.parametrize("penalty", [Dummy(), None])
@pytest.mark.parametrize(
    ("said", "flag"), [("a", "always names the text shown first"), ("tie", "gave ties only")]
)
def test_votes_that_say_nothing_of_texts_give_no_scores_and_say_so(said, flag, penalty):
    votes = [Vote(vote.sheet, "j", "logical", said, vote.run) for vote in golden(1)]
    settings = Settings(Model(order=True, penalty=penalty), bootstrap=2, top=2)
    report = pairs_report(compared(votes), settings)
    assert report.results["scores"].rows["score"].isna().all()
    told = " ".join(report.told)
    assert flag in told
    assert "no vote says anything of the texts" in told
    assert "a sorted list" not in told


def test_a_dimension_that_nobody_could_judge_leaves_the_report_partial():
    refused = Vote(Sheet("a", "b"), "j1", "rhetorical", None, 1, Reason("refusal"))
    report = pairs_report(compared([*golden(1), refused]), Settings())
    assert not report.whole
    assert rows(report, "counts")[1]["missing"] == "1 refusal"


def test_the_bootstrap_is_on_request_and_no_separation_stands_beside_adaptive_pairs():
    votes = [vote for vote in golden(1) if vote.sheet.pair != Pair("a", "d")]
    drawn = {"logical": frozenset(vote.sheet.pair for vote in votes) - {Pair("b", "c")}}
    report = pairs_report(replace(compared(votes), probes=drawn), Settings(bootstrap=20))
    (row,) = rows(report, "stability")
    assert row["draws"] == 20
    assert 0 <= row["penalised"] <= 1
    assert row["error_ratio"] > 0
    assert np.isnan(row["separation"])
    table = report.results["scores"].rows
    assert (table["boot_low"] < table["boot_high"]).all()


def test_places_and_neighbours(three):
    (order,) = rows(three, "order")
    table = three.results["order_scores"].rows
    gaps = (table["with_order"] - table["without_order"]).abs()
    assert order["largest"] == pytest.approx(gaps.max())
    scores = three.results["scores"].rows
    assert scores["apart"].tolist()[-1] is None
    told = sum(value is True for value in scores["apart"])
    assert f"logical: {told} of 3 texts can be told apart" in " ".join(three.told)
