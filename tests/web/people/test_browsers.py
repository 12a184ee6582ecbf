"""Browsers of people that have a hard time: a slow network, none for an hour, no scripts, a clock
that is off; and every page, on three widths, light and dark, in every language and from right to
left, without a fault that axe finds.
"""

import json
import os
import re
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from chromium import fits, found_by_axe
from people_pages import every_page
from people_site import PLAIN, Browser, hall_of, link_for, served
from sqlalchemy import update

from delibsim.domain.hosting import HostingQuestion, Limit
from delibsim.store.people import hosting_files
from delibsim.store.people.hosting_files import TEXTS, languages
from delibsim.store.people.persons import set_language
from delibsim.store.people.requests import open_request, request_of
from delibsim.store.people.rooms import seat_of
from delibsim.store.people.schema import SEAT
from delibsim.web.people.office import SPOKEN
from delibsim.web.people.render import language

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
"""Milliseconds and bytes a second: 400 kbit/s each way."""
ONE = "[person,citizen,citizen]"
ANSWER = """() => {
  const form = document.querySelector("form.answers"), seen = new Set();
  for (const one of form.querySelectorAll("input[type=radio]")) {
    if (!seen.has(one.name)) { seen.add(one.name); one.checked = true; }
  }
  form.querySelectorAll(".rank input").forEach((one, place) => { one.value = String(place + 1); });
}"""
SHOTS = os.environ.get("SCREENSHOTS", "")
"""A folder for pictures of every page, where somebody wants to look at them."""


@pytest.fixture
def context(browser):
    """Makes contexts; fails where a page complains of anything."""
    made, said = [], []

    def new(**options):
        options = {"viewport": {"width": 400, "height": 800}} | options
        found = browser.new_context(**options)
        found.on("weberror", lambda error: said.append(str(error.error)))
        made.append(found)
        return found

    yield new
    for one in made:
        one.close()
    assert said == []


def comes_in(page, link):
    page.goto(link)
    page.click("main form button.first")
    page.click("button[name=agree]")


def to_words(page, timeout=60_000):
    """Hand in surveys until words are asked for."""
    for _ in range(3):
        page.wait_for_selector("form.answers", timeout=timeout)
        if page.locator("textarea").count():
            return
        page.evaluate(ANSWER)
        with page.expect_navigation(timeout=timeout):
            page.locator("form.answers button.first").click()
    raise AssertionError("no words were asked for")


