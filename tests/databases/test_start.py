"""A database that cannot be used ends a command at once, with what to do and without secrets."""

import subprocess
import sys

import pytest
from people_site import hall_of
from postgres import PASSWORD
from server_processes import CODE, HOSTING, ROOT, servers
from sqlalchemy import update

from delibsim.store.people.schema import OWN, VERSION

pytestmark = pytest.mark.heavy


@pytest.fixture
def ended(tmp_path, monkeypatch):
    """Runs a command that ends by itself: its exit code, and what it said."""
    (tmp_path / "people.yaml").write_text(HOSTING, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(address, *words):
        import os

        environment = os.environ | {"DELIBSIM_DATABASE_URL": address, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", CODE, *words]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("words", [("serve", "s", "--port", "0"), ("people", "list", "s")])
def test_what_a_command_says_of_a_database_that_it_cannot_use(
    tmp_path, postgres, ended, monkeypatch, words
):
    address = postgres.database()
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", address)
    hall = hall_of(tmp_path)
    for session in hall.sessions.values():
        hall.runs.plan(session)
    name = hall.register.engine.url.database
    wrong = "other@" + PASSWORD
    code, said = ended(postgres.address(name, wrong), *words)
    assert code == 2, said
    assert "password authentication failed" in said
    for secret in (wrong, PASSWORD, address):
        assert secret not in said
    assert "Traceback" not in said

    with hall.register.writing() as connection:
        connection.execute(update(OWN).values(version=VERSION + 1))
    hall.register.close()
    code, said = ended(address, *words)
    assert code == 2, said
    assert "newer delibsim" in said
    assert PASSWORD not in said

    nowhere = address.replace(str(postgres.folder), str(tmp_path))
    code, said = ended(nowhere, *words)
    assert code == 2, said
    assert "cannot be opened" in said
    assert PASSWORD not in said
    assert "Traceback" not in said


def test_a_table_to_try_needs_no_database(tmp_path, postgres, monkeypatch):
    """`--demo` keeps nothing, and leaves the database of a study alone."""
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", postgres.address("nowhere"))
    with servers(tmp_path) as start:
        server = start("--demo")
        assert "/i/" in server.address
        assert PASSWORD not in server.stop()
