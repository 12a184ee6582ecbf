"""Scores of texts, summed up."""

import math
from pathlib import Path

import pytest

from delibsim import WrongInput
from delibsim.conduct.texts import ScoredTexts, score_file

VALUES = [
    {"s.score": 1.0, "s.note": ""},
    {"s.score": math.nan, "s.note": "empty"},
    {"s.score": 3.0, "s.note": ""},
    {"s.score": math.nan, "s.note": "empty"},
]


def test_undefined_scores_are_counted_by_reason_and_left_out_of_the_mean():
    summary = ScoredTexts("s", VALUES, Path("out.csv")).summary("s.score")
    assert summary.pop("sd") == pytest.approx(math.sqrt(2))
    missing = {"empty": 2}
    assert summary == {"texts": 4, "valid": 2, "missing": missing, "mean": 2.0}


def test_without_any_score_there_is_no_mean():
    summary = ScoredTexts("s", VALUES[1:2], Path("out.csv")).summary("s.score")
    assert (summary["mean"], summary["sd"], summary["valid"]) == (None, None, 0)


def test_a_scorer_of_runs_scores_no_texts(tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("id,text\n1,Yes\n", encoding="utf-8")
    with pytest.raises(WrongInput, match="reads whole runs"):
        score_file(file, "text", "dri", None, print)
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]
