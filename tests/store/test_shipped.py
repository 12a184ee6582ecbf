"""The topics, motions and instruments that are shipped: all there, balanced, and called
unvalidated.
"""

from collections import Counter

import pytest
from cases import cases_of

from delibsim.domain.survey import Motion, Topic
from delibsim.store.instruments.library import Library

CASES = cases_of(__file__)
PREFERENCES = {
    "fnqcj": 5, "uppsala_speaks": 7, "fremantle": 6, "ccps": 7, "zukunft": 7, "energy_futures": 9, "forestera": 7, "auscj": 8,
    "biobanking_wa": 7, "swiss_health": 6, "bep": 7, "acp": 5,
}  # fmt: skip
"""The twelve topics of the benchmark, and how many preferences the real instrument of each has."""


@pytest.fixture
def package(tmp_path):
    """The package alone, as a user without files of their own sees it."""
    return Library(tmp_path)


def entries(package):
    return {id: package.entry(id) for id in package.topics()}


def test_twelve_topics_and_ten_motions_are_shipped(package):
    found = entries(package)
    assert {id for id, entry in found.items() if isinstance(entry, Topic)} == set(PREFERENCES)
    motions = [entry for entry in found.values() if isinstance(entry, Motion)]
    assert Counter(motion.tournament for motion in motions) == {True: 10, False: 3}
    assert set(package.surveys()) == set(PREFERENCES) | {
        id for id in package.surveys() if "." in id
    }


@pytest.mark.parametrize("id", PREFERENCES)
def test_a_topic_has_a_question_a_background_and_a_survey(package, id):
    topic = package.topic(id)
    assert topic.question.endswith("?")
    assert 100 <= len(topic.background.split()) <= 200
    assert package.survey(topic.survey).id == id


@pytest.mark.parametrize(("id", "preferences"), PREFERENCES.items())
def test_an_instrument_is_balanced_as_long_as_the_real_one_and_called_unvalidated(
    package, id, preferences
):
    survey = package.survey(id)
    assert len(survey.considerations) == 20
    assert Counter(item.reverse for item in survey.considerations) == {True: 10, False: 10}
    assert len(survey.preferences) == preferences
    assert [item.id for item in survey.items] == [f"C{k}" for k in range(1, 21)] + [
        f"P{k}" for k in range(1, preferences + 1)
    ]
    assert survey.validated is False
    assert "not validated" in survey.source.lower()
    assert survey.forced_distribution is None


def test_no_two_items_of_an_instrument_say_the_same(package):
    for id in PREFERENCES:
        said = [" ".join(item.text.lower().split()) for item in package.survey(id).items]
        assert len(set(said)) == len(said), id


def test_ten_motions_lie_on_five_themes_two_on_each(package):
    found = [entry for entry in entries(package).values() if isinstance(entry, Motion)]
    motions = [motion for motion in found if motion.tournament]
    assert Counter(motion.theme for motion in motions) == dict.fromkeys(
        ["technology", "environment", "work", "media", "governance"], 2
    )
    assert all(
        motion.text.startswith("This house") and motion.text.endswith(".") for motion in motions
    )
    assert len({motion.text for motion in found}) == 13


@pytest.mark.parametrize(("id", "sense"), CASES["the_ten_motions_have_the_published_sense"])
def test_the_ten_motions_have_the_published_sense(package, id, sense):
    assert sense in package.entry(id).text
    assert package.entry(id).tournament
