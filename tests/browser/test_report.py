"""The report in a real browser: no sideways scrolling, nothing fetched, nothing run, axe finds no
fault, in the light and in the dark; figures are shown under the content security policy.
"""

import re
from dataclasses import replace

import pytest
from chromium import fits, found_by_axe
from synthetic_study import synthetic_study

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.report import findings, study_report
from delibsim.analysis.study.study_table import DrawCounts

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
EVIL = "<img src=x onerror=\"document.title='run'\">" + "long" * 40


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A report with every kind of part, and a model with a hostile and very long name."""
    study = synthetic_study(topics=4, models=3, replicates=2)
    study.rows["model"] = study.rows["model"].replace({"model0": EVIL})
    draws = DrawCounts(100, 100, 10)
    found = findings(study, draws)
    return study_report(found, draws).write(tmp_path_factory.mktemp("report") / "report")


@pytest.fixture(params=[(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")])
def shown(request, browser, file):
    """The report on a screen; what the browser complained of, and what it asked for."""
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda one: asked.append(one.url))
    page.goto(file.as_uri())
    yield page, said, asked
    context.close()


def test_the_page_is_never_wider_than_the_screen(shown):
    page, _, _ = shown
    assert fits(page)


def test_nothing_is_fetched_refused_or_run(shown, file):
    page, said, asked = shown
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert page.title().startswith("synthetic")


def test_every_figure_is_shown(shown):
    page, _, _ = shown
    widths = page.evaluate("[...document.images].map(one => one.naturalWidth)")
    assert widths
    assert min(widths) > 100


def test_axe_finds_no_fault(browser, file):
    for scheme in ("light", "dark"):
        # axe is a script, which the policy of the page forbids.
        context = browser.new_context(color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(file.as_uri())
        assert found_by_axe(page) == []
        context.close()


def test_a_long_table_is_printed_as_it_is_shown_and_says_so(browser, file):
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    long = page.locator(".long tbody")
    rows = [long.nth(i).locator("tr") for i in range(long.count())]
    assert len(rows) > 1
    for own in rows:
        assert sum(own.nth(i).is_visible() for i in range(own.count())) == 12 < own.count()
    first = page.locator(".table > label").first
    first.click()
    said = page.locator(".printed")
    assert not any(said.nth(i).is_visible() for i in range(len(rows)))
    page.emulate_media(media="print")
    assert all(rows[0].nth(i).is_visible() for i in range(rows[0].count()))
    assert not said.nth(0).is_visible()
    for i, own in enumerate(rows[1:], 1):
        assert sum(own.nth(n).is_visible() for n in range(own.count())) == 12
        assert (
            said.nth(i).inner_text() == f"12 of {own.count()} rows are printed; the file has all."
        )
        assert said.nth(i).is_visible()
    context.close()


def test_nothing_scrolls_within_the_page_but_tables_sideways_and_they_show_it(shown):
    page, _, _ = shown
    down = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => ['auto', 'scroll'].includes("
        "getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight).length"
    )
    assert down == 0
    cut = page.locator(".scroll").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth)"
        ".map(one => getComputedStyle(one).backgroundImage.split('linear-gradient').length)"
    )
    assert cut
    assert set(cut) == {5}, "covers and shadows of both edges"


def test_a_printed_table_is_no_wider_than_its_page(browser, file):
    inches = 11.69 - 2 * 12 / 25.4
    context = browser.new_context(viewport={"width": int(inches * 96), "height": 700})
    page = context.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    widths = page.locator(".table table").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().width)"
    )
    assert max(widths) <= inches * 96
    context.close()


def test_the_finding_fits_every_screen_and_one_page_of_paper(browser, tmp_path):
    study = synthetic_study(topics=12, models=3, replicates=2)
    study.rows["model"] = study.rows["model"].replace({"model0": EVIL})
    twin = synthetic_study(topics=12, models=1, replicates=2, null=True).rows
    draws = DrawCounts(100, 100, 10)
    report = study_report(findings(replace(study, twin=twin), draws), draws)
    asked = "How should the towns of this country respond to begging by citizens of another union?"
    topics = [Entry(topic.term, asked) for topic in report.finding.topics]
    whole = replace(report, finding=replace(report.finding, topics=topics))
    file = whole.write(tmp_path / "report").with_name("finding.html")
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            page.goto(file.as_uri())
            assert fits(page)
            assert found_by_axe(page) == []
            context.close()
    page = browser.new_page()
    page.goto(file.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    assert page.evaluate("[...document.images].every(one => one.naturalWidth > 100)")
    page.get_by_role("link", name="Effects of treatments").click()
    assert page.url.endswith("report.html#effects")
    page.close()
    drawn = (file.parent / "figures" / "effects.svg").read_text(encoding="utf-8")
    assert 'width="252pt"' in drawn, "89 mm, a column of a journal"
