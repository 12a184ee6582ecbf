"""In real browsers: a debate of a person against a model, a rater's ten debates, a coder's sheet, and
somebody who goes on the next day.
"""

import time
from dataclasses import replace

import pytest
from chromium import fits, found_by_axe
from people_site import hall_of, link_for, served
from sqlalchemy import Float

from delibsim.domain.hosting import Hosting, Limit
from delibsim.store.people.rooms import seat_of
from delibsim.store.people.schema import TABLES

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
HOSTING = Hosting(consent="I take part.", information="You read.", typing=None, debriefing="Over.")
DEBATE = ("format=debate", "treatment=oxford", "motion=voting", "opposition=citizen", "seed=7")
SHORT, WITHIN = "Voting is a duty.", "We owe each other a vote. " * 20
FILL = """(words) => {
  const form = document.querySelector("form.answers"), seen = new Set();
  for (const one of form.querySelectorAll("input[type=radio]")) {
    if (!seen.has(one.name)) { seen.add(one.name); one.checked = true; }
  }
  form.querySelectorAll("input[inputmode]").forEach((one) => { one.value = "61"; });
  form.querySelectorAll(".rank input").forEach((one, place) => { one.value = String(place + 1); });
  form.querySelectorAll("textarea").forEach((one) => { one.value = words; });
}"""


@pytest.fixture
def page(browser):
    """A page of a phone; scripts that fail are found at the end."""
    found = []
    context = browser.new_context(viewport={"width": 400, "height": 800}, bypass_csp=True)
    page = context.new_page()
    page.on("pageerror", lambda error: found.append(str(error)))
    yield page
    context.close()
    assert found == []


def faults(page):
    return [*found_by_axe(page), *([] if fits(page) else ["wider than the screen"])]


def comes_in(page, link):
    page.goto(link)
    for button in ("main form button.first", "button[name=agree]", "main form button.first"):
        if page.locator("[name=q-task]").count():
            page.locator("[name=q-task]").first.check()
        page.click(button)
        page.wait_for_load_state()


def through(page, words, done, seconds=200):
    """Answer every form until `done` is shown; how many were handed in."""
    handed_in, end = 0, time.monotonic() + seconds
    while not page.locator(done).count():
        assert time.monotonic() < end, page.content()
        if page.locator("form.answers").count():
            page.evaluate(FILL, words)
            page.locator("form.answers button.first").click()
            page.wait_for_load_state()
            handed_in += 1
        else:
            time.sleep(0.05)
    return handed_in


def test_a_person_debates_a_model_and_a_speech_comes_back(page, tmp_path):
    hall = hall_of(tmp_path, *DEBATE, "proposition=person", models=None, hosting=HOSTING)
    code, link = link_for(hall)
    with served(hall) as address:
        comes_in(page, address + link)
        page.wait_for_selector("textarea", timeout=20_000)
        page.fill("textarea", SHORT)
        page.locator("form.answers button.first").click()
        alert = page.wait_for_selector("[role=alert]")
        assert "comes back" in alert.inner_text()
        assert page.locator("textarea").input_value() == SHORT
        assert "at least 100" in page.locator("#fault-text").inner_text()
        assert faults(page) == []
        through(page, WITHIN, "h1:has-text('You have reached the end')")
    (session,) = hall.runs.sessions()
    run = hall.runs.run(session)
    _, seat = seat_of(hall.register, code)
    own = [one.text for one in run.transcript if one.turn.speaker == seat]
    assert (run.status, len(run.transcript), own) == ("complete", 6, [WITHIN.strip()] * 3)


def a_day_ago(register):
    """Let everything that the register holds have happened a day before."""
    for table in TABLES.sorted_tables:
        times = [one for one in table.columns if isinstance(one.type, Float)]
        moved = {one.name: one - 86_400 for one in times if one.name != "paused"}
        with register.writing() as connection:
            if moved:
                connection.execute(table.update().values(**moved))


def test_who_was_stopped_in_mid_sentence_goes_on_the_next_day(page, tmp_path):
    hosting = replace(HOSTING, turn=Limit(30, binds=True), away=Limit(30, binds=True))
    settings = {"models": "[person,citizen]", "hosting": hosting}
    hall = hall_of(tmp_path, **settings)
    _, link = link_for(hall)
    with served(hall) as address:
        comes_in(page, address + link)
        for _ in range(2):
            page.wait_for_selector("form.answers", timeout=20_000)
            if page.locator("textarea").count():
                break
            page.evaluate(FILL, "")
            page.locator("form.answers button.first").click()
            page.wait_for_selector("textarea", timeout=20_000)
        page.fill("textarea", "Half a sen")
        page.locator(".saved", has_text="Saved").wait_for()
    later = hall_of(tmp_path, **settings)
    a_day_ago(later.register)
    port = int(address.rsplit(":", 1)[1])
    with served(later, port=port):
        page.goto(f"{address}/me")
        page.wait_for_selector("textarea", timeout=20_000)
        assert page.locator("textarea").input_value() == "Half a sen"
        through(page, "I go on.", "h1:has-text('You have reached the end')")
    (session,) = later.runs.sessions()
    run = later.runs.run(session)
    assert (run.status, len(run.transcript)) == ("complete", 2)
    assert not any(one.missing for one in run.responses)
