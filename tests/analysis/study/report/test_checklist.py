"""The checklist of reporting: what is recorded is said, and what is not is left open."""

from dataclasses import replace

from delibsim.analysis.study.methods import AUTHORS, checklist

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
    assert still == {*AUTHORS, "Preregistration"}


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
    unknown = ["Models and versions", "Parameters", "Prompts", "Dates", "Software", "Seeds"]
    assert still == [*unknown, *AUTHORS]
