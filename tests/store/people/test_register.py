"""The register on SQLite and on PostgreSQL: whose it is, which version, what it says of itself."""

import os
import stat

import pytest
from postgres import PASSWORD
from sqlalchemy import inspect, text, update

from delibsim.domain.errors import WrongInput
from delibsim.store.people.persons import Identity, add_person, identities, persons
from delibsim.store.people.register import ADDRESS, FILE, Register
from delibsim.store.people.schema import OWN, TABLES, VERSION
from delibsim.store.runs import Runs


def test_a_register_is_made_once_and_found_again(tmp_path, database, opened):
    code = add_person(opened(), "participant", "de", Identity("Anna", "a@example.org"))
    again = opened()
    assert [(one.id, one.language) for one in persons(again)] == [(code, "de")]
    assert [one.name for one in identities(again).values()] == ["Anna"]
    assert set(inspect(again.engine).get_table_names()) == set(TABLES.tables)
    file = tmp_path / "hall" / FILE
    assert file.is_file() == (not database)
    if not database:
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


@pytest.mark.parametrize(
    ("version", "told"),
    [(VERSION + 1, "newer delibsim"), (VERSION - 1, "older delibsim"), (None, "version 0")],
)
def test_tables_of_another_version_are_refused_with_what_to_do(opened, version, told):
    register = opened()
    with register.writing() as connection:
        if version is None:
            connection.execute(text("drop table register"))
        else:
            connection.execute(update(OWN).values(version=version))
    with pytest.raises(WrongInput, match=told) as refused:
        opened()
    assert "install" in str(refused.value) or "begin a new study" in str(refused.value)


def test_a_database_is_one_study(database, opened):
    opened("hall")
    if not database:
        opened("other")  # a file in each folder
        return
    with pytest.raises(WrongInput, match="register of the study hall"):
        opened("other")


@pytest.mark.parametrize(
    "address",
    [
        "mysql://anna:WORD@localhost/hall",
        "postgresql://anna:WORD@localhost/hall",
        "postgresql//anna:WORD",
        "postgresql://anna:sec:retWORD@localhost:hall/hall",
        "postgresql://anna:sec/ret@localhost/hall",
    ],
)
def test_no_message_repeats_an_address_that_is_none(tmp_path, address):
    address = address.replace("WORD", PASSWORD)  # which is drawn, and so is no name of a test
    with pytest.raises(WrongInput) as refused:
        Register.of(Runs(tmp_path, "hall"), address)
    said = str(refused.value)
    assert ADDRESS in said or "cannot be opened" in said or "psycopg is not installed" in said
    for part in ("p@ss", "w%rd", "sec", "ret", *PASSWORD.split(":")[1:]):
        assert part not in said


@pytest.mark.heavy
def test_a_wrong_password_is_told_without_it(tmp_path, postgres):
    with pytest.raises(WrongInput, match="password authentication failed") as refused:
        Register.of(Runs(tmp_path, "hall"), postgres.address("postgres", "wr@ng-one"))
    assert "wr@ng" not in str(refused.value)
    assert PASSWORD not in str(refused.value)
