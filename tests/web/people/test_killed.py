"""The server of people's pages is killed with SIGKILL in every phase: nothing that was handed in is
lost, nobody is asked twice, and no model is paid twice.
"""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from people_site import Browser, answers_of, filled, hidden
from provider_thread import provider_in_a_thread
from sqlalchemy import func, select

from delibsim.conduct.replay import replay
from delibsim.store.people.persons import Identity, Invitation, invite_person, person_of
from delibsim.store.people.register import Register
from delibsim.store.people.schema import REQUEST, Role
from delibsim.store.runs import Runs

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
TESTS = Path(__file__).parents[2]
PEOPLE = """
consent: I take part.
information: We talk in turn.
debriefing: Thank you.
withdrawal: delete
completion_code: DONE-1
typing: null
checks:
  - id: read
    text: What does the page say?
    kind: choice
    options: [We talk in turn, We talk at once]
    right: [We talk in turn]
questions:
  - id: age
    text: How old are you?
    kind: number
    low: 16
    high: 120
"""
SETTINGS = [
    "study=s", "topic=ccps", "treatment=normative", "rounds=1", "seed=7", "limits.longest_wait=0.05",
    "group.models=[person,person,local]", "group.size=3", "consensus=schulze",
    "consensus.candidates=2", "consensus.mediator=local", "consensus.position=last_statement",
    "consensus.critique=false",
]  # fmt: skip
END = "<h1>You have reached the end</h1>"
ASKED = 'action="/me/answer"'


@pytest.fixture
def provider():
    """A provider of models, which outlives every server."""
    with provider_in_a_thread() as made:
        yield made


class Killed:
    """A server, which is killed and started again; `browsers` are people who come back to it."""

    def __init__(self, home, provider):
        self.home, self.provider, self.kills = home, provider, 0
        self.people = home / "people.yaml"
        self.people.write_text(PEOPLE, encoding="utf-8")
        self.settings = [*SETTINGS, f"base_url={provider.base_url}"]
        self.browsers, self.keys = [], {}
        self.start()

    def start(self):
        command = [sys.executable, str(TESTS / "killable_server.py"), str(self.home)]
        command += [str(self.people), *self.settings]
        environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, "the server did not start"

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def kill(self):
        """SIGKILL once no model is asked, and a new server."""
        before = -1
        while before != (before := self.provider.calls):
            time.sleep(0.4)
        self.stop()
        self.start()
        self.kills += 1
        for browser in self.browsers:
            browser.http.base_url = self.address

    def enter(self, link):
        browser = Browser(self.address)
        self.browsers.append(browser)
        browser.http.post(link)
        browser.get()
        return browser

    def hand_in(self, browser, words="I would weigh what those say who live there."):
        """Answer what is asked; the same request is never shown again."""
        key = hidden(browser.page.text)["key"]
        assert key not in self.keys
        assert browser.answer(words).status_code == 200, browser.page.text
        self.keys[key] = browser


@contextmanager
def killed(home, provider):
    site = Killed(home, provider)
    try:
        yield site
    finally:
        site.stop()
        for browser in site.browsers:
            browser.http.close()


def people_of(home):
    """Two people by their codes, and the links of both."""
    register = Register.of(Runs(home / "runs", "s"), "")
    wanted = Invitation("", Role.PARTICIPANT, "", "", "")
    made = [invite_person(register, wanted, 1.0, "en", Identity()) for _ in range(2)]
    return register, [code for code, _ in made], [f"/i/{token}" for _, token in made]


def comes_in(site, register, codes, links):
    """Both come in, past consent, check and question; the server is killed after every step."""
    ada = site.enter(links[0])
    site.kill()  # before consent
    assert 'name="agree"' in ada.get().text
    ada.post("/me/consent", agree="1")
    consented = person_of(register, codes[0]).consented
    site.kill()  # after consent
    assert 'name="q-age"' in ada.get().text
    assert person_of(register, codes[0]).consented == consented
    ada.post("/me/questions", **{"q-read": "We talk at once", "q-age": "44"})
    site.kill()  # in the checks: one of two attempts is used
    form = ada.get().text
    assert hidden(form)["tried"] == "1"
    ada.post("/me/questions", **{"q-read": "We talk in turn", "q-age": "44"})
    assert "Still missing: 1" in ada.page.text
    site.kill()  # in the lobby
    assert "Still missing: 1" in ada.get().text
    ben = site.enter(links[1])
    ben.post("/me/consent", agree="1")
    ben.post("/me/questions", **{"q-read": "We talk in turn", "q-age": "61"})
    return ada, ben


def through(site, waiting, acting, sign):
    """One phase: somebody hands in, somebody else has typed; the server is killed; neither is lost."""
    acting.asked()
    waiting.asked()
    assert sign in waiting.page.text
    assert sign in acting.page.text
    site.hand_in(acting)
    field = next(name for name in filled(waiting.page.text) if name[0] in "CA")
    assert waiting.post("/me/draft", **{field: "3"}).json() == {"kept": True}
    waiting.asked()
    site.kill()
    assert "handed in" in acting.get().text
    assert ASKED not in acting.page.text
    text = waiting.asked()
    assert f'name="{field}" value="3" checked' in text.replace("\n", " ")
    site.hand_in(waiting)


def speaks(site, browsers):
    """The turns: each speaker hands in after one kill with half a sentence, and one after."""
    spoken = []
    end = time.monotonic() + 60
    while len(spoken) < 2:
        assert time.monotonic() < end
        for browser in browsers:
            if browser in spoken or "<textarea" not in browser.get().text:
                continue
            browser.post("/me/draft", text="Half a sen")
            browser.get()
            site.kill()
            assert ">\nHalf a sen</textarea>" in browser.asked()
            site.hand_in(browser)
            site.kill()
            spoken.append(browser)
        time.sleep(0.05)


def test_a_server_killed_in_every_phase_loses_nothing_and_asks_nothing_twice(tmp_path, provider):
    with killed(tmp_path, provider) as site:
        register, codes, links = people_of(tmp_path)
        ada, ben = comes_in(site, register, codes, links)
        through(site, ada, ben, 'name="C1"')  # the survey before
        speaks(site, [ada, ben])
        through(site, ben, ada, 'name="C1"')  # the survey after
        through(site, ada, ben, 'name="A1"')  # the ballot
        for browser in (ada, ben):
            browser.until(END)
        site.kill()  # at the debriefing
        for browser in (ada, ben):
            text = browser.get().text
            assert END in text
            assert "Thank you." in text
            assert "DONE-1" in text
        assert site.kills >= 12
    runs = Runs(tmp_path / "runs", "s")
    (name,) = runs.sessions()
    run = runs.run(name)
    assert run.status == "complete"
    assert len(run.transcript) == 3
    assert not any(response.missing for response in run.responses)
    with register.reading() as connection:
        rows = connection.execute(
            select(REQUEST.c.seat, REQUEST.c.occasion, func.count(), func.min(REQUEST.c.status))
            .group_by(REQUEST.c.seat, REQUEST.c.occasion)
        ).all()  # fmt: skip
    assert {row[2] for row in rows} == {1}
    assert {row[3] for row in rows} == {"ok"}
    assert len(rows) == len(site.keys) == 2 * 4
    given = [(one["person"], one["question"], one["attempt"]) for one in answers_of(register)]
    assert len(given) == len(set(given)) == 2 * 2 + 1
    exchanges, damaged = runs.exchanges(name)
    assert damaged == 0
    paid = [one for one in exchanges if one["model"] == "local"]
    assert provider.billed == len(paid)
    assert asyncio.run(replay(runs, name)) == run
    register.close()
