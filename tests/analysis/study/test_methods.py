"""The methods of a study, its checklist and its record: they say what was held, nothing else."""

import json
import shutil
from dataclasses import replace

import pytest
from small_study import copied, held_study
from synthetic_study import synthetic_study

from delibsim.analysis.study.methods import (
    StudyModel,
    checklist,
    methods,
    models_one_by_one,
    record_of,
)
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analysed import study_table
from delibsim.store.runs import Runs

SETTINGS = (
    "topic=ccps,acp", "treatment=none,normative", "rounds=1,3", "replicate=1,2", "group.size=3",
    "seed=7",
)  # fmt: skip


@pytest.fixture(scope="session")
def rounds_runs(tmp_path_factory):
    return held_study(tmp_path_factory.mktemp("rounds"), *SETTINGS, study="rounds")


@pytest.fixture(scope="session")
def rounds_study(rounds_runs):
    return study_table(rounds_runs)


@pytest.fixture(scope="session")
def rounds_record(rounds_runs):
    return record_of(rounds_runs)


DRAWS = DrawCounts(permutations=3_000, resamples=2_000, parametric=400, seed=5)


def test_the_methods_of_a_study_say_how_it_was_held(rounds_study, rounds_record):
    design, procedure, models, software, analysis = methods(rounds_study, DRAWS, rounds_record)
    assert "2 topics (acp, ccps); 1 set-up (citizen); 2 treatments (none, normative)" in design
    assert "2 further settings (rounds=1; rounds=3); 2 replicates: 12 sessions" in design
    assert "compared in pairs" in design
    assert "normative (1 or 3 rounds of speech)" in procedure  # its preset has 2
    assert "none (no speech)" in procedure
    assert "No personas were given. The seed of the study is 7;" in procedure
    assert models.startswith("All participants were embedded citizens (citizen)")
    assert f"delibsim {rounds_record.versions['delibsim']}" in software
    for said in ("flipping the signs of all differences of a draw (3,000", "(2,000 resamples)"):
        assert said in analysis
    assert "Seed of all draws: 5." in analysis


def test_of_people_and_of_one_treatment_is_said_what_they_did(rounds_study, rounds_record):
    rows = rounds_study.rows
    study = replace(rounds_study, rows=rows.assign(people_seats=1))
    person, elsewhere = StudyModel("p", {"kind": "person"}), StudyModel("h", {"kind": "imported"})
    imported = replace(rounds_record, models=(elsewhere,))
    design, procedure, models, *_ = methods(study, DRAWS, imported)
    assert design.startswith("The design has")  # its control has no rounds to vary
    assert "and no person;" in design
    assert procedure.endswith("as the source names them: none, normative.")
    assert models == "Models: h: people, who spoke elsewhere."
    entries = {entry.term[:3]: entry.said for entry in checklist(study, imported, RUNS)}
    assert entries["B.3"] == "None; no model was asked."
    beside = replace(rounds_record, models=(person, *rounds_record.models))
    entries = {entry.term[:3]: entry.said for entry in checklist(study, beside, RUNS)}
    assert entries["A.1"].startswith("For nothing; beside people")
    assert entries["A.2"].startswith("People held seats in 12 of the 12 sessions;")
    one = rows[(rows["treatment"] == "normative") & (rows["rounds"] == 1)]
    told = methods(replace(rounds_study, rows=one), DRAWS, rounds_record)
    assert told[0].endswith("2 replicates: 4 sessions in all.")
    assert "no treatments are compared" in told[-1]


def test_a_table_alone_says_that_nothing_is_recorded():
    study = replace(synthetic_study(topics=2, models=1, replicates=1), paired=False)
    design, unknown, analysis = methods(study, DRAWS, None)
    assert "1 replicate: 6 sessions in all" in design
    assert "share nothing" in design
    assert "is not recorded in it" in unknown
    assert "permuting labels (3,000 where not all can be listed)" in analysis


