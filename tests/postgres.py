"""A PostgreSQL server of its own for tests: in a temporary folder, by a socket, without a network."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "p@ss/w%rd:" + secrets.token_hex(8)
"""What must stand in no log, page, message or record."""
USER = "delibsim"


def programs():
    """The folder of the programs of PostgreSQL, which POSTGRES may name; None where it is not
    installed.
    """
    if named := os.environ.get("POSTGRES"):
        return Path(named)
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: one.parts[4])
    found = shutil.which("initdb")
    if known:
        return known[-1].parent
    return Path(found).resolve().parent if found else None


def reason():
    """Why there can be no server here; "" where there can be one."""
    if programs() is None:
        return "PostgreSQL is not installed: apt-get install postgresql"
    try:
        import psycopg  # noqa: F401
    except ModuleNotFoundError:
        return "psycopg is not installed: make postgres"
    if os.geteuid() == 0 and not (shutil.which("runuser") and _there("postgres")):
        return "PostgreSQL does not run as root, and there is no user postgres"
    return ""


class Postgres:
    """A server that is started and stopped by its folder, which nobody else can open."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="delibsim-pg-"))
        self.as_user = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            self.as_user = ["runuser", "-u", "postgres", "--"]
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        secret.chmod(0o600)
        if self.as_user:
            shutil.chown(secret, "postgres")
        self.call("initdb", "-D", self.data, "-U", USER, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
                  "--auth=scram-sha-256", f"--pwfile={secret}")  # fmt: skip
        secret.unlink()

    @property
    def data(self):
        return self.folder / "data"

    def call(self, program, *words):
        """Run a program of PostgreSQL as who may run it; what it printed."""
        command = [*self.as_user, programs() / program, *words]
        environment = os.environ | {"PGPASSWORD": PASSWORD}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd="/", env=environment, check=False
        )
        assert done.returncode == 0, f"{program}: {done.stderr}"
        return done.stdout

    def start(self):
        options = f"-c listen_addresses= -k {self.folder} -c fsync=off -c max_connections=100"
        log = self.folder / "log"
        self._control("start", "-o", options, "-l", log, "-t", "30")

    def stop(self, how="fast"):
        self._control("stop", "-m", how)

    def _control(self, *words):
        # Into nothing: the server would keep a pipe open.
        command = [*self.as_user, programs() / "pg_ctl", "-D", self.data, "-w", *words]
        quiet = subprocess.DEVNULL
        subprocess.run(command, stdout=quiet, stderr=quiet, stdin=quiet, cwd="/", check=True)

    def address(self, database, password=PASSWORD):
        secret = quote(password, safe="")
        return f"postgresql://{USER}:{secret}@/{database}?host={self.folder}"

    def sql(self, statement, database="postgres"):
        """Run one statement; what it gave."""
        where = ["-h", self.folder, "-U", USER, "-d", database, "-At", "-v", "ON_ERROR_STOP=1"]
        return self.call("psql", *where, "-c", statement).strip()

    def database(self):
        """A new database; its address."""
        name = f"t{secrets.token_hex(6)}"
        self.sql(f"create database {name}")
        return self.address(name)

    def close(self):
        """Stop the server, and remove all of it."""
        try:
            if (self.data / "postmaster.pid").exists():
                self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres():
    """A server that runs; the test is skipped where there can be none."""
    if why := reason():
        pytest.skip(why)
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.heavy)])
def database(request, monkeypatch):
    """The database of every register that is opened in a test, by the environment as a user names
    it: "" is SQLite in the folder of the study.
    """
    from delibsim.store.people.register import ADDRESS

    monkeypatch.delenv(ADDRESS, raising=False)
    if request.param == "sqlite":
        return ""
    address = request.getfixturevalue("postgres").database()
    monkeypatch.setenv(ADDRESS, address)
    return address


@pytest.fixture
def opened(database, tmp_path):
    """Opens the register of a study of this test; all are closed with it."""
    from delibsim.store.people.register import Register
    from delibsim.store.runs import Runs

    made = []

    def register(study="hall"):
        made.append(Register.of(Runs(tmp_path, study)))
        return made[-1]

    yield register
    for one in made:
        one.close()


def _there(user):
    import pwd

    try:
        return bool(pwd.getpwnam(user))
    except KeyError:
        return False
