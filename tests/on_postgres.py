"""A plug-in of pytest by which tests of the register run on PostgreSQL: `-p on_postgres`, which
gives each of them an empty database of its own, by the environment as a user names it.
"""

import pytest
from postgres import postgres  # noqa: F401
from sqlalchemy import event
from sqlalchemy.pool import Pool

ADDRESS = "DELIBSIM_DATABASE_URL"


@pytest.fixture(autouse=True)
def on_postgres(request, monkeypatch):
    """Skip what is about the file of SQLite alone, or about two studies. Connections that a test
    leaves open, which does no harm with a file, are closed with it.
    """
    if request.node.get_closest_marker("sqlite"):
        pytest.skip("it is about SQLite, or about two studies, which have two databases")
    monkeypatch.setenv(ADDRESS, request.getfixturevalue("postgres").database())
    opened = []

    def keep(connection, record):
        if not type(connection).__module__.startswith("sqlite3"):  # of a fixture of the module
            opened.append(connection)

    event.listen(Pool, "connect", keep)
    yield
    event.remove(Pool, "connect", keep)
    for connection in opened:
        connection.close()
