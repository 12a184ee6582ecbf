"""The study table holds every planned session, every score of a run and every reason."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import break_sessions, copied, held_study

from delibsim.analysis.study.by_block import by_block
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effect_sizes import equivalence
from delibsim.analysis.study.report import findings
from delibsim.analysis.study.study_table import DESIGN, DrawCounts
from delibsim.conduct.analyse import source_of
from delibsim.conduct.analysed import study_table, wide_table
from delibsim.conduct.bench import export_bench
from delibsim.conduct.score import score_all, score_study, usual_scorers
from delibsim.measures.dri import relative_change
from delibsim.store.runs import SCORES
from delibsim.store.tables.study import export


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    runs = held_study(tmp_path_factory.mktemp("home"))
    score_study(runs, usual_scorers(), lambda name, scores: None)
    return runs


def by_session(table):
    return {row["session"]: row for row in table.rows.to_dict("records")}


def test_every_score_of_a_run_is_a_cell_and_nothing_else_is(study):
    table = study_table(study)
    rows = by_session(table)
    scores, _, _ = score_all(study, usual_scorers())
    seen = 0
    for score in scores:
        if score.unit != "run":
            continue
        name = f"{score.measure}_{score.phase}" if score.phase else score.measure
        assert rows[score.target][name] == pytest.approx(score.value, abs=0, nan_ok=True), name
        seen += 1
    measured = [column.name for column in table.columns if column.name.startswith(MEASURED)]
    relative = [name for name in measured if name == "dri_adjusted_relative_change"]
    assert seen == 8 * (len([n for n in measured if not n.endswith("_note")]) - len(relative))


MEASURED = ("dri", "consid", "pref", "diversity", "opinion", "rank", "flags.")


def test_every_column_is_in_the_codebook_in_order_with_a_meaning(study):
    table = study_table(study)
    assert [column.name for column in table.columns] == list(table.rows.columns)
    assert all(column.meaning for column in table.columns)
    assert set(DESIGN) <= set(table.rows.columns)
    for column in table.columns:
        for value in table.rows[column.name].dropna().tolist():
            assert column.holds(value), f"{column.name}: {value!r}"


def test_the_adjusted_relative_change_is_that_of_the_scorer_s_formula(study):
    rows = study_table(study).rows
    expected = relative_change(rows["dri_adjusted_pre"], rows["dri_adjusted_post"])
    assert rows["dri_adjusted_relative_change"].to_numpy() == pytest.approx(expected)
    plain = relative_change(rows["dri_pre"], rows["dri_post"])
    assert rows["dri_relative_change"].to_numpy() == pytest.approx(plain)


def test_citizens_alone_are_the_null_and_treatments_are_paired(study):
    table = study_table(study)
    assert table.paired
    assert table.rows["null"].all()
    assert table.rows["reasoning"].isna().all()
    spoken = table.rows["words_spoken"] > 0
    assert spoken.tolist() == (table.rows["treatment"] == "normative").tolist()


def test_sessions_without_a_run_are_rows_with_their_reason(study, tmp_path):
    runs = copied(study, tmp_path)
    whole = by_session(study_table(runs))
    cut_off, damaged, never = break_sessions(runs)
    table = study_table(runs)
    rows = by_session(table)
    assert len(rows) == len(whole) == 8
    expected = {cut_off: "no run", damaged: "damaged", never: "not begun"}
    for session, status in expected.items():
        row = rows[session]
        assert row["status"] == status
        assert math.isnan(row["dri_change"])
        assert row["dri_note"] == status.replace(" ", "_")
        design = ["topic", "model", "setting", "treatment", "replicate", "survey", "cell"]
        assert [row[name] for name in design] == [whole[session][name] for name in design]
    assert len(table.analysed("dri_change")) == 5
    assert rows[damaged]["fault"]


def test_scores_that_are_there_are_used_and_what_is_missing_is_scored(study, tmp_path):
    runs = copied(study, tmp_path)
    path = next((runs.folder / SCORES).glob("dri.*"))
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    first = runs.sessions()[0]
    path.write_text("".join(line for line in lines if f'"{first}' not in line), encoding="utf-8")
    unscored = by_session(study_table(runs, score=False))[first]
    assert math.isnan(unscored["dri_change"])
    assert unscored["dri_note"] == "not_scored"
    assert np.isfinite(by_session(study_table(runs))[first]["dri_change"])
    assert path.read_text(encoding="utf-8") == text
    path.write_text(text.replace('"value":0', '"value":1', 1), encoding="utf-8")
    before = path.stat().st_mtime_ns
    study_table(runs)
    assert path.stat().st_mtime_ns == before


def test_a_scorer_that_runs_on_request_is_read_where_its_file_is(study, tmp_path):
    runs = copied(study, tmp_path)
    line = '{{"measure":"aqua.score","unit":"run","target":"{}","value":2.5,"phase":"","coder":"x","note":""}}'
    sessions = runs.sessions()
    text = "\n".join(line.format(session) for session in sessions)
    (runs.folder / SCORES / "aqua.v1.jsonl").write_text(f"{text}\n", encoding="utf-8")
    assert set(study_table(runs).rows["aqua.score"]) == {2.5}


def test_a_study_of_debates_gives_a_table_that_says_so(tmp_path):
    sides = ("proposition=citizen_plain", "opposition=citizen")
    runs = held_study(tmp_path, "format=debate", "motion=voting", *sides, "replicate=1,2")
    table = study_table(runs)
    assert set(table.rows["format"]) == {"debate"}
    assert not len(table.analysed("dri_change"))
    assert (table.rows["words_spoken"] > 0).all()


def test_what_is_measured_in_another_format_is_not_applicable(tmp_path):
    sides = ("proposition=citizen_plain", "opposition=citizen")
    held_study(tmp_path, "topic=ccps", "treatment=none,normative", "group.size=2", "rounds=1")
    runs = held_study(tmp_path, "format=debate", "motion=voting", *sides)
    study_table(runs)
    assert wide_table(runs)[1] == 0
    rows = study_table(runs).rows
    debate = rows["format"] == "debate"
    assert rows["dri_note"][debate].tolist() == ["not_applicable"]
    assert rows["dri_change"][~debate].notna().all()


def test_settings_that_sessions_differ_in_are_the_setting(tmp_path):
    runs = held_study(
        tmp_path, "topic=ccps", "treatment=none,normative", "group.size=2,3", "rounds=1"
    )
    rows = study_table(runs).rows
    assert set(rows["setting"]) == {"group.size=2", "group.size=3"}
    assert not rows.duplicated(list(DESIGN)).any()


STEPS = (contrasts, by_block, equivalence)
DRAWS = DrawCounts(permutations=200, resamples=200)
SETTINGS = (
    "topic=ccps,acp", "treatment=none,normative", "rounds=1,2", "replicate=1,2", "group.size=3",
)  # fmt: skip


def silent(*_):
    """Watch nothing."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return held_study(tmp_path_factory.mktemp("home"), *SETTINGS, study="both")


@pytest.fixture(scope="module")
def expected(runs):
    """The findings of the study itself."""
    place = source_of(str(runs.folder), Path("runs"), silent)
    return findings(place.table, DRAWS, STEPS)


@pytest.mark.parametrize("layout", ["bench", "tables"])
def test_the_folder_of_an_export_gives_the_contrasts_of_the_study(runs, expected, tmp_path, layout):
    folder = tmp_path / layout
    if layout == "bench":
        export_bench(runs, folder, ("csv",))
    else:
        export(runs, folder, more=lambda left_out: [wide_table(runs)[0]])
    other = source_of(str(folder), Path("runs"), silent)
    assert other.folder == tmp_path / f"{layout}.analysis", "where no later export removes it"
    found = findings(other.table, DRAWS, STEPS)
    assert (found.study.study, dict(found.runs)) == ("both", dict(expected.runs))
    assert found.study.paired
    for name, result in expected.results.items():
        pd.testing.assert_frame_equal(found.results[name].rows, result.rows)
        assert found.results[name].notes == result.notes
    own = found.results["contrasts"].rows
    assert own["estimate"].notna().all()
    assert set(own["blocks"]) == {4}
