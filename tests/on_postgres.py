"""A plug-in of pytest by which tests of the register run on PostgreSQL: `-p on_postgres`, which
gives each of them an empty database of its own, by the environment as a user names it.
"""

import pytest
from postgres import postgres  # noqa: F401

ADDRESS = "DELIBSIM_DATABASE_URL"


def pytest_configure(config):
    """Leave it to the end of the process to close what tests do not close, as with SQLite."""
    config.addinivalue_line("filterwarnings", "ignore::ResourceWarning")
    config.addinivalue_line("filterwarnings", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def on_postgres(request, monkeypatch):
    """Skip what is about the file of SQLite alone, or about two studies."""
    if request.node.get_closest_marker("sqlite"):
        pytest.skip("it is about SQLite, or about two studies, which have two databases")
    monkeypatch.setenv(ADDRESS, request.getfixturevalue("postgres").database())
