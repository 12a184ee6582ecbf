"""Codes and samples in the export: a row each, every column in the codebook."""

import json

import pytest
from coded_study import MODELS, coded_study, keep_task, samples_of

from delibsim import Runs
from delibsim.asking.texts import texts_of
from delibsim.conduct.score import score_study
from delibsim.conduct.scored import scored_study
from delibsim.domain.coding import Code
from delibsim.store.manifest import Manifest
from delibsim.store.tables.scored import coding_tables, run_scores
from delibsim.testing import a_run


@pytest.fixture
def held(tmp_path):
    """A held run whose statements are coded: level 2, and Ann says 0."""
    runs = Runs(tmp_path / "runs", "held")
    runs.settle(Manifest("held", {}, {}))
    run = a_run(participants=2)
    runs.plan(run.session)
    runs.add(run)
    texts = texts_of(runs)
    codings = keep_task(runs, texts, unit="statement")
    for text in texts:
        for model in MODELS:
            codings.add(samples_of(text, "reasons", model, (2, 2, 1)))
        codings.add([Code(text.id, "reasons", "Ann", "human", 0)], people=True)
    return runs


def rows(table):
    names = [column.name for column in table.columns]
    return [dict(zip(names, values, strict=True)) for values in table.rows]


def test_every_value_can_stand_in_its_column(tmp_path):
    codes, samples = coding_tables(coded_study(tmp_path, 12))
    assert (codes.name, samples.name) == ("codes", "samples")
    for table in (codes, samples):
        found = rows(table)
        assert found
        for row in found:
            for column in table.columns:
                assert column.holds(row[column.name]), (column.name, row)


def test_the_ensemble_says_how_sure_it_is_and_others_do_not(tmp_path):
    codes, _ = coding_tables(coded_study(tmp_path, 12))
    found = rows(codes)
    ensemble = [row for row in found if row["coder_kind"] == "ensemble" and row["level"]]
    assert all(0 < row["p"] <= 1 and 0 < row["stability"] <= 1 for row in ensemble)
    others = [row for row in found if row["coder_kind"] != "ensemble"]
    assert {row["stability"] for row in others} == {None}
    assert {row["coder"] for row in others} == {*MODELS, "Ann", "Ben"}


def test_samples_keep_their_rationales_and_statements_their_turns(held):
    codes, samples = map(rows, coding_tables(held))
    assert samples[0]["rationale"] == "The anchor of level 2 fits."
    assert (samples[0]["level"], samples[0]["place"], samples[0]["sample"]) == ("2", 3, 1)
    assert {row["session"] for row in codes} == {"example"}
    assert {row["turn"] for row in codes} == {1, 2}
    assert {row["participant"] for row in codes} == {None}


def test_nothing_coded_gives_no_tables(tmp_path):
    assert coding_tables(Runs(tmp_path, "none")) == []


def test_scores_of_a_run_are_the_ensembles_in_tables_and_every_coders_in_the_file(held):
    scored = scored_study(held, ["codes"], lambda *told: None)
    (mean,) = scored.found.means
    assert (mean.measure, mean.mean, mean.valid) == ("plain.reasons", 2.0, 1)
    assert scored.measures["plain.reasons"].label == "Reasons (plain)"
    (path,) = scored.scoring.files
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    coders = {line["coder"] for line in lines if line["unit"] == "run"}
    assert coders == {"ensemble", *MODELS, "Ann"}
    found = run_scores(path)
    assert found.values["plain.reasons", ""].tolist() == [2.0]
    assert found.notes["plain.reasons"] == [None]


def test_people_alone_are_several_coders_of_a_run(held):
    (held.folder / "annotations" / "code-plain" / "annotations.jsonl").unlink()
    codings = keep_task(held, texts_of(held), models=())
    codings.add([Code("example/1", "reasons", "Ben", "human", 1)], people=True)
    done = score_study(held, ["codes"], lambda name, scores: None)
    assert run_scores(done.files[0]).notes["plain.reasons"] == ["several_coders"]
