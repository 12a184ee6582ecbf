"""Every page that somebody can stand on, each with somebody who stands there: for tests that look
at all of them.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from people_site import PLAIN, TABLE, Browser, hall_of, link_for, served, take_part
from rated import codes_online, debates_online, study_of_debates

from delibsim.domain.hosting import HostingQuestion, Limit
from delibsim.models.pool import ModelPool
from delibsim.people.hall import Hall
from delibsim.store.people.register import Register
from delibsim.store.people.schema import Role

TEXTS = replace(
    PLAIN,
    consent="# Consent\n\nI take part, and *may stop* at any time.\n\n- One\n- Two",
    information="We talk **in turn**. [More](https://example.org/more)",
    checks=(
        HostingQuestion(
            "read", "What was said?", options=("In turn", "At once"), right=("In turn",)
        ),
    ),
    attempts=1,
    questions=(
        HostingQuestion("age", "How old are you?", "number", low=16, high=120),
        HostingQuestion("use", "What do you use?", "several", ("Train", "Bus", "Car")),
        HostingQuestion("like", "Do you like it here?", "scale", low=1, high=7),
        HostingQuestion("about", "Tell us about you.", "text", required=False),
    ),
    debriefing="It is *over*. Thank you.",
    completion_code="DONE-1",
    completion_url="https://panel.example/complete",
    contact="us@example.org",
    lobby=Limit(30.0),
    survey=Limit(20.0),
    turn=Limit(10.0),
)  # fmt: skip
GIVEN = {"q-read": "In turn", "q-age": "44", "q-use": "Train", "q-like": "4"}
LONG = "I would begin with those who live near by, because they know the place. " * 20


@dataclass(frozen=True)
class Place:
    """One page: its name, where it is, and the cookies of who stands there, by code in `hall`."""

    name: str
    address: str
    path: str
    cookies: dict = field(default_factory=dict)
    hall: object = None
    code: str = ""


def ready(browser, link):
    """Come in, agree, and answer the checks and questions."""
    browser.enter(link)
    browser.post("/me/questions", **GIVEN)
    return browser


def until_words(browser):
    """Answer until words are asked for in the last round of two."""
    end = time.monotonic() + 60
    spoken = 0
    while time.monotonic() < end:
        text = browser.get().text
        if 'action="/me/answer"' in text:
            if "<textarea" in text:
                spoken += 1
                if spoken == 2:
                    return
            browser.answer(LONG)
        time.sleep(0.03)
    raise AssertionError(browser.page.text)


@contextmanager
def every_page(home):
    """The places of participants, researcher and raters, each on a server that runs until the block ends; `home`
    is the current folder.
    """
    with ExitStack() as stack:
        yield [*_participants(home, stack), *_raters(home, stack)]


def _participants(home, stack):
    first = hall_of(home, models="[person,person,citizen]", hosting=TEXTS)
    address = stack.enter_context(served(first))
    places = [Place("no link", address, "/i/none"), Place("no cookie", address, "/me")]
    places.append(Place("nothing there", address, "/nothing"))
    places.append(Place("link", address, link_for(first)[1]))

    def stand(name, hall, where, act, path="/me"):
        code, link = link_for(hall)
        browser = Browser(where)
        act(browser, link)
        cookies = dict(browser.http.cookies)
        places.append(Place(name, where, path, cookies, hall, code))
        return browser

    stand("consent", first, address, lambda one, link: one.enter(link, consent=False))
    stand("questions", first, address, lambda one, link: one.enter(link))

    def refuses(one, link):
        one.enter(link, consent=False)
        one.post("/me/consent", refuse="1")

    def fails(one, link):
        one.enter(link)
        one.post("/me/questions", **GIVEN | {"q-read": "At once"})

    def withdraws(one, link):
        one.enter(link)
        one.get("/me/withdraw")
        one.post("/me/withdraw")

    stand("refused", first, address, refuses)
    stand("failed checks", first, address, fails)
    stand("withdrawn", first, address, withdraws)
    stand("lobby", first, address, ready)

    asked = hall_of(home, models="[person,person,citizen]", hosting=TEXTS, study="asked")
    where = stack.enter_context(served(asked))
    ada = stand("survey", asked, where, ready)
    stand("waiting", asked, where, ready).asked()
    waits = next(one for one in places if one.name == "waiting")
    _back(waits).answer()
    ada.asked()
    stand("no seat", asked, where, ready)

    settings = ("topic=ccps", "treatment=normative", "rounds=2", "seed=7")
    talk = hall_of(
        home, *settings, models="[person,citizen,citizen,citizen,citizen]", hosting=TEXTS,
        study="talk",
    )  # fmt: skip
    where = stack.enter_context(served(talk, open_here=True))
    until_words(stand("speech", talk, where, ready))
    speech = places[-1]
    places.append(replace(speech, name="leave", path="/me/leave"))
    places.append(replace(speech, name="withdraw", path="/me/withdraw"))

    places += _researcher(where, talk, speech.code, address)

    over = hall_of(home, *TABLE, models="[person,citizen]", hosting=TEXTS, study="over")
    where = stack.enter_context(served(over))
    take_part(stand("end", over, where, ready))
    return places


def _researcher(where, hall, code, closed):
    """The researcher's pages of a hall; at the address `closed` nobody is let in."""
    browser = Browser(where)
    browser.get("/office")
    browser.post("/office/login")
    cookies = dict(browser.http.cookies)
    (session,) = hall.sessions
    paths = {
        "groups": "",
        "group": f"/group?session={session}",
        "people": "/people",
        "person": f"/person?code={code}",
        "raters": "/raters",
        "message": f"/message?session={session}",
        "end of a group": f"/end?session={session}",
    }
    places = [Place("office closed", closed, "/office"), Place("office door", where, "/office")]
    for name, path in paths.items():
        places.append(Place(f"office {name}", where, f"/office{path}", cookies))
    return places


def _back(place):
    """A browser of who stands at a place, with its page loaded."""
    browser = Browser(place.address)
    browser.http.cookies.update(place.cookies)
    browser.get(place.path)
    return browser


def _packs(home):
    """A pack of debates and one of texts to be coded, with their studies."""
    runs = study_of_debates(home)
    debates = runs, debates_online(runs, raters=3, each=2)
    return (debates, "debates"), (codes_online(home, coders=2), "codes")


def _raters(home, stack):
    places = []
    with ThreadPoolExecutor(1) as apart:  # where a browser is driven, an event loop is running
        made = apart.submit(_packs, home).result()
    for (found, task), kind in made:
        hall = Hall(found, Register.of(found, ""), PLAIN, ModelPool(), [])
        where = stack.enter_context(served(hall, holding=False))

        def stand(name, act, path="/rate", hall=hall, where=where, task=task):
            code, link = link_for(hall, role=Role.RATER, task=task)
            browser = Browser(where).enter(link)
            browser.get("/rate")
            for step in act:
                browser.post(step)
            cookies = dict(browser.http.cookies)
            places.append(Place(name, where, path, cookies, hall, code))

        stand(f"{kind} begin", ())
        stand(f"{kind} sheet", ("/rate/begin",))
        if kind == "debates":
            places.append(replace(places[-1], name="rate leave", path="/rate/leave"))
            stand("rate pause", ("/rate/begin", "/rate/pause"))
            stand("rate full", ())
    return places
