"""Which texts are German, and where texts are parted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts, thorough

from delibsim.domain.language import language, parts, prevailing, sentences
from delibsim.scorers.neural import batches


@pytest.mark.parametrize(
    "text",
    [
        "Ich halte das für einen guten Vorschlag, weil er allen nützt.",
        "Wer soll das bezahlen? Die Gemeinde hat kein Geld.",
        "Genau so ist es.",
        "Die App is great, aber die Server sind zu langsam.",
    ],
)
def test_german_is_found(text):
    assert language(text) == "german"


@pytest.mark.parametrize(
    "text",
    [
        "I think this is a good proposal, because it helps all of us.",
        "Who is going to pay for that?",
        "As the mayor of Zürich put it, we all have to do more.",
        "Schadenfreude is not a policy.",
        "Buses run late, roads are loud, schools lack teachers.",
    ],
)
def test_english_is_found(text):
    assert language(text) == "english"


@pytest.mark.parametrize("text", ["", "42", "Ok.", "Tempolimit!", "??? 12:30"])
def test_some_texts_do_not_say(text):
    assert language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Il faut des écoles, et les bus des villes sont en retard.",
        "Es un problema que no tiene solución, es muy caro para todos.",
        "Bättre bussar är bra för alla människor här i landet.",
        "Das ruas do centro, das praças e das escolas, ninguém cuida.",
        "Ik vind dat we in de stad meer bussen nodig hebben, die zijn stil.",
        "Der er for mange biler i byen, og det er dyrt for alle.",
        "Non sono d'accordo: il treno costa troppo e in città non serve.",
        "Yolların gürültüsü çok fazla, üstelik bütün gün sürüyor.",
        "To jest moim zdaniem dobry pomysł, ale kto to zapłaci?",
        "Meidän täytyy rakentaa lisää kouluja, sillä ne ovat täynnä.",
        "Автобус опять опоздал, и никто ничего не делает.",
        "公共汽车总是迟到。",
        "Zgoda, ale nie teraz.",
        "Fahrradweg Bushaltestelle Tempolimit Parkplatz Marktplatz Rathaus Schule Bahnhof Kreuzung",
    ],
)
def test_what_is_plainly_neither_is_unknown(text):
    assert language(text) == "unknown"


def test_a_text_that_does_not_say_follows_the_others():
    assert prevailing(["Ok.", "Das ist gut.", "Das sehe ich auch so.", "That is good."]) == "german"
    assert prevailing(["Ok.", "Das ist gut.", "That is good."]) == "unknown"
    assert prevailing(["Ok.", "That is good."]) == "english"
    assert prevailing(["Das ist gut.", "C'est trop cher.", "Je ne sais pas."]) == "unknown"
    assert prevailing([]) == "unknown"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("One. Two! Three? “Four.” Five", 5),
        ("Dr. Roe met Mr. Poe, i.e. nobody else, at 3 p.m. yesterday.", 1),
        ("Das kostet z. B. 3.5 Mio. Euro.\nUnd das jedes Jahr", 2),
        ("Wait ... what?", 2),
        ("", 1),
    ],
)
def test_sentences(text, n):
    assert len(sentences(text)) == n


@thorough
@given(texts)
def test_sentences_joined_are_the_text(text):
    assert "".join(sentences(text)) == text


@thorough
@given(st.text("ab .,!?\n", max_size=120), st.integers(1, 30))
def test_parts_fit_and_joined_are_the_text(text, most):
    found = parts(text, lambda part: len(part) <= most)
    assert "".join(found) == text
    assert all(len(part) <= most for part in found)


def test_parts_are_whole_sentences_where_those_fit():
    text = "One two three. Four five. Six, seven eight nine ten eleven."
    assert parts(text, lambda part: len(part) <= 26) == [
        "One two three. Four five. ",
        "Six, seven eight nine ten ",
        "eleven.",
    ]
    assert parts(text, lambda part: len(part) <= 100) == [text]


@thorough
@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_batches_hold_everything_once_by_length_and_no_more_than_allowed(lengths, tokens):
    found = list(batches(lengths, tokens))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    assert [lengths[i] for batch in found for i in batch] == sorted(lengths)
    assert all(
        len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= tokens for batch in found
    )
