"""The page for the ethics board: every language, nothing invented, nothing secret, inert."""

import re
import string

import pytest
from people_site import TABLE, hall_of

from delibsim.conduct.people.protection import TEXTS, Facts, protection, texts_in
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting, Question
from delibsim.web.people.protection import protection_page

LANGUAGES = sorted(path.stem for path in TEXTS.glob("*.yaml"))
MIXED = "[person,person,citizen,gpt_5_1,local]"


@pytest.fixture
def facts(tmp_path):
    hosting = Hosting(
        consent="# Consent\n\nI take **part**.",
        questions=(Question("age", "How <b>old</b> are *you*?", "number"),),
        contact="us@example.org",
    )
    hall = hall_of(tmp_path, *TABLE, models=MIXED, hosting=hosting)
    hall.register.close()
    return Facts(hall.runs, hosting, list(hall.sessions.values()), {})


def names_in(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_every_text_with_the_same_values(code):
    english, other = texts_in("en"), texts_in(code)
    assert other.keys() == english.keys()
    for key, text in english.items():
        assert names_in(other[key]) == names_in(text), key
        assert code == "en" or other[key] != text, f"{key} is not translated"


def test_there_is_no_other_language():
    with pytest.raises(WrongInput, match="language 'it'"):
        texts_in("it")


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_page_says_what_is_known_and_marks_what_is_not(facts, code):
    page = protection(facts, code)
    mark = texts_in(code)["mark"]
    assert page.count(f"**{mark}**") == 14
    for known in ("180", "30", "us@example.org", facts.hosting.consent_version, "ccps"):
        assert known in page
    assert "openai" in page
    assert "127.0.0.1" not in page, "the address of a preset is not that of the study"
    assert "{" not in page
    assert "I take **part**." in page
    assert "\n### Consent\n" in page


def test_addresses_that_the_researcher_gives_are_named_without_their_secrets(facts):
    away = {"local": "https://key:word@llm.example.org/v1?token=abc"}
    page = protection(Facts(facts.runs, facts.hosting, facts.sessions, away), "en")
    assert "sent to the address llm.example.org." in page
    assert "word" not in page.replace("words", "")
    assert "abc" not in page
    here = {"local": "http://127.0.0.1:8000/v1"}
    page = protection(Facts(facts.runs, facts.hosting, facts.sessions, here), "en")
    assert "run on this machine (127.0.0.1)" in page


def test_a_database_is_named_without_its_password(facts, monkeypatch):
    monkeypatch.setenv("DELIBSIM_DATABASE_URL", "postgresql://me:hidden@db.example.org/x")
    page = protection(facts, "en")
    assert "PostgreSQL database on db.example.org" in page
    assert "hidden" not in page


def test_each_way_of_withdrawing_is_told(facts):
    kept = Hosting(consent="Yes.", withdrawal="pseudonymise")
    page = protection(Facts(facts.runs, kept, facts.sessions, {}), "en")
    assert "stays under a code" in page
    assert "the whole session is deleted" not in page
    assert "the whole session is deleted" in protection(facts, "en")


def test_as_html_it_fetches_and_runs_nothing(facts):
    page = protection_page(protection(facts, "de"), "de")
    assert page.startswith('<!doctype html>\n<html lang="de">')
    assert "How &lt;b&gt;old&lt;/b&gt; are ∗you∗?" in page
    assert not re.search(r"<(script|link|img|iframe)|src=|url\(", page)
    assert page.count("<strong>AUSZUFÜLLEN:</strong>") == 14
