"""What the log of calls tells of a session."""

import pytest

from delibsim.analysis.calls import repetition, summary_of, without_effect


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
