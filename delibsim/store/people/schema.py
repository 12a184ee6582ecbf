"""The tables of the register. Who a person is stands in `identity` alone, under a key of its own.

Times are seconds since 1970 in UTC, by the clock of the server. Whatever opens something (a link,
a cookie) is kept as its SHA-256 only.
"""

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
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy import UniqueConstraint as Unique

from delibsim.domain.errors import WrongInput, phrase

TABLES = MetaData()
VERSION = 1
"""The version of these tables: it is raised with every change of them after a release."""

TURN = 0x64656C6962
"""The number of the lock of PostgreSQL by which processes that begin at once take turns."""
ELSE = "give each study a database of its own: createdb NAME, and its address in the environment"

OWN = Table(
    "register",  # whose register this is, by which tables it was made, who serves it; one row
    TABLES,
    Column("version", Integer, primary_key=True),
    Column("study", Text, nullable=False),
    Column("server", String(64)),  # a name drawn by the one server; null: nobody serves
    Column("host", Text, nullable=False, default=""),  # the machine of that server
    Column("process", Integer, nullable=False, default=0),
    Column("since", Float),
    Column("seen", Float),  # the last sign of life of the server, also of one that has ended
)

PERSON = Table(
    "person",
    TABLES,
    Column("id", String(24), primary_key=True),  # drawn, says nothing
    Column("role", String(16), nullable=False),  # participant, rater
    Column("language", String(16), nullable=False, default="en"),
    Column("stage", String(24), nullable=False, default="invited"),
    # invited, consented, ready, done, declined, failed_checks, over_quota, withdrawn
    Column("identity", String(24)),  # the key in `identity`; null once it is forgotten
    Column("task", Text),  # of raters: the task of the study that her invitation names
    Column("consent_version", String(64)),
    Column("consented", Float),
    Column("made", Float, nullable=False),
    Column("seen", Float),  # the last request of hers
    Column("withdrawn", Float),
)
IDENTITY = Table(
    "identity",
    TABLES,
    Column("key", String(24), primary_key=True),
    Column("name", Text, nullable=False, default=""),
    Column("address", Text, nullable=False, default=""),
    Column("panel", Text, nullable=False, default=""),  # the name of the panel: prolific
    Column("panel_id", Text, nullable=False, default=""),
    Column("made", Float, nullable=False),
)
INVITATION = Table(
    "invitation",
    TABLES,
    Column("token", String(64), primary_key=True),  # SHA-256
    Column("person", String(24), ForeignKey("person.id")),  # null: an open link
    Column("role", String(16), nullable=False),
    Column("session", Text),  # the seat it is for; null: the first that is free
    Column("seat", Text),
    Column("task", Text),  # what a rater is given: a task of the study
    Column("made", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("revoked", Float),
    Column("used", Float),
)
LOGIN = Table(
    "login",
    TABLES,
    Column("cookie", String(64), primary_key=True),  # SHA-256
    Column("person", String(24), ForeignKey("person.id")),  # null: the researcher
    Column("role", String(16), nullable=False),  # participant, rater, researcher
    Column("csrf", String(64), nullable=False),
    Column("made", Float, nullable=False),
    Column("expires", Float, nullable=False),
)
ANSWER = Table(
    "answer",  # to the researcher's own questions and checks
    TABLES,
    Column("person", String(24), ForeignKey("person.id"), nullable=False),
    Column("question", String(64), nullable=False),
    Column("attempt", Integer, nullable=False, default=0),
    Column("value", Text, nullable=False),
    Column("passed", Integer),  # of a check: 1 or 0
    Column("given", Float, nullable=False),
    Unique("person", "question", "attempt"),
)
ROOM = Table(
    "room",  # one session that people take part in
    TABLES,
    Column("session", Text, primary_key=True),
    Column("state", String(16), nullable=False),  # lobby, held, over, stopped, cancelled
    Column("opened", Float, nullable=False),
    Column("first", Float),  # when the first person came
    Column("begun", Float),
    Column("ended", Float),
    Column("detail", Text, nullable=False, default=""),  # why it was cancelled or stopped
)
SEAT = Table(
    "seat",
    TABLES,
    Column("session", Text, ForeignKey("room.session"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("person", String(24), ForeignKey("person.id")),  # null: free
    Column("state", String(16), nullable=False, default="free"),
    # free, taken, silent (left, nobody follows), stood_in (left, a model follows)
    Column("taken", Float),
    Column("left", Float),
    Column("stand_in", Text),
    Unique("person"),
)
REQUEST = Table(
    "request",  # one prompt that waits, or waited, for a person; or a unit for a rater
    TABLES,
    Column("key", String(64), primary_key=True),
    Column("session", Text),
    Column("seat", Text),
    Column("person", String(24)),
    Column("task", Text),  # of raters and coders
    Column("unit", Text),
    Column("place", Integer, nullable=False, default=0),  # in the order of a rater
    Column("occasion", Text, nullable=False),
    Column(
        "page", Text, nullable=False
    ),  # the questionnaire, JSON: shown before the room is held again
    Column("asked", Float, nullable=False),
    Column("shown", Float),  # when the person first saw it
    Column("paused", Float, nullable=False, default=0.0),  # seconds that are not counted
    Column("draft", Text),  # the fields as typed, JSON
    Column("drafted", Float),
    Column("reply", Text),  # the reply in the form of the prompt
    Column("status", String(24)),  # null while it waits; then the status of the completion
    Column("detail", Text, nullable=False, default=""),
    Column("by", String(64)),
    Column("given", Float),
    Column("kept", Float),  # of raters: when the row of the unit was written into the study
    Column("fault", Text),  # of raters: why it cannot be
)
PLACE = Table(
    "place",  # one place of a pack that is rated on pages, and who has it
    TABLES,
    Column("task", Text, primary_key=True),  # the name of the pack
    Column("number", Integer, primary_key=True),
    Column("person", String(24), ForeignKey("person.id")),  # null: free
    Column("state", String(16), nullable=False, default="free"),  # free, taken, left, done
    Column("follows", Integer),  # the place whose units were handed on to this one
    Column("units", Text, nullable=False),  # JSON: sheet and unit, in the order of showing
    Column("taken", Float),
    Column("seen", Float),  # the last sign of the person
    Column("paused", Float),  # since when there is a break
    Column("ended", Float),  # when it was left, or handed in whole
    Unique("task", "person"),
)
MESSAGE = Table(
    "message",  # of the researcher to a group; `person` where it is for one alone
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("session", Text, nullable=False),
    Column("person", String(24)),
    Column("text", Text, nullable=False),
    Column("sent", Float, nullable=False),
)
INTERVENTION = Table(
    "intervention",  # what the researcher did to a group or a seat; the study keeps it as well
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("session", Text, nullable=False),  # "": of a person without a seat
    Column("seat", Text, nullable=False, default=""),  # "": the whole group
    Column("kind", String(24), nullable=False),  # message, end, restart, seat_taken, revoked
    Column("text", Text, nullable=False, default=""),
    Column("at", Float, nullable=False),
)
OFFICE = Table(
    "office",  # how the researcher gets in; one row, or none while no password is set
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("password", Text, nullable=False),  # the argon2 hash
    Column("made", Float, nullable=False),
)
ERASURE = Table(
    "erasure",  # what is deleted of a person: written before anything is, and done at the end
    TABLES,
    Column("person", String(24), ForeignKey("person.id"), primary_key=True),
    Column("what", String(16), primary_key=True),  # delete, pseudonymise, forget
    Column("session", String(200)),  # the session that goes with her words; null: none does
    Column("begun", Float, nullable=False),
    Column("done", Float),  # null: it was cut off, and is to be finished
)
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
