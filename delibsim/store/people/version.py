"""Which tables a register has, and whose: kept in it, and checked before it is used."""

from sqlalchemy import Connection, insert, inspect, select, text

from delibsim.domain.errors import WrongInput
from delibsim.store.people.schema import OWN, PERSON, TABLES, VERSION

TURN = 0x64656C6962
"""The number of the lock of PostgreSQL by which servers that begin at once take turns."""
ELSE = "give each study a database of its own: createdb NAME, and its address in the environment"


def check(connection: Connection, study: str) -> bool:
    """Whether the tables are there; WrongInput for those of another study or another version."""
    names = inspect(connection).get_table_names()
    if OWN.name not in names:
        if PERSON.name in names:
            raise WrongInput(_told(0))
        return False
    row = connection.execute(select(OWN.c.version, OWN.c.study)).first()
    if row is None:
        return False
    if row.version != VERSION:
        raise WrongInput(_told(row.version))
    if row.study != study:
        raise WrongInput(f"the database holds the register of the study {row.study}: {ELSE}")
    return True


def settle(connection: Connection, study: str) -> None:
    """Make the tables, unless another server was quicker."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:turn)"), {"turn": TURN})
    if check(connection, study):
        return
    TABLES.create_all(connection)
    connection.execute(insert(OWN).values(version=VERSION, study=study))


def _told(version: int) -> str:
    """What to do about tables of another version."""
    known = f"(its tables have version {version}, this delibsim knows version {VERSION})"
    if version > VERSION:
        return (
            f"the register of the people was made by a newer delibsim {known}: install that one,"
            " or a newer one"
        )
    return (
        f"the register of the people was made by an older delibsim {known}: finish the study with"
        " the delibsim that began it, or begin a new study"
    )
