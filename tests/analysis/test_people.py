"""What people's values may be shown beside a session, and that all ways to ask agree."""

from dataclasses import replace

import pytest

from delibsim import compose
from delibsim.analysis.human.people import human_value, people_of, reference

PHASES = ("pre", "post", "change")
OF_THE_INSTRUMENT = {"diversity", "diversity_standardised", "opinion_change_c", "opinion_change_p"}


@pytest.fixture
def session(tmp_path):
    """A deliberation on our short form of an instrument that people answered."""
    return compose("topic=ccps", home=tmp_path)


def on(session, survey_id):
    return replace(session, survey=replace(session.survey, id=survey_id))


def test_beside_a_short_form_only_what_is_comparable_between_instruments_is_shown(session):
    people, all_values = people_of(session), reference("ccps")
    assert people["notes"] == dict.fromkeys(OF_THE_INSTRUMENT, "another_instrument")
    for phase in PHASES:
        for measure, value in all_values[phase].items():
            expected = None if measure in OF_THE_INSTRUMENT else value
            assert people[phase][measure] == expected


def test_beside_the_instrument_of_people_everything_is_shown(session):
    people = people_of(on(session, "deliberr.ccps"))
    assert people == reference("ccps") | {"notes": {}}


def test_beside_another_topic_or_survey_nothing_is_shown(session):
    item = replace(session.survey.items[0], text="Another statement.")
    changed = replace(session.survey, items=(item, *session.survey.items[1:]))
    assert people_of(replace(session, survey=changed)) is None
    assert people_of(on(session, "acp")) is None
    asked = replace(session.topic, question="Another question?")
    assert people_of(replace(session, topic=asked)) is None
    assert people_of(replace(session, topic=replace(session.topic, id="tea"))) is None


@pytest.mark.parametrize("survey_id", ["ccps", "deliberr.ccps"])
def test_a_session_and_a_row_of_a_table_are_told_the_same(session, survey_id):
    people = people_of(on(session, survey_id))
    for phase in PHASES:
        for measure, value in people[phase].items():
            assert human_value("ccps", measure, phase, survey_id)[0] == value
