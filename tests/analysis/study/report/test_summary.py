"""The sentences of the summary, case by case: each says only what its table holds."""

import pandas as pd
import pytest

from delibsim.analysis.study.report.summary import effect, is_clear, short, summary, with_interval
from delibsim.analysis.study.result import Result

NAN = float("nan")
ROW = {
    "population": "models",
    "outcome": "dri",
    "scale": "absolute",
    "a": "normative",
    "b": "none",
    "estimate": 0.029,
    "low": 0.004,
    "high": 0.076,
    "p": 0.005,
    "p_holm": 0.015,
    "topics": 12,
    "models": 11,
    "blocks": 132,
    "note": "",
}


def result(name, rows, **more):
    return Result(name, name, "", "", pd.DataFrame(rows), **more)


def results(*tables):
    return {table.name: table for table in tables}


def contrasts(**more):
    return result("contrasts", [ROW | more])


def test_a_clear_rise_is_said_with_its_interval_its_tests_and_its_basis():
    assert effect(ROW, {}) == (
        "Normative instructions raised the Deliberative Reason Index by .029 [.004, .076] against"
        " no deliberation over 12 topics and 11 models (p = .005, Holm .015)."
    )


def test_a_clear_fall_is_called_one():
    row = ROW | {"estimate": -0.03, "low": -0.05, "high": -0.01}
    assert "lowered the Deliberative Reason Index by −.030 [−.050, −.010]" in effect(row, {})


@pytest.mark.parametrize(
    "more",
    [
        {"low": -0.004},  # the published case: p is small, and the interval holds zero
        {"p_holm": 0.06},
        {"p_holm": 0.6, "p": 0.2, "low": -0.1},
    ],
)
def test_interval_and_holm_must_agree_before_anything_is_raised(more):
    text = effect(ROW | more, {})
    assert "raised" not in text
    assert "no clear change in the Deliberative Reason Index, .029" in text


def test_the_topic_that_matters_most_is_named():
    rows = []
    for topic, estimate in (("acp", 0.031), ("fremantle", 0.0096), ("ccps", 0.03)):
        row = {"outcome": "dri", "scale": "absolute", "a": "normative", "b": "none"}
        rows.append(row | {"left_out": topic, "estimate": estimate})
    text = effect(ROW, results(result("leave_one_out", rows)))
    assert text.endswith("; without fremantle .010.")


def test_one_topic_has_no_interval_and_no_direction():
    row = ROW | {"low": NAN, "high": NAN, "topics": 1, "models": 1}
    text = effect(row, {})
    assert "differed by .029 over 1 topic and 1 model (p = .005, Holm .015)" in text
    assert "no direction is claimed" in text
    assert not is_clear(row)


def test_equal_conditions_are_called_equal():
    row = ROW | {"estimate": 0.0, "low": 0.0, "high": 0.0, "p": 1.0, "p_holm": 1.0}
    assert "gave the same Deliberative Reason Index in every pair" in effect(row, {})
    sentences = summary(results(result("contrasts", [row])))
    assert "above zero" not in sentences[0]


def test_no_value_is_said_with_its_reason():
    row = ROW | {"estimate": NAN, "low": NAN, "high": NAN, "note": "no block has both"}
    assert "no estimate" in effect(row, {})
    assert "no block has both" in effect(row, {})


def test_one_treatment_says_that_nothing_can_be_compared():
    none = result("contrasts", [], why_not="one_treatment", detail="All sessions have basic.")
    assert summary(results(none)) == ["No treatments can be compared. All sessions have basic."]


def test_a_study_of_citizens_speaks_of_citizens():
    sentences = summary(results(contrasts(population="null citizen")))
    assert "of the citizens" in sentences[0]
    assert "over 12 topics and 11 kinds of citizen" in sentences[0]


def test_the_null_citizen_stands_beside():
    rows = [
        ROW,
        ROW | {"population": "null citizen", "estimate": 0.001, "low": -0.01, "high": 0.01},
    ]
    sentences = summary(results(result("contrasts", rows)))
    assert sentences[1] == (
        "The null citizen, which understands no language, gives .001 [−.010, .010] for normative"
        " instructions against no deliberation over 12 topics and 11 kinds of citizen."
    )


def test_for_whom():
    rows = []
    for model, estimate, low, p in (
        ("x", 0.1, 0.05, 0.01),
        ("y", 0.02, -0.1, 0.5),
        ("z", -0.1, -0.2, 0.4),
    ):
        row = {"outcome": "dri", "scale": "absolute", "a": "normative", "b": "none", "model": model}
        rows.append(row | {"estimate": estimate, "low": low, "high": 0.2, "p_holm": p})
    sentences = summary(results(contrasts(), result("by_model", rows)))
    assert sentences[0].endswith(
        "(p = .005, Holm .015). The estimate is above zero in 2 of 3 models; clear by itself, after"
        " Holm, in x."
    )


def test_people_beside_and_where_there_are_none_why():
    row = {"population": "models", "outcome": "dri", "phase": "change", "treatment": "normative"}
    row |= {"here": 0.05, "people": 0.1, "difference": -0.05, "low": -0.1, "high": -0.01}
    beside = result("people", [row | {"topics": 12}])
    assert summary(results(contrasts(), beside))[-1] == (
        "People's Deliberative Reason Index changed by .100 over 12 topics; here it changed by .050"
        " with normative instructions (difference −.050 [−.100, −.010])."
    )
    none = result("people", [], why_not="no_people", detail="No people on these topics.")
    last = summary(results(contrasts(), none))[-1]
    assert last == "Compared with people: not possible here. No people on these topics."


def test_people_stand_beside_one_treatment_of_citizens_too():
    row = {"population": "null citizen", "outcome": "dri", "phase": "change", "topics": 1}
    row |= {"treatment": "none", "here": 0.05, "people": 0.1, "difference": -0.05}
    beside = result("people", [row | {"low": NAN, "high": NAN}])
    alone = result("contrasts", [], why_not="one_treatment", detail="There is one treatment.")
    nothing, people = summary(results(alone, beside))
    assert nothing.startswith("No treatments can be compared.")
    assert people.startswith("People's Deliberative Reason Index changed by .100 over 1 topic")


def test_equivalence_is_said_only_where_it_is_shown():
    row = {"outcome": "dri", "scale": "absolute", "a": "normative", "b": "basic", "margin": 0.02}
    row |= {"estimate": 0.001, "low_90": -0.01, "high_90": 0.012}
    shown = result("equivalence", [row | {"equivalent": True}])
    assert "equivalent within ±.020" in summary(results(contrasts(), shown))[-1]
    not_shown = result("equivalence", [row | {"equivalent": False}])
    assert "equivalent" not in " ".join(summary(results(contrasts(), not_shown)))


def test_a_study_without_the_index_is_summarised_by_what_it_has():
    sentences = summary(results(contrasts(outcome="diversity")))
    assert "perspective diversity" in sentences[0].lower()


def test_numbers_in_sentences():
    assert [short(x) for x in (0.0, -0.0004, -1.5, 0.9996)] == [".000", ".000", "−1.500", "1.000"]
    assert with_interval(0.1, NAN, 1.0) == ".100 (no interval)"
