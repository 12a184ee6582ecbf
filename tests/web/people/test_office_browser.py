"""The researcher's page in a real browser: it renews itself, keyboard and axe, 1280 and 400 pixels."""

from dataclasses import replace

import pytest
from chromium import fits, found_by_axe
from people_site import PLAIN, Browser, hall_of, link_for, served

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]


def is_fine(page):
    """No fault by axe, and nothing beside the window."""
    assert found_by_axe(page) == [], page.url
    assert fits(page), page.url


@pytest.mark.parametrize("width", [1280, 400])
def test_the_researcher_works_through_a_study_in_a_browser(browser, tmp_path, width):
    hosting = replace(PLAIN, drop_out="stand_in")
    hall = hall_of(tmp_path, hosting=hosting)
    people = [link_for(hall) for _ in range(2)]
    faults = []
    with served(hall, open_here=True) as address:
        context = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{address}/office")
        is_fine(page)
        page.click("main form button.first")
        page.wait_for_selector(".mark.lobby")
        is_fine(page)
        page.focus(".group h3 a")
        persons = [Browser(address).enter(link) for _, link in people]
        page.wait_for_selector(".mark.held", timeout=20_000)  # nobody has loaded the page again
        page.wait_for_selector(f"code:has-text('{people[0][0]}')")
        assert page.evaluate("document.activeElement.matches('.group h3 a')")  # the focus is kept
        page.keyboard.press("Enter")
        page.wait_for_selector("a[href^='/office/end']")
        is_fine(page)
        page.click("a[href^='/office/message']")
        is_fine(page)
        page.fill("textarea", "Please take your time.")
        page.click("main form button.first")
        page.wait_for_selector(".acts li:has-text('Please take your time.')")
        assert "Please take your time." in persons[0].get().text
        page.click(f"a[href='/office/person?code={people[0][0]}']")
        is_fine(page)
        page.click("form[action='/office/seat'] button")
        page.wait_for_selector(".notice:has-text('The seat is taken away.')")
        for path in ("people", "raters"):
            page.goto(f"{address}/office/{path}")
            is_fine(page)
        page.goto(f"{address}/office")
        page.click(".group h3 a")
        page.wait_for_selector(".seats li:has-text('stood in by citizen')")
        page.click("a[href^='/office/end']")
        is_fine(page)
        page.click("form[action='/office/end'] button")
        page.wait_for_selector(".mark.cancelled")
        is_fine(page)
        assert "ended by the researcher" in persons[1].get().text
        page.click("form[action='/office/logout'] button")
        page.wait_for_selector("form[action='/office/login']")
        context.close()
    assert faults == []
