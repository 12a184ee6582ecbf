"""A folder with a scheme, and a study of texts in it."""

import pytest
from coding import coding_home, study_of_texts


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return coding_home(tmp_path)


@pytest.fixture
def runs(home):
    return study_of_texts(home)
