"""A study with people as a service: real processes, which are ended and begun again by its name."""

import json
import os
import signal
from contextlib import contextmanager

import pytest
import warm
from people_site import Browser, take_part
from provider_thread import provider_in_a_thread

PEOPLE = "consent: I take part.\nwithdrawal: delete\ntyping: null\n"
TABLE = (
    "study=hall", "topic=ccps", "treatment=normative", "rounds=1", "group.models=[person,local]",
    "group.size=2",
)  # fmt: skip


def delibsim(home, *arguments, code=0):
    """A command as a user's shell runs it: others may read what it makes. Its output and errors."""
    found, out, err = warm.run(arguments, home, os.environ)
    assert found == code, err
    return out, err


@contextmanager
def serving(home, *arguments):
    """`delibsim serve` until Ctrl-C; its address, and then what it said."""
    with warm.Piped(["serve", *arguments], home) as process:
        told = {"address": process.stdout.readline().strip()}
        try:
            assert told["address"].startswith("http://"), process.communicate()[1]
            yield told
        finally:
            process.send_signal(signal.SIGINT)
            told["said"] = process.communicate(timeout=30)[1]


def for_others(folder):
    """The files and folders that anybody but their owner may read."""
    return [path for path in [folder, *folder.rglob("*")] if path.lstat().st_mode & 0o077]


def state_of(home):
    (session,) = json.loads(delibsim(home, "status", "hall", "--json", code=4)[0])["sessions"]
    return session["state"]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    return tmp_path


def link_in(path):
    return path.read_text(encoding="utf-8").splitlines()[1].rpartition(",")[2]


@pytest.mark.timeout(120)
def test_a_study_goes_on_by_its_name_where_its_links_lead_and_keeps_what_people_said(home):
    with provider_in_a_thread() as provider:
        own = f"base_url={provider.base_url}", "limits.tries=2"
        with serving(home, *TABLE, *own, "--port", "0") as first:
            delibsim(home, "people", "invite", "hall", "--n", "1")
            link = link_in(home / "links.csv")
            assert link.startswith(f"{first['address']}/i/")
        assert json.loads((home / "runs/hall/served.json").read_text())["settings"] == list(own)
        with serving(home, "hall") as again:
            assert again["address"] == first["address"]
            browser = Browser(again["address"])
            assert state_of(home) == "waiting for people"
            browser.enter(link.removeprefix(again["address"]))
            browser.asked()
            browser.answer()
            browser.until('name="text"')
            assert state_of(home) == "under way"
            take_part(browser, "I would ask who lives there.")
        assert provider.calls > 0
        with serving(home, "hall", "--port", "0") as moved:
            pass
        assert f"links that were made before begin with {first['address']}" in moved["said"]
    delibsim(home, "score", "hall")
    # of one session nothing can be compared
    delibsim(home, "analyze", "hall", "--figures", "none", code=3)
    delibsim(home, "people", "export", "hall", "-o", "out")
    delibsim(home, "export", "hall", "-o", "tables")
    for folder in ("runs/hall", "out", "tables"):
        assert list((home / folder).iterdir())
        assert for_others(home / folder) == []
    assert (home / "runs").stat().st_mode & 0o777 == 0o755


def test_a_secret_in_an_address_is_in_no_file_and_links_before_the_first_time_say_so(home):
    with provider_in_a_thread() as provider:
        secret = provider.base_url.replace("//", "//me:canary-of-an-address@")
        with serving(home, *TABLE, f"base_url={secret}") as served:
            pass
    assert "base_url holds a secret and is not kept" in served["said"]
    for path in (home / "runs").rglob("*"):
        assert path.is_dir() or b"canary-of-an-address" not in path.read_bytes(), path
    (home / "runs/hall/served.json").unlink()
    told = delibsim(home, "people", "invite", "hall", "--n", "1")[1]
    assert "was not served yet: its links begin with http://127.0.0.1:8377" in told
    named = ("people", "invite", "hall", "--open", "-o", "b.csv", "--url", "https://a.example/")
    delibsim(home, *named)
    assert link_in(home / "b.csv").startswith("https://a.example/i/")
