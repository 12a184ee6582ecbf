"""A tiny base and records, made once."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    """The folder of a tiny DeBERTa-v2 with its tokeniser."""
    from judge_models import base

    return base(tmp_path_factory.mktemp("judge") / "base")


@pytest.fixture(scope="session")
def records(tmp_path_factory) -> Path:
    """A CSV file of judgments."""
    from judge_models import records_file

    return records_file(tmp_path_factory.mktemp("records") / "records.csv")
