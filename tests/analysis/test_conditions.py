"""Means of measures by condition, and what is missing: a study of three runs, worked by hand.
Tables of the report in sections: what rows share stands once beside them. What the log of calls
tells of a session.
"""

from dataclasses import replace
from math import nan, sqrt

import pytest

from delibsim.analysis.average_tables import condition_tables
from delibsim.analysis.calls import repetition, summary_of, without_effect
from delibsim.analysis.conditions import (
    ByCondition,
    Collected,
    by_measure,
    conditions_of_cells,
    on_people,
)
from delibsim.analysis.conditions import means as means_of
from delibsim.domain.condition import conditions
from delibsim.domain.score import Score
from delibsim.domain.study import cell_of
from delibsim.domain.treatment import Treatment
from delibsim.testing import a_run


def held(name, treatment="basic", **options):
    """A run under a treatment of this name."""
    run = a_run(name, **options)
    session = replace(run.session, treatment=Treatment(treatment, "Deliberate.", rounds=1))
    return replace(run, session=session)


@pytest.fixture
def study():
    """Two replicates of one condition and one of another."""
    return [held("a"), held("b"), held("c", "normative")]


def score(target, value, measure="dri", phase="change", note=""):
    return Score(measure, "run", target, value, phase, note=note)


def plans_of(study):
    return [run.session for run in study]


def means(plans, scores, same, alike):
    found = Collected(plans)
    found.add_scores("one", scores)
    return means_of(found, same, alike)


def test_a_mean_stands_on_the_values_that_are_defined(study):
    scores = [score("a", 0.1), score("b", 0.4), score("c", nan, note="too_few")]
    basic, normative = means(plans_of(study), scores, {}, {})
    assert (basic.condition.treatment, basic.measure, basic.phase) == ("basic", "dri", "change")
    assert (basic.planned, basic.held, basic.valid, basic.missing) == (2, 2, 2, {})
    assert basic.mean == pytest.approx(0.25)
    assert basic.sd == pytest.approx(0.3 / sqrt(2))
    assert (normative.planned, normative.held, normative.valid) == (1, 1, 0)
    assert (normative.mean, normative.sd, normative.missing) == (None, None, {"too_few": 1})
    plain = normative.plain()
    assert (plain["treatment"], plain["equal_to"], plain["people"]) == ("normative", None, None)


def test_only_scores_of_whole_runs_of_the_study_are_tabulated(study):
    scores = [replace(score("a/Participant 1", 0.1), unit="participant"), score("elsewhere", 1.0)]
    assert means(plans_of(study), scores, {}, {}) == []


def test_the_counts_of_a_measure_are_those_of_its_phase_with_the_fewest_values(study):
    scores = [score("a", 0.1, phase="pre"), score("b", 0.2, phase="pre")]
    scores += [score("a", 0.3, phase="post"), score("b", nan, phase="post", note="too_few")]
    found = ByCondition(means(plans_of(study), scores, {}, {}), (), set(), ())
    (own,) = condition_tables(found, {})
    cells = dict(zip([one.heading for one in own.table.columns], own.table.rows[0], strict=True))
    assert (cells["valid"], cells["undefined because"]) == ("1", "too_few (1)")
    assert (cells["before"], cells["after"], "change" in cells) == ("0.150", "0.300", False)


def test_of_a_condition_that_equals_another_only_other_numbers_are_left(study):
    of = conditions(plans_of(study))
    same = {of["c"]: of["a"]}
    scores = [score(run, 0.1) for run in "abc"] + [score(run, 1.0, "diversity") for run in "ab"]
    scores.append(score("c", 2.0, "diversity"))
    alone = [run.session for run in study if run.session.id != "b"]
    measures = by_measure(means(alone, [s for s in scores if s.target != "b"], same, {}))
    assert [own["change"].measure for own in measures[of["a"]]] == ["dri", "diversity"]
    assert [own["change"].measure for own in measures[of["c"]]] == ["diversity"]
    (title,) = {row.title() for row in means(alone, scores, same, {}) if row.equal_to}
    assert title.endswith(f"(= {of['a']}, by construction; only numbers that differ are shown)")
    (title,) = {row.title() for row in means(alone, scores, {}, same) if row.asked_like}
    assert title.endswith(f"(asked like {of['a']})")


