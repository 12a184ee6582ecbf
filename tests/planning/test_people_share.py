"""people=SHARE of a sweep: which sessions people hold beside their twins of models."""

from collections import Counter

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.planning.compose import plan

GRID = ("study=both", "topic=ccps,acp", "treatment=none,normative", "model=citizen,citizen_open")


def of_people(sessions):
    return [one for one in sessions if "person" in one.models]


def test_each_condition_has_its_share_beside_the_same_sessions_of_models(tmp_path):
    sessions = plan([*GRID, "replicate=1-10", "people=0.3"], tmp_path, sweep=True).sessions
    alone = plan([*GRID, "replicate=1-10"], tmp_path, sweep=True).sessions
    drawn = of_people(sessions)
    assert [one for one in sessions if one not in drawn] == list(alone)
    conditions = Counter((one.topic.id, one.treatment.name) for one in drawn)
    assert set(conditions.values()) == {3}
    twins = {(one.topic.id, one.treatment.name, one.replicate): one for one in alone}
    for one in drawn:
        twin = twins[one.topic.id, one.treatment.name, one.replicate]
        assert {person.model for person in one.participants} == {"person"}
        assert len(one.participants) == len(twin.participants)
        assert one.seed_for("Participant 1", "pre") == twin.seed_for("Participant 1", "pre")


def test_more_replicates_add_sessions_of_people_and_move_none(tmp_path):
    few, many = (
        plan([*GRID, f"replicate=1-{n}", "people=0.25"], tmp_path, sweep=True) for n in (6, 20)
    )
    first, then = ({one.id for one in of_people(planned.sessions)} for planned in (few, many))
    assert first < then
    assert len(then) == 20
    assert few.manifest.settings["people"] == 0.25


def test_over_seeds_each_session_has_the_chance(tmp_path):
    found = Counter()
    for seed in range(100):
        settings = ["study=s", "topic=ccps", f"seed={seed}", "replicate=1-3", "people=0.4"]
        sessions = of_people(plan(settings, tmp_path, sweep=True).sessions)
        found.update(one.replicate for one in sessions)
    assert all(abs(found[n] / 100 - 0.4) < 0.1 for n in (1, 2, 3))


@pytest.mark.parametrize("share", ["0", "1", "2", "many"])
def test_a_share_is_above_0_and_below_1(tmp_path, share):
    with pytest.raises(WrongInput, match="people=SHARE is the share"):
        plan([*GRID, f"people={share}"], tmp_path, sweep=True)
    with pytest.raises(WrongInput, match="of a sweep"):
        plan(["people=0.5"], tmp_path)
