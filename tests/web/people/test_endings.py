"""What a panel gets back: codes by ending, quotas of kinds of people, and what was earned."""

import csv
import threading
from dataclasses import replace
from decimal import Decimal

import pytest
from cases import cases_of
from people_site import PLAIN, Browser, hall_of, link_for, open_link, served, take_part
from sqlalchemy import update

from delibsim.cli.main import main
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import CompletionCode, HostingQuestion, Limit, Quota
from delibsim.store.people.hosting_files import read_hosting
from delibsim.store.people.persons import person_of
from delibsim.store.people.schema import ROOM, SEAT
from delibsim.store.people.tables import Ended, endings

CASES = cases_of(__file__)
SEX = HostingQuestion("sex", "Which are you?", options=("Woman", "Man"))
AGE = HostingQuestion("age", "How old are you?", "number", low=16, high=120)
CODES = {
    "screened_out": CompletionCode("OUT-1", "https://panel.example/out"),
    "timed_out": CompletionCode("LATE-1"),
    "left": CompletionCode("LEFT-1"),
}
HOSTING = replace(
    PLAIN, questions=(SEX, AGE), completion_code="DONE-1", codes=CODES,
    quotas=(Quota("sex", 1, answer="Man"), Quota("age", 2, low=16, high=29)),
)  # fmt: skip


def comes(address, link, sex, age):
    browser = Browser(address).enter(link)
    browser.post("/me/questions", **{"q-sex": sex, "q-age": str(age)})
    return browser.get().text


def test_who_is_over_a_quota_is_screened_out_with_its_code(tmp_path):
    hall = hall_of(tmp_path, models="[person,person,person,person,person]", hosting=HOSTING)
    with served(hall) as address:
        link = open_link(hall)
        first = comes(address, link, "Man", 40)
        second = comes(address, link, "Man", 41)  # a second man
        young = [comes(address, link, "Woman", age) for age in (16, 29, 20)]
        old = comes(address, link, "Woman", 30)
    for page in (first, *young[:2], old):
        assert "Still missing" in page
    for page in (second, young[2]):
        assert "needs no more people" in page
        assert "OUT-1" in page
        assert 'href="https://panel.example/out"' in page
        assert "DONE-1" not in page


