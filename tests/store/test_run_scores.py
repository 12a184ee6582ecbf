"""The scores of runs in columns are those that the file holds line by line."""

import json
import math

import pytest
from small_study import held_study

from delibsim.conduct.score import score_study
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import Score
from delibsim.store.runs import SCORES
from delibsim.store.tables.scored import SEVERAL, run_scores


def test_every_score_of_a_run_is_in_its_column(tmp_path):
    runs = held_study(
        tmp_path, "topic=ccps", "treatment=none,normative", "group.size=2", "rounds=1"
    )
    score_study(runs, ["dri"], lambda name, scores: None)
    path = next((runs.folder / SCORES).glob("dri.*"))
    found = run_scores(path)
    assert set(found.targets) == set(runs.sessions()) == found.sessions
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    about_runs = [line for line in lines if line["unit"] == "run"]
    assert len(about_runs) == 2 * 7
    for line in about_runs:
        place = list(found.targets).index(line["target"])
        assert found.values[line["measure"], line["phase"]][place] == line["value"]


def written(tmp_path, scores):
    path = tmp_path / "mine.v1.jsonl"
    lines = []
    for score in scores:
        value = None if math.isnan(score.value) else score.value
        lines.append(json.dumps({**{n: getattr(score, n) for n in NAMES}, "value": value}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


NAMES = ("measure", "unit", "target", "value", "phase", "coder", "note")


def test_an_undefined_value_keeps_its_reasons(tmp_path):
    undefined = Score("m", "run", "a", math.nan, "post", note="missing_answer")
    change = Score("m", "run", "a", math.nan, "change", note="missing_answer")
    other = Score("m", "run", "b", math.nan, "change", note="no_room")
    whole = [Score("m", "run", "b", 1.0, "post"), Score("m", "run", "c", 0.5, "post")]
    found = run_scores(written(tmp_path, [undefined, change, other, *whole]))
    assert list(found.targets) == ["a", "b", "c"]
    assert list(found.notes["m"]) == ["missing_answer", "no_room", None]
    assert [*found.values["m", "post"][1:]] == [1.0, 0.5]
    assert math.isnan(found.values["m", "post"][0])


def test_two_coders_of_one_measure_are_not_mixed(tmp_path):
    both = [Score("m", "run", "a", 1.0, coder="x"), Score("m", "run", "a", 2.0, coder="y")]
    found = run_scores(written(tmp_path, [*both, Score("m", "run", "b", 3.0, coder="y")]))
    assert math.isnan(found.values["m", ""][0])
    assert found.values["m", ""][1] == 3
    assert list(found.notes["m"]) == [SEVERAL, None]


def test_a_damaged_file_is_named(tmp_path):
    path = written(tmp_path, [Score("m", "run", "a", 1.0)])
    path.write_text(path.read_text() + '{"measure": "m", "unit', encoding="utf-8")
    with pytest.raises(WrongInput, match=r"mine.v1.jsonl is damaged .*; score the study again"):
        run_scores(path)
