"""Forms of people in a real browser and over real HTTP: every form on small and large, light and
dark screens, with and without scripts; ranking by keyboard and by drag, what is left of a forced
distribution, drafts that outlive a reload, a double click. Needs Chromium and
`make browser`.
"""

import json
import re
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn
from asked_of_people import prompts
from chromium import fits, found_by_axe
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from delibsim.models.person.fields import Incomplete, reply_of
from delibsim.models.person.questionnaire import questionnaire
from delibsim.prompts.forms.words import WitnessQuestion
from delibsim.web.people.render import (
    ASSETS,
    answers_in,
    asset,
    form_of,
    language,
    render,
    said_of,
    texts_of,
)
from delibsim.web.people.visits import PeopleScreen, fields_in
from delibsim.web.serve import bound

SCREENS = [(1280, "light"), (400, "dark"), (320, "light")]
LARGEST_PAGE = 100_000
HOME = Path(__file__).parents[3]
ASKED = prompts(HOME)
NAMES = sorted(ASKED)
LABELS = r"\b(?:[ABDS]\d{1,2}|C1|WINNER)\b"
in_browser = [pytest.mark.heavy, pytest.mark.timeout(600)]


class Desk:
    """A server of one form a page; it keeps the draft and what was handed in, once."""

    def __init__(self, code="en"):
        self.code, self.drafts, self.given, self.posts = code, {}, {}, 0
        routes = [
            Route("/form/{name}", self.page),
            Route("/rate/answer", self.answer, methods=["POST"]),
            Route("/rate/draft", self.draft, methods=["POST"]),
            Route("/~assets/{name}", self.asset),
        ]
        self.app = PeopleScreen(Starlette(routes=routes))

    async def page(self, request):
        name = request.path_params["name"]
        return self.shown(name, self.drafts.get(name, {}))

    async def answer(self, request):
        fields = await fields_in(request)
        name = fields["key"][0]
        self.posts += 1
        if "declined" in fields:
            self.given.setdefault(name, None)
            return HTMLResponse("<title>declined</title>")
        try:
            reply = reply_of(questionnaire(ASKED[name]), answers_in(fields))
        except Incomplete as faults:
            return self.shown(name, answers_in(fields), faults)
        self.given.setdefault(name, reply)
        return RedirectResponse("/form/label", status_code=303)

    async def draft(self, request):
        fields = await fields_in(request)
        name = fields["key"][0]
        if name in self.given:
            return JSONResponse({}, status_code=409)
        self.drafts[name] = answers_in(fields)
        return JSONResponse({})

    async def asset(self, request):
        name = request.path_params["name"]
        kind = "text/css" if name.endswith("css") else "text/javascript"
        return Response(asset(name), media_type=kind)

    def shown(self, name, draft, faults=None):
        """A page as raters see it, which holds one form and nothing else of weight."""
        words = language(self.code)
        form = form_of(questionnaire(ASKED[name]), name, words, draft, faults)
        page = render(
            "rate.html", words, csrf="c", kind="texts", number=2, of=3, known=False, key=name,
            check=None, number_typed="", faults=said_of(faults, words) if faults else {},
            form=form, texts=texts_of(words),
        )  # fmt: skip
        return HTMLResponse(page, status_code=422 if faults else 200)


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def here(desk):
    """The address of a real server of these forms."""
    made = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(desk.app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, args=[[made]])
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{made.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def filled(page):
    """The fields of a page, each filled in as its page allows; ranks in the order shown."""
    names = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    for name, value in re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)"', page):
        names.setdefault(name, value)
    names |= dict.fromkeys(re.findall(r'<input (?:id="[^"]*" )?name="(\w+)"', page), "61")
    for place, name in enumerate(re.findall(r'<input id="rank-[^"]*" name="(\w+)"', page), 1):
        names[name] = str(place)
    for name in re.findall(r'<textarea[^>]* name="(\w+)"', page):
        names[name] = "Trees <b>cool</b> the streets & people rest below them. " * 12
    return names


@pytest.mark.parametrize("code", ["en", "de", "fr"])
def test_every_form_is_shown_and_handed_in_without_a_script(here, desk, code):
    desk.code = code
    with httpx.Client(base_url=here) as client:
        for name in NAMES:
            page = client.get(f"/form/{name}").text
            assert len(page.encode()) < LARGEST_PAGE
            assert not re.search(r"<script(?! src=)|<style| style=| on\w+=", page)
            fields = filled(page)
            if isinstance(ASKED[name].reply, WitnessQuestion):
                fields["text"] = "Who pays for the trees, and who waters them?"
            if name.startswith("q sort"):
                scale = [f"C{n}" for n in range(7, 0, -1)]
                fields |= dict(zip(scale, "-2 -1 0 0 0 1 2".split(), strict=True))
            answer = client.post("/rate/answer", data=fields)
            assert answer.status_code == 303, (name, answer.text[-3000:])
            ASKED[name].reply.read(desk.given[name])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_is_marked_and_nothing_is_lost(here, desk, name):
    with httpx.Client(base_url=here) as client:
        fields = filled(client.get(f"/form/{name}").text)
        gone = next(one for one in reversed(fields) if one not in ("key", "csrf"))
        rest = {one: value for one, value in fields.items() if one != gone}
        answer = client.post("/rate/answer", data=rest)
        assert answer.status_code == 422
        assert f'id="fault-{gone}"' in answer.text
        assert f'href="#f-{gone}"' in answer.text
        kept = filled_in(answer.text)
        assert kept == {one: value for one, value in rest.items() if one not in ("key", "csrf")}
    assert name not in desk.given


