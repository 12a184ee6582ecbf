"""The record of a study: its seed and versions, its models, who answered and what was sent."""

import json
import shutil

from small_study import copied

from delibsim.analysis.study.record import Asked, record_of
from delibsim.store.runs import Runs


def test_a_record_holds_what_the_study_was_held_with(rounds_runs, rounds_record):
    assert rounds_record.seed == 7
    assert (
        rounds_record.versions["delibsim"] == rounds_runs.manifest().begun["versions"]["delibsim"]
    )
    assert set(rounds_record.components("treatments")) == {"none", "normative"}
    assert rounds_record.components("audiences") == {}
    assert rounds_record.folder == str(rounds_runs.folder)
    (citizen,) = rounds_record.models
    assert (citizen.name, citizen.embedded) == ("citizen", True)
    assert not Asked("open", {"kind": "openai"}).embedded


def test_a_plan_beside_the_study_is_named(rounds_runs, rounds_record, tmp_path):
    assert rounds_record.preregistered == ""
    again = copied(rounds_runs, tmp_path)
    (again.folder / "preregistration.md").write_text("# Plan\n", encoding="utf-8")
    assert record_of(again).preregistered == "preregistration.md"


def test_who_answered_and_what_was_sent_come_from_the_logs(rounds_runs, tmp_path):
    again = copied(rounds_runs, tmp_path)
    for name in again.sessions():
        log = again.path(name) / "exchanges.jsonl"
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            if "completion" in line:
                line["completion"] |= {
                    "model_returned": "citizen-2026-01",
                    "parameters_sent": {"temperature": 0.3},
                    "parameters_dropped": ["seed"],
                }
        log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (again.folder / "fingerprints.jsonl").unlink(missing_ok=True)
    (model,) = record_of(again).models
    assert (model.returned, model.dropped) == (("citizen-2026-01",), ("seed",))
    assert model.sent == {"temperature": 0.3}
    for name in again.sessions():
        shutil.rmtree(again.path(name))
    (model,) = record_of(again).models
    assert (model.returned, model.sent, model.dropped) == ((), {}, ())


def test_a_study_without_study_json_has_no_record(tmp_path):
    (tmp_path / "s").mkdir()
    assert record_of(Runs(tmp_path, "s")) is None
