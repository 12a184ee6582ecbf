"""The demonstration over real HTTP: it says what it is, who has no seat watches, and it ends with
the conversation and its measures beside people's.
"""

import re
from dataclasses import replace

import pytest
from people_site import PLAIN, Browser, hall_of, open_link, served

from delibsim.analysis.human.people import reference
from delibsim.cli.serve import DEMO_SETTINGS
from delibsim.conduct.scorers import scorers_of_summary, scores_of
from delibsim.web.people.demo import minutes_of

SETTINGS = [one for one in DEMO_SETTINGS if not one.startswith(("study", "group"))]
SEATS = "[person,citizen,citizen,citizen,citizen]"
PARTS = {"en": "What was measured", "de": "Was gemessen wurde", "fr": "Ce qui a été mesuré"}


@pytest.fixture
def hall(tmp_path):
    return hall_of(tmp_path, *SETTINGS, models=SEATS, hosting=replace(PLAIN, checks=()))


def at_the_table(address, link):
    person = Browser(address)
    person.http.post(link, follow_redirects=False)
    person.get()
    return person


def test_a_demonstration_from_the_link_to_the_measures(hall):
    (session,) = hall.sessions.values()
    link = open_link(hall)
    with served(hall, demo=True) as address:
        watcher, person = Browser(address), at_the_table(address, link)
        page = watcher.get("/demo").text
        assert "The seat is free" in page
        minutes = minutes_of(session)
        assert 10 <= minutes <= 20
        for shown in (page, person.page.text):
            assert "demonstration" in shown
            assert re.search(rf"about (?:<strong>)?{minutes} minutes", shown)
        person.post("/me/consent", agree="1")
        person.asked()
        second = at_the_table(address, link)
        assert second.page.url.path == "/demo"
        assert "The conversation has begun" in second.page.text
        said = "I would begin with those who live near the forest."
        person.answer(said, **varied(person))
        person.asked()
        person.answer(said)
        part = watcher.get("/demo/part").json()
        assert part["waits"] == "wait"
        assert said in person.until(said)
        assert said in watcher.get("/demo").text
        take_part_in_demo(person, said)
        end = watcher.get("/demo").text
        assert person.get().url.path == "/demo"
        assert end.count(said) == 2
        for measure, own, theirs in measured(end):
            check(hall, session, measure, own, theirs)
        record = re.search(r'href="(/demo/run/[^"]+)"', end)[1]
        assert said in watcher.get(record).text
        for code, heading in PARTS.items():
            assert heading in watcher.get(f"/demo?lang={code}").text


def take_part_in_demo(person, words):
    for _ in range(600):
        if person.get().url.path == "/demo":
            return
        if 'action="/me/answer"' in person.page.text:
            assert person.answer(words, **varied(person)).status_code == 200
    raise AssertionError(person.page.text)


def varied(person):
    """Answers to considerations that differ, so that measures are defined."""
    names = dict.fromkeys(re.findall(r'name="(C\d+)"', person.page.text))
    return {name: str(1 + 3 * place % 7) for place, name in enumerate(names)}


def measured(page):
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    assert len(rows) >= 5
    for measure, cells in rows:
        own, theirs = re.findall(r"<td><span>(.*?)</span> <b>(.*?)</b></td>", cells)
        yield measure, own, theirs


def check(hall, session, measure, own, theirs):
    """A row of the page beside the scores of the run and the reference of people."""
    if measure != "Deliberative Reason Index":
        return
    scores = scores_of(hall.runs.run(session.id), scorers_of_summary())
    values = {one.phase: one.value for one in scores if one.measure == "dri"}
    people = reference("ccps")
    assert own[0] == f"{values['pre']:.3f} → {values['post']:.3f}".replace("-", "−")
    assert float(own[1].replace("−", "-")) == pytest.approx(values["change"], abs=6e-4)
    assert theirs[0] == f"{people['pre']['dri']:.3f} → {people['post']['dri']:.3f}"


def test_where_people_are_real_nobody_watches(hall):
    link = open_link(hall)
    with served(hall) as address:
        assert Browser(address).get("/demo").status_code == 404
        assert Browser(address).get("/demo/run/").status_code == 404
        person = at_the_table(address, link)
        person.post("/me/consent", agree="1")
        second = at_the_table(address, link)
        second.post("/me/consent", agree="1")
        assert "All seats are taken" in second.get().text
