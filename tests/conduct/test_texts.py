"""Scores of texts, summed up."""

import importlib.util
import math
from pathlib import Path

import pytest

from delibsim import WrongInput
from delibsim.conduct.texts import ScoredTexts, score_file
from delibsim.models.sentences import embedding_named

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


def test_a_folder_without_a_model_is_refused_and_nothing_is_fetched(tmp_path):
    with pytest.raises(WrongInput, match="no folder with a model"):
        embedding_named(f"sentence_transformers:{tmp_path}")
    with pytest.raises(WrongInput, match="no folder with a model"):
        embedding_named("sentence_transformers:all-MiniLM-L6-v2")


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the package is installed"
)
def test_without_the_package_the_message_says_how_to_have_it(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(WrongInput, match="sentence-transformers>=5.1,<6"):
        embedding_named(f"sentence_transformers:{tmp_path}")


def test_an_unknown_embedding_names_those_there_are():
    with pytest.raises(WrongInput, match="built in are tfidf and sentence_transformers:FOLDER"):
        embedding_named("none")