def test_from_the_link_to_a_speech_on_a_slow_network(context, tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    code, link = link_for(hall)
    with served(hall) as address:
        here = context()
        page = here.new_page()
        here.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
        paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        page.goto(address + link)  # the first page, of which nothing is kept yet
        page.wait_for_timeout(1000)  # a paint is known a moment after it
        paints = [page.evaluate(paint)]
        begun = time.monotonic()
        comes_in(page, address + link)
        to_words(page)
        paints.append(page.evaluate(paint))
        page.fill("textarea", "I would begin with those who live near by.")
        page.locator(".saved", has_text="Saved").wait_for(timeout=60_000)
        request = open_request(hall.register, *seat_of(hall.register, code))
        assert "live near by" in request.draft
        page.locator("form.answers button.first").click()
        page.locator(".statement.own").wait_for(timeout=60_000)
        told = {
            "first paint of the link and of the speech, ms": paints,
            "all, s": time.monotonic() - begun,
        }
        print(json.dumps(told))  # noqa: T201 - figures for docs/people.md, which no test asserts
        assert request_of(hall.register, request.key).status == "ok"


@pytest.mark.parametrize("minutes", [1, 60])
def test_a_network_that_is_gone_for_long_costs_nothing(context, tmp_path, minutes):
    """What is typed meanwhile is kept, said to be so, and sent when the network is back."""
    hall = hall_of(tmp_path, models=ONE)
    code, link = link_for(hall)
    with served(hall) as address:
        here = context()
        page = here.new_page()
        page.clock.install()
        comes_in(page, address + link)
        to_words(page)
        key = open_request(hall.register, *seat_of(hall.register, code)).key
        page.locator("textarea").press_sequentially("Before. ")
        page.clock.run_for(1000)
        page.locator(".saved", has_text="Saved").wait_for()
        here.set_offline(True)
        page.locator("textarea").press_sequentially("While the network was gone. ")
        page.clock.run_for(1000)
        page.locator(".saved", has_text="Not saved yet").wait_for()
        page.clock.fast_forward(minutes * 60_000)
        page.locator("textarea").press_sequentially("An end.")
        page.clock.run_for(2000)
        page.locator(".saved", has_text="Not saved yet").wait_for()
        page.locator("form.answers button.first").click()  # does nothing but keep
        assert page.locator("textarea").input_value().endswith("gone. An end.")
        assert "While" not in request_of(hall.register, key).draft
        here.set_offline(False)
        page.clock.run_for(31_000)
        page.locator(".saved", has_text="Saved").wait_for()
        assert "gone. An end." in request_of(hall.register, key).draft
        page.locator("form.answers button.first").click()
        page.locator(".statement.own", has_text="gone. An end.").wait_for(timeout=20_000)
        assert request_of(hall.register, key).reply == "Before. While the network was gone. An end."


def test_a_stream_goes_on_where_it_was_when_the_network_is_back(context, tmp_path):
    hall = hall_of(tmp_path)
    code, link = link_for(hall)
    with served(hall) as address:
        here = context()
        page = here.new_page()
        asked = []
        page.on("request", lambda one: asked.append(one) if "/me/events" in one.url else None)
        comes_in(page, address + link)
        page.wait_for_selector(".state:has-text('Still missing: 1')")
        session, _ = seat_of(hall.register, code)
        hall.say(session, "The first message.")
        page.wait_for_selector(".notice:has-text('The first message.')")
    page.wait_for_selector(".state:has-text('connection is lost')", timeout=20_000)
    again = hall_of(tmp_path)
    with served(again, port=int(address.rpartition(":")[2])):
        again.say(session, "While it was gone.")
        page.wait_for_selector(".notice:has-text('While it was gone.')", timeout=40_000)
        last = [one.all_headers().get("last-event-id") for one in asked]
        assert last[0] is None
        assert any(one and one.isdecimal() for one in last[1:]), last
        page.close()


@pytest.mark.parametrize("hours", [-7, 7])
def test_a_clock_that_is_off_by_hours_changes_nothing(context, tmp_path, hours):
    limits = replace(PLAIN, survey=Limit(20.0, binds=True), turn=Limit(10.0, binds=True))
    hall = hall_of(tmp_path, models=ONE, hosting=limits)
    _, link = link_for(hall)
    with served(hall) as address:
        page = context().new_page()
        page.clock.install(time=datetime.now(UTC) + timedelta(hours=hours))
        comes_in(page, address + link)
        page.wait_for_selector("form.answers", timeout=20_000)
        assert re.fullmatch(r"19:5\d|20:00", page.locator(".left").inner_text())
        to_words(page)
        assert re.fullmatch(r"9:5\d|10:00", page.locator(".left").inner_text())
        page.fill("textarea", "I would begin with those who live near by.")
        page.locator("form.answers button.first").click()
        page.locator(".statement.own").wait_for(timeout=20_000)


def test_a_browser_without_scripts_from_the_link_to_the_debriefing(context, tmp_path):
    hosting = replace(
        PLAIN,
        information="We talk *in turn*.",
        questions=(HostingQuestion("age", "How old are you?", "number", low=16, high=120),),
        completion_code="DONE-1",
    )
    hall = hall_of(tmp_path, models=ONE, hosting=hosting)
    _, link = link_for(hall)
    with served(hall) as address:
        page = context(java_script_enabled=False, viewport={"width": 320, "height": 700}).new_page()
        page.goto(address + link)
        page.click("main form button.first")
        page.click("button[name=agree]")
        page.fill("#q-age", "44")
        page.click("main form button.first")
        end = time.monotonic() + 120
        while not page.locator(".code").count():
            assert time.monotonic() < end, page.content()
            page.wait_for_selector("form.answers, .code", timeout=30_000)  # it reloads itself
            for item in page.locator("form.answers fieldset.item").all():
                item.locator("input[type=radio]").first.check()
            for place, rank in enumerate(page.locator("form.answers .rank input").all(), 1):
                rank.fill(str(place))
            if page.locator("form.answers textarea").count():
                page.fill("textarea", "I would begin with those who live near by.")
            if page.locator("form.answers").count():
                page.locator("form.answers button.first").click()
        assert page.locator(".code").inner_text().strip().endswith("DONE-1")
        assert page.locator("text=It is over.").count() == 1
    run = hall.runs.run(hall.runs.sessions()[0])
    assert run.status == "complete"
    assert not any(response.missing for response in run.responses)


def test_who_has_no_seat_learns_by_herself_that_something_has_changed(context, tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    taken, (code, link) = link_for(hall)[1], link_for(hall)
    with served(hall) as address:
        Browser(address).enter(taken)
        page = context().new_page()
        page.clock.install()
        comes_in(page, address + link)
        page.wait_for_selector("[data-again]")
        loads = []
        page.on("load", lambda _: loads.append(1))
        with page.expect_response("**/me"):
            page.clock.run_for(21_000)
        assert loads == []
        with hall.register.writing() as connection:  # the other one has never come
            own = {"person": code}
            connection.execute(update(SEAT).where(SEAT.c.person.is_not(None)).values(**own))
        page.clock.run_for(21_000)
        page.wait_for_selector("form.answers", timeout=20_000)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Every page, and beside the languages one that is written from right to left."""
    home = tmp_path_factory.mktemp("pages")
    folder = tmp_path_factory.mktemp("languages")
    for code in languages():
        shutil.copy(TEXTS / f"{code}.yaml", folder)
    english = (TEXTS / "en.yaml").read_text(encoding="utf-8")
    turned = re.sub(r"(?m)^direction:.*$", "direction: rtl", english)
    assert turned != english
    (folder / "ar.yaml").write_text(turned, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setattr(hosting_files, "TEXTS", folder)
        _forget()
        with every_page(home) as found:
            yield found
    _forget()


def _forget():
    """Languages are read once in a process."""
    for one in (languages, language):
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def in_language(place, code):
    """The address of a place, shown in a language."""
    if place.path.startswith("/office"):
        return place.address + place.path  # a cookie says it
    if place.code:
        set_language(place.hall.register, place.code, code)
        return place.address + place.path
    return f"{place.address}{place.path}?lang={code}"


ALL = [(width, scheme) for width in (320, 400, 1280) for scheme in ("light", "dark")]
SOME = [(320, "dark"), (400, "light"), (1280, "light")]


@pytest.mark.parametrize("code", ["en", "de", "fr", "ar"])
def test_no_page_has_a_fault_that_axe_finds_or_is_wider_than_the_screen(context, places, code):
    """In English every width is looked at light and dark, in the others in one of both."""
    found = {}
    for place in places:
        here = context(bypass_csp=True)
        cookies = [
            {"name": name, "value": value, "url": place.address}
            for name, value in place.cookies.items()
        ]
        here.add_cookies([*cookies, {"name": SPOKEN, "value": code, "url": place.address}])
        page = here.new_page()
        page.goto(in_language(place, code))
        assert page.locator("html").get_attribute("lang") == code, place.name
        assert page.locator("html").get_attribute("dir") == ("rtl" if code == "ar" else "ltr")
        for width, scheme in ALL if code == "en" else SOME:
            page.set_viewport_size({"width": width, "height": 800})
            # Without motion colours change at once, and none is seen that is half the one before.
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if SHOTS:
                name = f"{place.name} {code} {width} {scheme}.png".replace(" ", "_")
                page.screenshot(path=os.path.join(SHOTS, name), full_page=True)
            wide = [] if fits(page) else ["wider than the screen"]
            complaints = [*found_by_axe(page), *wide]
            if complaints:
                found[f"{place.name}, {width}, {scheme}"] = complaints
        here.close()
    assert found == {}
