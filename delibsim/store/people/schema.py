"""The tables of the register. Who a person is stands in `identity` alone, under a key of its own.

Times are seconds since 1970 in UTC, by the clock of the server. Whatever opens something (a link,
a cookie) is kept as its SHA-256 only.
"""

from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
)

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, phrase

TABLES = MetaData()
DECLARED = read_data("register.yaml")
"""The columns of each table, by name."""
TYPES: dict[str, Any] = {"text": Text, "integer": Integer, "float": Float}
VERSION = 1
"""The version of these tables: it is raised with every change of them after a release."""

TURN = 0x64656C6962
"""The number of the lock of PostgreSQL by which processes that begin at once take turns."""
ELSE = "give each study a database of its own: createdb NAME, and its address in the environment"


def _table(name: str) -> Table:
    """A table as it is declared."""
    parts: list[Any] = []
    for column, own in DECLARED[name]["columns"].items():
        rest = {key: value for key, value in own.items() if key not in ("type", "length", "of")}
        of = [ForeignKey(own["of"])] if "of" in own else []
        kind = String(own["length"]) if "length" in own else TYPES[own["type"]]()
        parts.append(Column(column, kind, *of, **rest))
    parts += [UniqueConstraint(*names) for names in DECLARED[name].get("unique", ())]
    return Table(name, TABLES, *parts)


OWN = _table("register")
PERSON = _table("person")
IDENTITY = _table("identity")
INVITATION = _table("invitation")
LOGIN = _table("login")
ANSWER = _table("answer")
ROOM = _table("room")
SEAT = _table("seat")
REQUEST = _table("request")
PLACE = _table("place")
MESSAGE = _table("message")
INTERVENTION = _table("intervention")
OFFICE = _table("office")
ERASURE = _table("erasure")
OF_A_PANEL = IDENTITY.c.panel_id != ""
Index(
    "one_of_a_panel",  # who comes twice at once is one person
    IDENTITY.c.panel,
    IDENTITY.c.panel_id,
    unique=True,
    sqlite_where=OF_A_PANEL,
    postgresql_where=OF_A_PANEL,
)
Index("request_of_seat", REQUEST.c.session, REQUEST.c.seat)
Index("request_of_person", REQUEST.c.person)
Index("request_of_task", REQUEST.c.task, REQUEST.c.kept)
Index("intervention_of_session", INTERVENTION.c.session, INTERVENTION.c.id)


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
    """Make the tables, unless another process was quicker."""
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
        return phrase("newer_register", known=known)
    return phrase("older_register", known=known)


class Role:
    """What somebody comes for."""

    PARTICIPANT = "participant"
    RATER = "rater"
    RESEARCHER = "researcher"


class Stage:
    """How far a person has come; she is seated, or waits for a seat, while she is READY."""

    INVITED = "invited"
    CONSENTED = "consented"
    READY = "ready"
    DONE = "done"
    DECLINED = "declined"
    FAILED = "failed_checks"
    OVER_QUOTA = "over_quota"
    WITHDRAWN = "withdrawn"


class RoomState:
    """How a room stands. One that is STOPPED is tried again; OVER and CANCELLED are its end."""

    LOBBY = "lobby"
    HELD = "held"
    OVER = "over"
    STOPPED = "stopped"
    CANCELLED = "cancelled"

    GOING = (LOBBY, HELD, STOPPED)


class PlaceState:
    """How a place of a pack stands: LEFT by its rater, or DONE."""

    FREE = "free"
    TAKEN = "taken"
    LEFT = "left"
    DONE = "done"


class SeatState:
    """How a seat stands: SILENT, left and nobody follows; STOOD_IN, left and a model follows."""

    FREE = "free"
    TAKEN = "taken"
    SILENT = "silent"
    STOOD_IN = "stood_in"

    LEFT = (SILENT, STOOD_IN)