def filled_in(page):
    """What the fields of a page hold."""
    found = dict(re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)" checked', page))
    found |= dict(re.findall(r'<input (?:id="[^"]*" )?name="(\w+)"[^>]* value="([^"]+)"', page))
    for name, text in re.findall(
        r'<textarea[^>]* name="(\w+)"[^>]*>\n(.*?)</textarea>', page, re.S
    ):
        found |= {name: text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")}
    return {name: value for name, value in found.items() if value}


@pytest.fixture
def opened(browser):
    """Opens pages on a screen, and fails where a page complains of anything."""
    contexts, said = [], []

    def open_page(address, width=1280, scheme="light", **options):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


class TestInABrowser:
    pytestmark = in_browser

    def test_no_form_is_wider_than_the_screen_and_everything_is_large_enough_to_touch(
        self, opened, here
    ):
        for width, scheme in SCREENS:
            page = opened("about:blank", width, scheme)
            for name in NAMES:
                page.goto(f"{here}/form/{name}")
                assert fits(page), name
                assert page.title() != "run"
                small = page.evaluate(
                    "[...document.querySelectorAll('button, summary, textarea, .point,"
                    " .choice, input:not([type=radio]):not([type=hidden])')].filter(one =>"
                    " one.offsetParent && (one.offsetHeight < 44 || one.offsetWidth < 40))"
                    ".map(one => one.outerHTML)"
                )
                assert small == [], name

    def test_axe_finds_no_fault(self, opened, here):
        for scheme in ("light", "dark"):
            page = opened("about:blank", 400, scheme, bypass_csp=True)
            for name in NAMES:
                page.goto(f"{here}/form/{name}")
                page.locator(".decline summary").click()
                found = found_by_axe(page)
                assert found == [], name
                page.locator(".decline summary").click()
                page.locator("button.first").click()
                page.wait_for_selector("[role=alert]")
                found = found_by_axe(page)
                assert found == [], name

    def test_a_slider_says_nothing_until_it_was_moved(self, opened, here, desk):
        page = opened(f"{here}/form/stance")
        slider, number = page.locator("input[type=range]"), page.locator("#n-S1")
        page.keyboard.press("Tab")
        slider.focus()
        assert slider.get_attribute("aria-valuetext") == "no answer yet"
        page.locator("button.first").click()
        page.wait_for_selector("#fault-S1")
        assert desk.given == {}
        slider.click()  # in the middle, where it stands unseen
        assert number.input_value() == "50"
        assert slider.get_attribute("aria-valuetext") is None
        assert page.locator(".wrong, [aria-invalid]").count() == 0
        number.fill("")
        assert "unset" in slider.get_attribute("class")
        page.locator("button.first").click()
        page.wait_for_selector("#fault-S1")
        assert desk.given == {}

    def test_a_slider_is_moved_by_mouse_and_keyboard_and_a_number_can_be_typed(
        self, opened, here, desk
    ):
        page = opened(f"{here}/form/ballot", 400)
        first, second = (page.locator(f"#f-{name} input[type=range]") for name in ("A1", "B1"))
        box = first.bounding_box()
        first.click(position={"x": box["width"] - 14, "y": 22})
        assert int(page.locator("#n-A1").input_value()) >= 98
        second.focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        assert page.locator("#n-B1").input_value() == "99"
        page.locator("#n-B1").fill("7")
        assert second.input_value() == "7"
        page.locator("#n-B1").fill("700")
        assert "unset" in second.get_attribute("class")
        assert second.get_attribute("aria-label").startswith("1. Knowledge: how knowledgeable")
        assert second.get_attribute("aria-label").endswith(", Speaker B")
        fields = {field.name for field in questionnaire(ASKED["ballot"]).fields}
        page.locator(".saved", has_text="Saved").wait_for()
        assert desk.drafts["ballot"]["B1"] == ["700"]
        assert set(desk.drafts["ballot"]) <= fields

    def test_a_slider_on_which_a_page_is_moved_keeps_what_it_had(self, opened, here):
        page = opened(f"{here}/form/stance", 400, has_touch=True)
        slider = page.locator("input[type=range]")
        slider.dispatch_event("pointerdown")
        slider.fill("71")
        slider.dispatch_event("pointercancel")
        assert page.locator("#n-S1").input_value() == ""
        assert "unset" in slider.get_attribute("class")

    def test_a_ballot_without_scripts_asks_for_numbers_with_both_ends(self, opened, here, desk):
        page = opened(f"{here}/form/ballot", java_script_enabled=False)
        assert page.locator("input[type=range]").count() == 0
        assert page.locator(".how").first.inner_text().startswith("Type a whole number from 0")
        text = page.locator("#f-A1").inner_text()
        assert "0 not at all" in text
        assert "100 extremely" in text
        page.locator("button.first").click()
        assert page.locator("#fault-A1").is_visible()
        assert "Knowledge, Speaker A" in page.locator("[role=alert]").inner_text()
        assert desk.given == {}

    def test_no_label_of_a_reply_is_shown_to_a_rater(self, opened, here):
        page = opened("about:blank")
        for name in ("stance", "ballot", "verdict", "verdict of two"):
            page.goto(f"{here}/form/{name}")
            page.locator("button.first").click()
            page.wait_for_selector("[role=alert]")
            assert not re.search(LABELS, page.locator("main").inner_text()), name

    def test_options_are_ranked_by_keyboard(self, opened, here):
        page = opened(f"{here}/form/q sort")
        ranks = page.locator("ol.rank input")
        assert [one.input_value() for one in ranks.all()] == ["", "", ""]
        page.locator("#f-P1 button[aria-label^='Move up']").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert page.locator("#rank-P1").input_value() == "1"
        assert page.evaluate("document.activeElement.closest('li').id") == "f-P1"
        assert "now rank 1" in page.locator(".ranks [role=status]").inner_text()
        page.locator("#rank-P1").fill("3")
        page.keyboard.press("Tab")
        order = [one.get_attribute("id") for one in page.locator("ol.rank > li").all()]
        assert order == ["f-P3", "f-P2", "f-P1"]

    def test_the_order_shown_counts_only_when_it_is_kept(self, opened, here):
        page = opened(f"{here}/form/q sort")
        page.locator("button.first").click()
        page.wait_for_selector("#fault-P1")
        page.get_by_role("button", name="Keep the order as it is shown").click()
        values = [one.input_value() for one in page.locator("ol.rank input").all()]
        assert values == ["1", "2", "3"]

    @pytest.mark.parametrize("touch", [False, True])
    def test_options_are_ranked_by_drag(self, opened, here, touch):
        page = opened(f"{here}/form/q sort", 400, has_touch=touch)
        page.locator("#f-P1").scroll_into_view_if_needed()
        last, first = (page.locator(f"#f-{one} .grip").bounding_box() for one in ("P1", "P3"))
        page.mouse.move(last["x"] + 8, last["y"] + 8)
        page.mouse.down()
        for step in range(12):
            there = last["y"] + (first["y"] - 6 - last["y"]) * (step + 1) / 12
            page.mouse.move(last["x"] + 8, there)
        page.mouse.up()
        order = [one.get_attribute("id") for one in page.locator("ol.rank > li").all()]
        assert order == ["f-P1", "f-P3", "f-P2"]
        assert page.locator("#rank-P1").input_value() == "1"

    def test_what_is_left_of_a_forced_distribution_is_counted(self, opened, here):
        page = opened(f"{here}/form/q sort")
        page.locator("input[name=C7][value='2']").check()
        assert page.locator("[data-count='2']").inner_text() == "2 0 / 1"
        page.locator("input[name=C6][value='2']").check()
        assert "2 is given too often" in page.locator(".counts .fault").inner_text()

    def test_a_draft_outlives_a_reload(self, opened, here, desk):
        page = opened(f"{here}/form/hostile")
        page.locator("textarea").fill("Half a sen")
        page.locator(".saved", has_text="Saved").wait_for()
        page.reload()
        assert page.locator("textarea").input_value() == "Half a sen"
        assert page.locator(".counter").inner_text() == "3 words"
        page.locator("textarea").press("End")
        page.keyboard.type("tence")
        page.reload()  # before it was sent
        assert page.locator("textarea").input_value() == "Half a sentence"

    def test_a_double_click_hands_in_once_and_another_tab_is_told(self, opened, here, desk):
        page = opened(f"{here}/form/stance")
        other = page.context.new_page()
        other.goto(f"{here}/form/stance")
        page.locator("#n-S1").fill("7")
        other.locator(".saved", has_text="another tab").wait_for()
        page.locator("button.first").dblclick()
        page.wait_for_url("**/form/label")
        assert desk.posts == 1
        assert desk.given == {"stance": "S1: 7"}
        other.locator("#n-S1").fill("9")
        other.locator(".saved", has_text="handed in already").wait_for()

    def test_a_level_is_hidden_where_the_dimension_does_not_apply(self, opened, here):
        page = opened(f"{here}/form/code")
        page.locator("input[name=applies][value=no]").check()
        assert page.locator("#f-score").is_hidden()
        page.locator("input[name=applies][value=yes]").check()
        assert page.locator("#f-score").is_visible()

    def test_print_shows_what_is_told_and_no_button(self, opened, here):
        page = opened(f"{here}/form/hostile", 794)
        page.emulate_media(media="print")
        assert page.locator(".said").first.is_visible()
        assert page.locator("button:visible").count() == 0


def test_the_assets_are_small():
    sizes = {name: len(asset(name)) for name in ASSETS}
    assert max(sizes.values()) < 30_000, json.dumps(sizes)