def test_a_place_is_free_again_when_somebody_leaves_and_none_is_given_twice(tmp_path):
    hall = hall_of(tmp_path, models="[person,person,citizen]", hosting=HOSTING)
    with served(hall) as address:
        link = open_link(hall)
        man = Browser(address).enter(link)
        man.post("/me/questions", **{"q-sex": "Man", "q-age": "40"})
        man.get()
        man.get("/me/leave")
        assert "LEFT-1" in man.post("/me/leave").text
        pages = []
        threads = [
            threading.Thread(target=lambda: pages.append(comes(address, link, "Man", 50)))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum("OUT-1" in page for page in pages) == 5


@pytest.mark.sqlite  # two studies, of which each needs a database of its own
def test_each_ending_shows_its_own_code(tmp_path):
    hosting = replace(HOSTING, questions=(), quotas=(), nobody_comes="cancel", lobby=Limit(0.01))
    hall = hall_of(tmp_path, models="[person,person]", hosting=hosting)
    code, link = link_for(hall)
    with served(hall) as address:
        text = Browser(address).enter(link).until("LATE-1")
        assert "does not take place" in text
        assert endings(hall.register)[code].ending == "timed_out"
    hall = hall_of(tmp_path, models="[person,citizen]", hosting=HOSTING, study="t")
    hall.hosting = replace(HOSTING, questions=(), quotas=())
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        take_part(browser)
        assert "DONE-1" in browser.get().text
        found = endings(hall.register)[code]
        assert (found.ending, found.statements) == ("done", 1)


def test_without_a_code_of_its_own_a_wait_in_vain_has_that_of_the_end_and_others_none():
    plain = replace(PLAIN, completion_code="DONE-1")
    codes = {name: plain.completion(name).code for name in ("timed_out", "ended", "done")}
    assert set(codes.values()) == {"DONE-1"}
    assert plain.completion("left") == plain.completion("screened_out") == CompletionCode()


def test_what_is_earned_is_the_sum_of_its_declared_parts():
    rules = {
        "done": Decimal("2"), "timed_out": Decimal("0.5"), "statement": Decimal("0.1"),
        "sheet": Decimal("0.3"), "waiting_minute": Decimal("0.05"),
    }  # fmt: skip
    assert Ended("done", 3, 0, 12).earned(rules) == Decimal("2.90")  # 2 + 3 x .10 + 12 x .05
    assert Ended("timed_out", 0, 0, 30).earned(rules) == Decimal("2.00")
    assert Ended("done", 0, 4, 0).earned(rules) == Decimal("3.20")
    assert Ended("left", 1, 0, 0).earned(rules) == Decimal("0.10")
    for nothing in ("", "withdrawn", "declined"):
        assert Ended(nothing, 5, 5, 5).earned(rules) == 0


PEOPLE = """\
consent: I take part.
withdrawal: pseudonymise
typing: null
completion_code: DONE-1
bonus: {done: 2, statement: 0.25, waiting_minute: 0.1}
"""


@pytest.fixture
def over(tmp_path, monkeypatch, capsys):
    """A study in which people of a panel took part, one of whom chose her id with care."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    hosting = read_hosting(tmp_path / "people.yaml", real=True)
    hall = hall_of(tmp_path, models="[person,person]", hosting=hosting)
    (hall.runs.folder / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    with served(hall) as address:
        link = open_link(hall)
        people = []
        for who in ("5f1e", "=HYPERLINK(1)"):
            browser = Browser(address)
            browser.http.post(link, params={"PROLIFIC_PID": who})
            browser.get()
            browser.post("/me/consent", agree="1")
            people.append(threading.Thread(target=take_part, args=[browser]))
        for thread in people:
            thread.start()
        for thread in people:
            thread.join()
        with hall.register.writing() as connection:
            connection.execute(update(SEAT).values(taken=0.0))
            connection.execute(update(ROOM).values(begun=125.0))

    def run(*words):
        monkeypatch.setattr("sys.argv", ["delibsim", "people", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def test_the_bonus_file_has_a_line_for_each_id_and_no_formula(over, tmp_path):
    run = over
    code, out, _ = run("bonus", "s")
    assert code == 0
    assert "2 persons, 4.90 in all" in out
    path = tmp_path / "bonus.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    # 2 for the end, .25 for one turn, .10 for each of two whole minutes
    assert path.read_text(encoding="utf-8") == "5f1e,2.45\n'=HYPERLINK(1),2.45\n"
    assert run("bonus", "s")[0] == 2  # it is there already
    _, out, _ = run("forget", "s", "--all")
    code, out, _ = run("bonus", "s", "-o", "later.csv")
    assert "of 2 persons with a bonus no id of a panel is kept" in " ".join(out.split())


def test_list_and_export_have_ending_code_and_bonus(over, tmp_path):
    run = over
    _, out, _ = run("list", "s", "--json")
    assert out.count('"ending": "done"') == out.count('"completion": "DONE-1"') == 2
    assert out.count('"bonus": "2.45"') == 2
    assert run("export", "s", "-o", "out")[0] == 0
    with (tmp_path / "out" / "persons.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["ending"] for row in rows} == {"done"}
    assert {row["completion_code"] for row in rows} == {"DONE-1"}
    assert {(row["statements"], row["waited"], row["bonus"]) for row in rows} == {
        ("1", "2", "2.45")
    }


@pytest.mark.parametrize(("text", "fault"), CASES["what_nobody_could_fill_or_earn_is_refused"])
def test_what_nobody_could_fill_or_earn_is_refused(text, fault, tmp_path):
    path = tmp_path / "people.yaml"
    questions = "questions:\n- {id: sex, text: S, options: [Woman, Man]}\n"
    questions += "- {id: age, text: A, kind: number}\n"
    questions += "- {id: note, text: N, kind: number, required: false}\n"
    path.write_text(f"consent: Yes.\n{questions}{text}\n", encoding="utf-8")
    with pytest.raises(WrongInput, match=fault):
        read_hosting(path)


def test_a_kind_that_is_not_wanted_is_screened_out_altogether(tmp_path):
    hosting = replace(HOSTING, quotas=(Quota("age", 0, high=17),))
    hall = hall_of(tmp_path, models="[person,person]", hosting=hosting)
    with served(hall) as address:
        code, link = link_for(hall)
        assert "OUT-1" in comes(address, link, "Man", 17)
        assert person_of(hall.register, code).stage == "over_quota"
        assert endings(hall.register)[code].ending == "screened_out"
        assert "Still missing" in comes(address, link_for(hall)[1], "Man", 18)
