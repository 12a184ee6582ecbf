"""People in every format: treatments, networks, personas, a statement of the group, debates."""

import pytest
from held_rooms import hall_of, held

from delibsim.conduct.replay import replay
from delibsim.conduct.score import score_all
from delibsim.domain.errors import WrongInput
from delibsim.store.people.requests import open_request
from delibsim.store.people.rooms import seat_of
from delibsim.store.tables.session_rows import SessionRows

THREE = ("group.models=[person,person,citizen]", "group.size=3")
DEBATE = ("format=debate", "treatment=oxford")


async def check_whole(hall, persons, turns):
    """The run of a room, which scores, replays and exports as any other."""
    await held(hall, persons, seconds=90)
    (name,) = hall.runs.sessions()
    run = hall.runs.run(name)
    assert (run.status, len(run.transcript)) == ("complete", turns)
    assert await replay(hall.runs, name) == run
    assert score_all(hall.runs, ["dri"])[1] == []
    tables = [table for table, _ in SessionRows(hall.runs, name).rows()]
    assert tables.count("runs") == 1
    assert all(open_request(hall.register, *seat_of(hall.register, one)) is None for one in persons)
    return run


@pytest.mark.parametrize(
    ("settings", "turns"),
    [
        (("rounds=3",), 9),
        (("treatment=basic",), 3),
        (("treatment=none",), 0),
        (("persona=values",), 3),
    ],
)
async def test_treatments_rounds_and_personas(tmp_path, settings, turns):
    hall, persons = await hall_of(tmp_path, *THREE, *settings, people=2)
    await check_whole(hall, persons, turns)


async def test_a_seat_hears_its_neighbours_alone_as_a_model_does(tmp_path):
    hall, persons = await hall_of(
        tmp_path,
        "group.models=[person,person,citizen,citizen,citizen]",
        "procedure.audience.network=ring",
        people=2,
    )
    run = await check_whole(hall, persons, 5)
    for person in persons:
        _, seat = seat_of(hall.register, person)
        said = {one.turn.speaker for one in hall.heard(run.session.id, seat)}
        assert seat in said
        assert len(said) == 3  # itself and two neighbours of four


async def test_a_statement_of_the_group_that_people_vote_on(tmp_path):
    hall, persons = await hall_of(tmp_path, *THREE, "consensus=schulze", people=2)
    run = await check_whole(hall, persons, 3)
    assert run.session.mediator == "citizen"
    exchanges, _ = hall.runs.exchanges(run.session.id)
    asked = {(one["purpose"]["participant"], one["purpose"]["occasion"]) for one in exchanges}
    for person in persons:
        assert (seat_of(hall.register, person)[1], "vote 1") in asked


async def test_a_person_cannot_mediate(tmp_path):
    alone = ("group.models=[person,person]", "group.size=2", "consensus=schulze")
    with pytest.raises(WrongInput, match="no page to mediate on"):
        await hall_of(tmp_path, *alone)
    with pytest.raises(WrongInput, match="no page to mediate on"):
        await hall_of(tmp_path, *THREE, "consensus=schulze", "consensus.mediator=person")


@pytest.mark.parametrize(
    ("sides", "people"),
    [
        (("proposition=person", "opposition=citizen"), 1),
        (("proposition=citizen", "opposition=person"), 1),
    ],
)
async def test_a_debater_on_either_side(tmp_path, sides, people):
    hall, persons = await hall_of(tmp_path, *DEBATE, *sides, people=people)
    await check_whole(hall, persons, 6)


LED = ("group.facilitator=person", "procedure.facilitation=rounds", "rounds=2")


async def test_a_person_facilitates_and_names_who_speaks_next(tmp_path):
    names = "procedure.facilitator_names=true"
    hall, persons = await hall_of(tmp_path, "group.size=3", *LED, names, people=1)
    run = await check_whole(hall, persons, 9)
    (session,) = hall.sessions.values()
    assert session.seats_of_people == ["Facilitator"]
    said = [one for one in run.transcript if one.turn.role]
    assert [one.turn.task for one in said] == ["opening", "round", "closing"]
    assert all("weigh the reasons" in one.text for one in said)
    for one, named in ((said[0], 1), (said[1], 5)):
        assert run.transcript[named].turn.speaker == one.names
    assert len(hall.heard(session.id, "Facilitator")) == 9


async def test_people_put_questions_and_speak_in_small_groups_that_others_do_not_hear(tmp_path):
    parts = ("group.witnesses=[expert]", "procedure.questions=3", "procedure.small_groups=2")
    four = ("group.models=[person,person,citizen,citizen]", "group.size=4")
    hall, persons = await hall_of(tmp_path, *four, *parts, people=2)
    run = await check_whole(hall, persons, 7 + 4 + 2 + 4)
    asked = [one for one in run.speech if one.turn.task == "question"]
    assert all("?" in one.text for one in asked)
    for person in persons:
        _, seat = seat_of(hall.register, person)
        own = next(members for members in run.session.small_groups if seat in members)
        heard = hall.heard(run.session.id, seat)
        assert {one.turn.speaker for one in heard if one.turn.group} == set(own)
        assert len(heard) == 7 + 2 + 2 + 4
