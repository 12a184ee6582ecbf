"""The backups of docs/deploy.md: made in the middle of a session, restored elsewhere, held on."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from people_site import Browser, hall_of, link_for, served
from postgres import USER
from server_processes import until_over
from sqlalchemy.engine import make_url

from delibsim.store.people.register import FILE

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")
ONE = "[person,citizen,citizen]"


def commands(beginning):
    """The commands of a block of the page, the study of which is called `s` here."""
    (found,) = re.findall(rf"```sh\n({re.escape(beginning)}.*?)```", PAGE, re.DOTALL)
    return found.replace("hall", "s")


@pytest.mark.parametrize("program", ["sqlite3", "python"])
def test_a_session_goes_on_from_a_backup(tmp_path, database, request, monkeypatch, program):
    if program == "sqlite3" and not database and not shutil.which("sqlite3"):
        pytest.skip("the program sqlite3 is not installed")
    if program == "python" and database:
        pytest.skip("the register is not a file")
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    hall = hall_of(old, models=ONE)
    _, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        browser.asked()
        assert browser.answer().status_code == 200
        browser.until("<textarea")
        backup = commands("umask 077")
        if program == "python" or database:
            lines = [line for line in backup.splitlines() if not line.startswith("sqlite3")]
            backup = "\n".join(lines)
        if program == "python":
            by_python = re.search(r"`python3 (-c .*?)`\.", PAGE, re.DOTALL)[1].replace("hall", "s")
            backup += f"\npython3 {by_python}"
        subprocess.run(["bash", "-euc", backup], cwd=old, check=True)
        if database:
            save(request.getfixturevalue("postgres"), database, old / "backup/s/register.dump")
        cookies = dict(browser.http.cookies)
        assert browser.answer("This is said after the backup, and is lost with the server.")
    for path in (old / "backup" / "s").iterdir():
        assert path.stat().st_mode & 0o077 == 0
    shutil.copytree(old / "backup", new / "backup")
    restore = commands("mkdir -p runs")
    if database:
        restore = "\n".join(line for line in restore.splitlines() if FILE not in line)
        postgres = request.getfixturevalue("postgres")
        again = postgres.database()
        load(postgres, again, new / "backup/s/register.dump")
        monkeypatch.setenv("DELIBSIM_DATABASE_URL", again)
    subprocess.run(["bash", "-euc", restore], cwd=new, check=True)
    hall = hall_of(new, models=ONE)
    with served(hall) as address:
        browser = Browser(address)
        browser.http.cookies.update(cookies)
        assert "<textarea" in browser.asked()
        assert browser.answer("This is said after the backup came back.").status_code == 200
        until_over(browser)
        (name,) = hall.runs.sessions()
        run = hall.runs.run(name)
        assert run.status == "complete"
        said = [one.text for one in run.transcript]
        assert said.count("This is said after the backup came back.") == 1
        assert not any("lost with the server" in text for text in said)
        found, _ = hall.runs.exchanges(name)
        asked = [(one["purpose"]["participant"], one["purpose"]["occasion"]) for one in found]
        assert len(asked) == len(set(asked))


def words(program):
    """The words that the page gives to a program of PostgreSQL, without those of its user."""
    line = re.search(rf"runuser -u postgres -- {program} ([^`]*?)`", PAGE)[1]
    line = re.sub(r"(<|>) \S+", "", line)
    return [word for word in shlex.split(line) if word not in ("hall",)]


def save(postgres, address, path):
    name = make_url(address).database
    where = ["-h", str(postgres.folder), "-U", USER]
    dump = postgres.folder / "dump"
    postgres.call("pg_dump", *words("pg_dump"), *where, "--file", str(dump), name)
    shutil.copyfile(dump, path)
    path.chmod(0o600)


def load(postgres, address, path):
    name = make_url(address).database
    where = ["-h", str(postgres.folder), "-U", USER]
    own = [word for word in words("pg_restore") if not word.startswith(("--role", "--dbname"))]
    dump = postgres.folder / "dump"
    shutil.copyfile(path, dump)
    dump.chmod(0o644)
    postgres.call("pg_restore", *own, *where, "--dbname", name, str(dump))
