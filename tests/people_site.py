"""A hall with its pages over real HTTP, and browsers of people that hold nothing but cookies."""

import asyncio
import html
import re
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import uvicorn
from sqlalchemy import select

from delibsim.domain.hosting import Hosting
from delibsim.models.pool import ModelPool
from delibsim.people.erase import keep_promises
from delibsim.people.hall import Hall
from delibsim.people.raters import RaterDesk
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.people.persons import Identity, Invitation, invite, invite_person
from delibsim.store.people.register import Register
from delibsim.store.people.schema import ANSWER, Role
from delibsim.store.runs import Runs
from delibsim.web.people.app import application
from delibsim.web.people.visits import PeopleScreen
from delibsim.web.serve import Protocol

TABLE = ("topic=ccps", "treatment=normative", "rounds=1", "seed=7")
OPEN = []
"""The browsers that are open; they are closed with the pages."""
PLAIN = Hosting(consent="# Consent\n\nI take part.", typing=None, debriefing="It is *over*.")
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
JUDGES = re.compile(r'name="q-task" value="([^"]*)"')
"""The right answer to the check of raters, which stands first."""
FIELD = re.compile(r'<(?:input|select|textarea)[^>]*? name="([A-Za-z0-9_-]+)"')


def hall_of(
    home, *settings, models="[person,person,citizen]", hosting=PLAIN, study="s", sweep=False
):
    """A hall over a study in `home`/runs, whose seats are those of `models`; a debate has none."""
    wanted = [f"study={study}", *(settings or TABLE)]
    if models:
        wanted += [f"group.models={models}", f"group.size={models.count(',') + 1}"]
    asked = plan(wanted, home, sweep=sweep)
    runs = Runs(asked.root, study)
    runs.settle(frozen(asked))
    return Hall(runs, Register.of(runs), hosting, ModelPool(asked.limits), asked.sessions)


@contextmanager
def served(
    hall, proxies=(), hosts=(), holding=True, port=0, open_here=False, promises=None, demo=False
):
    """The pages of a hall at an address, and its rooms held as `delibsim serve` holds them; with
    `promises` withdrawals are carried out every so many seconds.
    """
    made = socket.create_server(("127.0.0.1", port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    desk = RaterDesk(hall.runs, hall.register)
    gate = PeopleScreen(application(hall, desk, open_here, demo), hosts, proxies)
    config = uvicorn.Config(
        gate,
        http=Protocol,
        log_level="critical",
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    async def both():
        rooms = [asyncio.create_task(hall.run())] if holding else []
        if promises is not None:
            rooms.append(asyncio.create_task(keep_promises(hall, desk, promises)))
        await server.serve(sockets=[made])
        for task in rooms:
            task.cancel()
        await asyncio.gather(*rooms, return_exceptions=True)

    thread = threading.Thread(target=asyncio.run, args=[both()])
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{made.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        for client in OPEN:
            client.close()
        OPEN.clear()
        hall.register.close()


def link_for(hall, name="", session="", seat="", role=Role.PARTICIPANT, task="", days=1.0):
    """A person with a link of her own: her code, and the path of the link."""
    wanted = Invitation("", role, session, seat, task)
    code, token = invite_person(hall.register, wanted, days, "en", Identity(name=name))
    return code, f"/i/{token}"


def open_link(hall, role=Role.PARTICIPANT, task="", days=1.0):
    return f"/i/{invite(hall.register, Invitation('', role, task=task), days)}"


def until(found, seconds=20.0, step=0.02):
    """What `found` gives as soon as that is true."""
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(step)
    return value


class Browser:
    """Somebody at a browser without scripts: a cookie, and the forms of the last page."""

    def __init__(self, address, **headers):
        self.http = httpx.Client(base_url=address, headers=headers, timeout=20)
        OPEN.append(self.http)
        self.page = SimpleNamespace(text="", status_code=0)

    def get(self, path="/me"):
        self.page = self.http.get(path, follow_redirects=True)
        return self.page

    def post(self, path, follow=True, **fields):
        """Send a form with the hidden fields of the page that is shown."""
        given = hidden(self.page.text) | fields
        answer = self.http.post(path, data=given, follow_redirects=follow)
        self.page = answer
        return answer

    def enter(self, link, consent=True):
        """Come in by a link, and agree."""
        self.http.post(link, follow_redirects=False)
        self.get()
        if consent:
            self.post("/me/consent", agree="1")
            while 'action="/me/information"' in self.page.text:
                self.post("/me/information")
            if judges := JUDGES.search(self.page.text):
                self.post("/me/questions", **{"q-task": html.unescape(judges[1])})
        return self

    def until(self, found, seconds=15.0):
        """Reload the page until it holds this; the page."""
        end = time.monotonic() + seconds
        while found not in self.get().text:
            assert time.monotonic() < end, self.page.text
            time.sleep(0.05)
        return self.page.text

    def asked(self):
        """The next page with a form to answer."""
        return self.until('action="/me/answer"')

    def answer(self, words="I hear you, and I say so.", **more):
        """Answer the form that is shown in any way that is complete."""
        return self.post("/me/answer", **filled(self.page.text, words) | more)


def hidden(text):
    return {name: html.unescape(value) for name, value in HIDDEN.findall(text)}


def filled(text, words="I hear you."):
    """Every field of a form with an answer that it takes."""
    form = text[text.index('action="/me/answer"') :]
    fields, ranks = {}, 0
    for name in dict.fromkeys(FIELD.findall(form)):
        if name in ("key", "csrf", "declined", "language"):
            continue
        if f'<textarea id="f-{name}"' in form or f'name="{name}" rows' in form:
            fields[name] = words
        elif f'id="rank-{name}"' in form:
            ranks += 1
            fields[name] = str(ranks)
        else:
            fields[name] = re.search(rf'name="{name}"[^>]*value="(\d+)"', form)[1]
    return fields


def take_part(browser, words="I hear you, and I say so."):
    """Answer whatever is asked until the end is shown."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        text = browser.get().text
        if "<h1>You have reached the end</h1>" in text:
            return
        if 'action="/me/answer"' in text:
            assert browser.answer(words).status_code == 200, browser.page.text
        time.sleep(0.03)
    raise AssertionError(browser.page.text)


def answers_of(register):
    """Every answer to the researcher's own questions, in the order in which they came."""
    return [dict(row._mapping) for row in register.all(select(ANSWER).order_by(ANSWER.c.given))]
