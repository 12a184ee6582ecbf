"""A whole deliberation in real browsers: three people and two citizens; one drops out, one reloads in
mid-sentence, one comes back on another device; axe finds no fault on any page.
"""

import time
from dataclasses import replace

import pytest
from chromium import fits, found_by_axe
from people_site import PLAIN, hall_of, link_for, served

from delibsim.domain.hosting import HostingQuestion
from delibsim.models.person.browser import A_PERSON

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
HOSTING = replace(
    PLAIN,
    information="We talk *in turn*.",
    questions=(HostingQuestion("age", "How old are you?", "number", low=16, high=120),),
    drop_out="stand_in",
    completion_code="DONE-1",
)
ANSWER = """() => {
  const form = document.querySelector("form.answers"), seen = new Set();
  for (const one of form.querySelectorAll("input[type=radio]")) {
    if (!seen.has(one.name)) { seen.add(one.name); one.checked = true; }
  }
  form.querySelectorAll(".rank input").forEach((one, place) => { one.value = String(place + 1); });
}"""
WIDTHS = (1280, 400, 320)


@pytest.fixture
def said():
    """What pages complain of; nothing, at the end."""
    found = []
    yield found
    assert found == []


def opened(browser, said, width, link, cookies=()):
    context = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True)
    context.add_cookies(list(cookies))
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(link)
    return page


def comes_in(page):
    checked = []
    for button in ("form button.first", "button[name=agree]"):
        checked += found_by_axe(page)
        page.click(f"main {button}" if button.startswith("form") else button)
        page.wait_for_load_state()
    page.fill("#q-age", "44")
    checked += found_by_axe(page)
    assert fits(page)
    page.click("main form button.first")
    page.wait_for_selector("#part")
    return checked + found_by_axe(page)


def test_three_people_and_two_citizens_deliberate_in_browsers(browser, said, tmp_path):
    hall = hall_of(tmp_path, models="[person,person,person,citizen,citizen]", hosting=HOSTING)
    links = [link_for(hall)[1] for _ in range(3)]
    with served(hall) as address:
        pages = [
            opened(browser, said, width, address + link)
            for width, link in zip(WIDTHS, links, strict=True)
        ]
        for page in pages:
            assert comes_in(page) == []
        for page in pages:  # the last seat is taken: the others learn of it by themselves
            page.wait_for_selector("form.answers", timeout=20_000)
            assert found_by_axe(page) == []
            assert fits(page)
        reloaded = moved = left = False
        shown = set()
        end = time.monotonic() + 240
        while time.monotonic() < end:
            over = 0
            for n, page in enumerate(pages):
                page.wait_for_load_state()
                if page.locator(".code, .notice:has-text('You have left')").count():
                    over += 1
                    continue
                if not page.locator("form.answers").count():
                    continue
                if page.locator("textarea").count():
                    if n == 0 and not reloaded:
                        page.fill("textarea", "Half a sen")
                        page.locator(".saved", has_text="Saved").wait_for()
                        page.reload()
                        assert page.locator("textarea").input_value() == "Half a sen"
                        reloaded = True
                    if n == 1 and not moved:
                        cookies = page.context.cookies()
                        page.context.close()
                        pages[1] = page = opened(browser, said, 400, f"{address}/me", cookies)
                        moved = True
                    if n == 2 and not left:
                        page.click("a[href='/me/leave']")
                        assert found_by_axe(page) == []
                        page.click("main form button")
                        left = True
                        continue
                    assert found_by_axe(page) == []
                    assert fits(page)
                    shown.add(page.locator(".statement").count())
                    page.fill("textarea", "I would begin with those who live near by.")
                page.evaluate(ANSWER)
                page.locator("form.answers button.first").click()
            if over == len(pages):
                break
            time.sleep(0.1)
        assert (reloaded, moved, left, over) == (True, True, True, 3)
        assert all(found_by_axe(page) == [] for page in pages)
        assert [page.locator(".code").count() for page in pages] == [1, 1, 0]
        for page in pages:
            page.context.close()
    (session,) = hall.runs.sessions()
    run = hall.runs.run(session)
    reasons = {str(why) for one in run.responses for why in one.missing.values()}
    assert reasons == {f"stood_in: by {HOSTING.stand_in}"}  # what followed the one who left
    assert run.status == "partial"
    assert len(run.transcript) == 5
    exchanges, _ = hall.runs.exchanges(session)
    by = {row["completion"]["model_returned"] for row in exchanges}
    assert A_PERSON in by
    assert "stand-in: citizen" in by


def test_a_person_facilitates_and_another_puts_a_question_to_a_witness(browser, said, tmp_path):
    led = ("group.facilitator=person", "procedure.facilitation=rounds", "group.witnesses=[expert]")
    names = ("procedure.facilitator_names=true", "procedure.questions=2", "rounds=2", "topic=ccps")
    hall = hall_of(tmp_path, *led, *names, models="[person,citizen,citizen]")
    (session,) = hall.sessions
    facilitator = link_for(hall, session=session, seat="Facilitator")[1]
    links = {"facilitator": facilitator, "citizen": link_for(hall)[1]}  # the next free seat
    shown = {"facilitator": "", "citizen": ""}
    with served(hall) as address:
        pages = {who: opened(browser, said, 400, address + link) for who, link in links.items()}
        for page in pages.values():
            page.click("main form button.first")
            page.click("button[name=agree]")
            page.wait_for_selector("#part")
        over, end = set(), time.monotonic() + 120
        while len(over) < 2 and time.monotonic() < end:
            for who, page in pages.items():
                page.wait_for_load_state()
                if "It is over" in page.locator("main").inner_text():
                    over.add(who)
                if who in over or not page.locator("form.answers").count():
                    continue
                shown[who] += page.locator("main").inner_text()
                assert found_by_axe(page) == []
                assert fits(page)
                if page.locator("textarea").count():
                    page.fill("textarea", "Who would pay for it?")
                page.evaluate(ANSWER)
                page.locator("form.answers button.first").click()
            time.sleep(0.1)
        assert over == {"facilitator", "citizen"}, shown
        for page in pages.values():
            page.context.close()
    run = hall.runs.run(session)
    assert run.status == "complete"
    led = [one for one in run.transcript if one.turn.role == "facilitator"]
    assert [one.turn.task for one in led] == ["opening", "round", "closing"]
    assert {one.text for one in led} == {"Who would pay for it?"}
    assert led[0].names
    asked = [one for one in run.speech if one.turn.task == "question"]
    assert "Who would pay for it?" in {one.text for one in asked}
    assert not {one.participant for one in run.responses} & {"Facilitator"}
