"""Embeddings by name: what cannot be used is said before anything is done."""

import importlib.util

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.models.sentences import embedding_named


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
