"""A part of a study: by treatment, by any column, by name of a session."""

import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.study_table import selected
from delibsim.domain.errors import WrongInput


@pytest.fixture(scope="module")
def study():
    return synthetic_study(topics=3, models=2, replicates=2)


def test_conditions_of_one_column_add_up_and_those_of_several_are_all_held(study):
    rows = selected(study, ["none", "basic", "topic=topic1", "rounds=2"]).rows
    assert set(rows["treatment"]) == {"basic"}
    assert set(rows["topic"]) == {"topic1"}
    assert len(rows) == 4


def test_a_session_is_chosen_by_its_name(study):
    name = study.rows["session"].iloc[5]
    assert selected(study, sessions=[name]).rows["session"].tolist() == [name]


@pytest.mark.parametrize(
    ("conditions", "sessions", "told"),
    [
        (["normativ"], [], "did you mean normative"),
        (["topic=topic9"], [], "unknown topic 'topic9'"),
        (["none", "rounds=2"], [], "no session is in all of"),
        ([], ["nothing"], "unknown session"),
    ],
)
def test_what_the_study_has_not_is_refused(study, conditions, sessions, told):
    with pytest.raises(WrongInput, match=told):
        selected(study, conditions, sessions)
