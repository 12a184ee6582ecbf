"""The same in a real browser: what Chromium shows of every page, before anything is opened, against
what a model in the same seat is told; on the server's pages as they stand, and in a live session.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from people_site import PLAIN, hall_of, link_for, served
from told_alike import (
    CASES,
    DEBATE,
    MORE,
    check,
    difference,
    form_is_told,
    instructions_of,
    shots_of,
)

from delibsim.domain.hosting import A_PERSON
from delibsim.domain.survey import PHASES
from delibsim.domain.transcript import Turn
from delibsim.models.replay import exchanges_in
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import form_of_turn
from delibsim.web.people.render import ASSETS, asset

WITHIN = "We owe each other a vote. " * 20
FILL = """(words) => {
  const form = document.querySelector("form.answers"), seen = new Set();
  for (const one of form.querySelectorAll("input[type=radio]")) {
    if (!seen.has(one.name)) { seen.add(one.name); one.checked = true; }
  }
  form.querySelectorAll(".rank input").forEach((one, place) => { one.value = String(place + 1); });
  form.querySelectorAll("textarea").forEach((one) => { one.value = words; });
}"""
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
SEEN = """() => {
  const lines = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let block = null;
  const inline = (one) => getComputedStyle(one).display.startsWith("inline") && one.tagName !== "SPAN";
  while (walk.nextNode()) {
    const text = walk.currentNode, own = text.parentElement;
    if (!text.data.trim() || own.closest("noscript, script, style, select, textarea")) continue;
    if (!own.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) continue;
    let above = own;
    while (inline(above) && above.parentElement) above = above.parentElement;
    if (above !== block || text.previousSibling?.nodeName === "BR") lines.push("");
    block = above;
    lines[lines.length - 1] += text.data;
  }
  return lines.map((line) => line.replace(/\\s+/g, " ").trim()).filter(Boolean);
}"""
KINDS = {".css": "text/css", ".js": "text/javascript"}


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    yield page
    context.close()


def pages_in(page, shots):
    """What the browser shows of each of these pages, by their text."""
    found, now = {}, {}

    def answer(route):
        name = route.request.url.rpartition("/")[2]
        if name in ASSETS:
            kind = KINDS[name[name.rindex(".") :]]
            # There is no server to hear news from, as there is in a live session.
            text = "" if name == "live.js" else asset(name).decode()
            route.fulfill(body=text, content_type=kind)
        elif name == "page":
            route.fulfill(body=now["html"], content_type="text/html; charset=utf-8")
        else:
            route.fulfill(status=204)

    page.route("**/*", answer)
    for shot in shots:
        now["html"] = shot.html
        page.goto("http://pages.test/page", wait_until="load")
        found[shot.html] = page.evaluate(SEEN)
    return found


@pytest.mark.parametrize("case", CASES | MORE)
def test_chromium_shows_a_person_what_a_model_is_told(case, page, tmp_path):
    settings = (CASES | MORE)[case]
    shots = apart(shots_of, settings, tmp_path)
    found = pages_in(page, [one for one in shots if one.prompt is not None])
    instructions = instructions_of(settings, tmp_path)
    assert check(shots, instructions, lines_of=lambda shot: found[shot.html])


def apart(make, *given):
    """What is made in a thread: a browser has the event loop of this one."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(make, *given).result()


def live(page, hall, words):
    """The pages of a person who takes part in a browser, by the key of their request: the lines that
    she sees; and the rows of her seat in the record.
    """
    _, link = link_for(hall)
    found = {}
    with served(hall) as address:
        page.goto(address + link)
        for button in ("main form button.first", "button[name=agree]"):
            page.click(button)
            page.wait_for_load_state()
        end = time.monotonic() + 120
        while not page.locator("h1:has-text('You have reached the end')").count():
            assert time.monotonic() < end, page.content()
            if page.locator("form.answers").count():
                key = page.locator("form.answers input[name=key]").input_value()
                found[key] = page.evaluate(SEEN)
                page.evaluate(FILL, words)
                page.locator("form.answers button.first").click()
                page.wait_for_load_state()
            else:
                time.sleep(0.05)
    (session,) = hall.runs.sessions()
    rows, _ = hall.runs.exchanges(session)
    return found, rows


@pytest.mark.parametrize("case", ["normative", "debate"])
def test_so_it_is_in_a_live_session(case, page, tmp_path):
    if case == "normative":
        hall = hall_of(
            tmp_path, "topic=ccps", "treatment=normative", "rounds=2", "seed=7",
            models="[person,citizen]", hosting=PLAIN,
        )  # fmt: skip
    else:
        settings = (*DEBATE, "proposition=person", "opposition=citizen", "seed=7")
        hall = hall_of(tmp_path, *settings, models=None, hosting=PLAIN)
    found, rows = live(page, hall, WITHIN)
    (session,) = hall.sessions.values()
    told = " ".join(session.treatment.instructions.split())
    exchanges, _ = exchanges_in(rows)
    asked = [one for one in exchanges if one.completion.model_returned == A_PERSON]
    assert len(asked) == len(found) == (4 if case == "normative" else 3)
    read = False
    for exchange, lines in zip(asked, found.values(), strict=True):
        turn = Turn(1, 1, exchange.purpose.participant, session.kind.tasks[0])
        surveyed = exchange.purpose.occasion in PHASES
        form = SurveyAnswers(session.survey) if surveyed else form_of_turn(session, turn)
        prompt = Prompt(exchange.messages, form, exchange.purpose)
        only = difference(prompt, lines)
        assert only.people == ()
        assert form_is_told(prompt, lines) == []
        if only.models:
            assert read
            assert " ".join(only.models) == told
            assert any("Your instructions hold now as well" in line for line in lines)
        read = read or told in " ".join(lines)
    assert read