def test_a_flag_that_was_never_raised_is_left_out(study):
    scores = [score("a", 0.0, "flags.refusal", ""), score("c", 2.0, "flags.refusal", "")]
    measures = by_measure(means(plans_of(study), scores, {}, {}))
    assert [len(own) for own in measures.values()] == [0, 1]


def test_what_is_missing_is_counted_by_condition_and_reason(study):
    study[1] = held("b", missing=("Participant 1", "Participant 2"))
    found = Collected(plans_of(study))
    for run in study:
        found.add_run(run)
    (gap,) = found.gaps()
    assert (gap.condition.treatment, gap.what, gap.reason) == ("basic", "answers", "refusal")
    assert (gap.n, gap.runs) == (20, 1)
    assert gap.plain()["n"] == 20


def test_pairs_of_cells_become_pairs_of_conditions(study):
    plans = plans_of(study)
    of = conditions(plans)
    a, b, c = map(cell_of, plans)
    assert conditions_of_cells({c: a, b: a}, plans, of) == {of["c"]: of["a"]}


def test_nothing_is_said_of_people_who_are_not_known(study):
    assert on_people(plans_of(study)) == []


def test_the_scores_of_a_scorer_stay_together_in_whatever_order_they_come(study):
    found = Collected(plans_of(study))
    for run in "abc":
        found.add_scores("one", [score(run, 0.1)])
        found.add_scores("two", [score(run, 0.2, "diversity"), score(run, 0.3, "stability")])
    found.add_scores("one", [score("a", 0.5, phase="pre")])
    rows = means_of(found, {}, {})
    named = [(row.condition.treatment, row.measure, row.phase) for row in rows]
    assert named[:4] == [
        ("basic", "dri", "change"),
        ("basic", "dri", "pre"),
        ("basic", "diversity", "change"),
        ("basic", "stability", "change"),
    ]


def record(status="ok", model="m", id="", text="yes", **completion):
    found = {"status": status, "response_id": id, "text": text, "usage": {}}
    return {"model": model, "completion": found | completion}


def test_calls_are_counted_by_status_and_what_was_dropped_by_model():
    records = [
        record(parameters_dropped=["temperature"]),
        record("refusal", parameters_dropped=["seed", "temperature"]),
        record(model="other"),
    ]
    found = summary_of(records, 0)
    assert (found.recorded, found.by_status) == (3, {"ok": 2, "refusal": 1})
    assert found.parameters_dropped == {"m": ["seed", "temperature"]}
    assert without_effect(found.parameters_dropped) == [
        "seed, temperature: requested, and without effect on m"
    ]
    assert found.repeated_response_ids is None


def test_the_cost_is_that_of_all_attempts_and_unknown_where_one_is_or_a_line_is_damaged():
    tries = [{"status": "timeout", "usage": {"cost_usd": 0.25}}]
    records = [record(usage={"cost_usd": 0.5}, tries=tries), record(usage={"cost_usd": 1.0})]
    assert summary_of(records, 0).cost_usd == pytest.approx(1.75)
    assert summary_of(records, 1).cost_usd is None
    assert summary_of([*records, record()], 0).cost_usd is None


def test_ids_that_come_twice_are_counted_with_those_that_bring_the_same_text():
    records = [record(id="1"), record(id="1"), record(id="1", text="no"), record(id="2")]
    records.append(record(id="2", model="other"))
    found = summary_of(records, 0).repeated_response_ids
    assert found == {"calls": 3, "same_text": 2, "ids": ["1"]}
    told = "3 calls came with the response id of another (1), 2 of them with its text too"
    assert repetition(found) == told