def test_a_model_in_words_says_what_is_known_and_what_is_not(rounds_study, rounds_record):
    asked = StudyModel("m", {"kind": "openai", "model": "big", "temperature": 0.7, "seed": None})
    known = replace(asked, returned=("big-1",), sent={"max_tokens": 9}, dropped=("temperature",))
    record = replace(rounds_record, models=(asked, known))
    first, second = models_one_by_one(rounds_study, record)
    assert first.said.startswith(
        "m: requested big, under which name it answered is not recorded; stated in its preset:"
        " temperature 0.7."
    )
    assert second.said.startswith(
        "m: requested big, answered as big-1; sent with a recorded call: max_tokens 9; no"
        " temperature was sent; requested and not taken by the provider: temperature."
    )


AUTHORS = (
    *("Question and hypotheses", "Primary outcome", "Sample size", "Choice of models"),
    *("Validity", "Ethics", "Availability"),
)
OF_NO_RECORD = ("E.1 Human validation of outputs", "G.1 Funding, support, relationships")
RUNS = {"planned": 1_200, "held": 12, "valid": 11, "analysed": 10}


def test_what_is_recorded_is_said_and_the_rest_is_open(rounds_study, rounds_record):
    entries = {entry.term: entry for entry in checklist(rounds_study, rounds_record, RUNS)}
    sessions = entries["Sessions"].said
    assert sessions.startswith("1,200 planned, 12 held, 11 valid, 10 analysed;")
    assert entries["Seeds"].said.startswith("7;")
    assert entries["Instruments"].said.startswith("ccps, acp, by SHA-256")
    assert entries["Dates"].said.startswith(f"Begun {rounds_record.manifest.begun['at']}")
    assert entries["Changes after the beginning"].said == "None."
    still = {term for term, entry in entries.items() if entry.open}
    assert still == {*AUTHORS, "Preregistration", *OF_NO_RECORD}
    numbers = [term.split(" ")[0] for term in entries][:14]
    assert numbers == "A.1 A.2 B.1 B.2 B.3 B.4 B.5 C.1 C.2 D.1 E.1 E.2 F.1 G.1".split()
    assert "no language model" in entries["A.1 What language models were used for"].said
    (citizen,) = models_one_by_one(rounds_study, rounds_record)
    assert "requested and not taken by the provider: temperature" in citizen.said
    assert f"First call {rounds_record.models[0].since}." in citizen.said


def test_a_plan_and_an_amendment_are_named(rounds_study, rounds_record):
    changed = replace(rounds_record.manifest, amendments=({"at": "now", "sessions": 4},))
    record = replace(rounds_record, manifest=changed, preregistered="preregistration.md")
    entries = {entry.term: entry for entry in checklist(rounds_study, record, RUNS)}
    assert entries["Changes after the beginning"].said.startswith("1, listed in study.json")
    assert entries["Preregistration"].said == "preregistration.md lies beside the study."
    assert not entries["Preregistration"].open


def test_a_table_alone_leaves_all_that_is_not_in_it_open(rounds_study):
    entries = checklist(rounds_study, None, RUNS)
    still = [entry.term for entry in entries if entry.open]
    assert [term[:3] for term in still[:2]] == ["A.1", "A.2"]
    assert still[14:] == ["Dates", "Software", "Seeds", *AUTHORS]


def test_where_people_took_part_the_checklist_leaves_their_data_to_the_author(rounds_record):
    seat = StudyModel("person", {"kind": "person"})
    asked = StudyModel("gpt", {"kind": "litellm", "model": "openai/gpt"}, sent={"temperature": 1})
    record = replace(rounds_record, models=[seat, asked])
    entries = {entry.term: entry for entry in checklist(synthetic_study(), record, RUNS)}
    assert entries["D.1 Personal or sensitive data"].open
    assert "gpt: temperature 1." in entries["B.3 Parameters"].said
    assert "programming interface of openai" in entries["B.2 Access and mode"].said
    assert "seats in some" in entries["A.2 Human involvement or full automation"].said


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
    assert not StudyModel("open", {"kind": "openai"}).embedded


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
