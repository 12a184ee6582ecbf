"""Rooms of people over real SQLite: whole deliberations, limits, drop-outs, restarts after SIGKILL."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import warm
from fake_provider import FakeProvider
from held_rooms import AT_ONCE, answer, filled, hall_of, held

from delibsim.analysis.individual_change import rows_of
from delibsim.analysis.study.table_of_study import table_of_study
from delibsim.conduct.replay import replay
from delibsim.domain.hosting import Limit
from delibsim.models.person.fields import reply_of
from delibsim.people.desk import PAGES
from delibsim.people.presence import woken
from delibsim.store.people.requests import hand_in
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import RoomState
from delibsim.store.tables.session_rows import SessionRows
from delibsim.store.tables.study_facts import facts_of_study

OF_PEOPLE = (
    "people_seats", "people_stood_in", "stood_in", "people_silent", "answers_absent_pre",
    "answers_absent_post", "answers_stood_in", "turns_absent", "minutes", "people_survey_seconds",
    "people_turn_seconds",
)  # fmt: skip
THREE = "group.models=[person,person,person,citizen,citizen]"


async def test_three_people_and_two_citizens_deliberate_and_the_run_is_as_any_other(tmp_path):
    hall, persons = await hall_of(tmp_path, THREE)
    keys = await held(hall, persons)
    (name,) = hall.runs.sessions()
    run = hall.runs.run(name)
    assert run.status == "complete"
    assert len(run.transcript) == 5
    assert not any(response.missing for response in run.responses)
    assert len(keys) == len(set(keys)) == 3 * 3
    spoken = [one.text for one in run.transcript if "<b>" in one.text]
    assert len(spoken) == 3  # kept word for word; pages show it inert
    assert await replay(hall.runs, name) == hall.runs.run(name)
    exchanges, _ = hall.runs.exchanges(name)
    who = {one["model"]: one["completion"]["model_returned"] for one in exchanges}
    assert who["person"] == "a person"


async def test_two_people_never_share_a_seat_and_the_fullest_room_fills_first(tmp_path):
    hall, persons = await hall_of(
        tmp_path, "group.models=[person,person,citizen]", "group.size=3", people=5
    )
    seats = await asyncio.gather(*(asyncio.to_thread(hall.join, one) for one in persons))
    taken = [seat for seat in seats if seat]
    assert len(taken) == len(set(taken)) == 2
    assert hall.join(persons[seats.index(taken[0])]) == taken[0]


async def test_a_limit_that_binds_leaves_an_answer_missing_with_its_reason(tmp_path):
    limits = replace(AT_ONCE, turn=Limit(0.01, binds=True))
    hall, persons = await hall_of(tmp_path, "group.models=[person,citizen,citizen]", "group.size=3",
                                  hosting=limits, people=1)  # fmt: skip
    task = asyncio.create_task(hall.run())
    hall.join(persons[0])
    for _ in range(1500):
        await asyncio.sleep(0.02)
        view = hall.view(persons[0])
        if view.waits == "over":
            break
        if view.request and not view.request.occasion.startswith("turn"):
            asked = PAGES.validate_json(view.request.page)
            hand_in(hall.register, view.request.key, reply_of(asked, filled(asked)))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    run = hall.runs.run(hall.runs.sessions()[0])
    (silence,) = run.silences
    assert (silence.status, silence.turn.speaker) == ("absent", "Participant 1")
    assert await replay(hall.runs, run.session.id) == run


@pytest.mark.parametrize("drop_out", ["silent", "stand_in"])
async def test_a_seat_that_was_left_is_silent_or_a_model_follows_and_is_marked(tmp_path, drop_out):
    hosting = replace(AT_ONCE, drop_out=drop_out)
    hall, persons = await hall_of(tmp_path, "group.models=[person,person,citizen]", "group.size=3",
                                  hosting=hosting, people=2)  # fmt: skip
    task = asyncio.create_task(hall.run())
    for person in persons:
        hall.join(person)
    hall.leave(persons[1])
    await answer(hall, persons[:1])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    run = hall.runs.run(hall.runs.sessions()[0])
    exchanges, _ = hall.runs.exchanges(run.session.id)
    own = [
        one["completion"] for one in exchanges if one["purpose"]["participant"] == "Participant 2"
    ]
    if drop_out == "silent":
        assert {one["status"] for one in own} == {"absent"}
        assert [one.turn.speaker for one in run.silences] == ["Participant 2"]
        row, items = exported_row(hall.runs), len(run.session.survey.items)
        assert (row["people_silent"], row["people_stood_in"], row["turns_absent"]) == (1, 0, 1)
        assert (row["answers_absent_pre"], row["answers_absent_post"]) == (items, items)
    else:
        assert {one["model_returned"] for one in own} == {"stand-in: citizen"}
        assert run.status == "complete"  # the stand-in had the seat from the beginning
        assert exported_row(hall.runs)["stood_in"] == "Participant 2 by citizen from pre"
    assert await replay(hall.runs, run.session.id) == run


async def test_what_a_stand_in_answers_after_a_person_is_nobodys_answer(tmp_path):
    hosting = replace(AT_ONCE, drop_out="stand_in")
    hall, persons = await hall_of(tmp_path, "group.models=[person,person,citizen]", "group.size=3",
                                  hosting=hosting, people=2)  # fmt: skip
    task = asyncio.create_task(hall.run())
    for person in persons:
        hall.join(person)
    await until_asked(hall, persons[1])
    view = hall.view(persons[1])
    page = PAGES.validate_json(view.request.page)
    assert hand_in(hall.register, view.request.key, reply_of(page, filled(page)))
    hall.watch.tell(view.room.session)
    hall.leave(persons[1])
    await answer(hall, persons[:1])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    run = hall.runs.run(hall.runs.sessions()[0])
    before, after = (run.response(view.seat, phase) for phase in ("pre", "post"))
    items = len(run.session.survey.items)
    assert (len(before.answers), len(after.answers), run.status) == (items, 0, "partial")
    assert {str(why) for why in after.missing.values()} == {"stood_in: by citizen"}
    assert len(run.transcript) == 3  # the others did hear the stand-in
    exchanges, _ = hall.runs.exchanges(run.session.id)
    last = [one["completion"] for one in exchanges if one["purpose"]["participant"] == view.seat]
    assert (last[-1]["status"], last[-1]["text"] != "") == ("ok", True)  # the record keeps it
    assert await replay(hall.runs, run.session.id) == run
    moved = {row.participant: row for row in rows_of(run)}
    assert (moved[view.seat].items, moved[view.seat].note != "") == (0, True)
    row = exported_row(hall.runs)
    assert (row["people_seats"], row["people_stood_in"], row["people_silent"]) == (2, 1, 0)
    turn = next(one.turn for one in run.transcript if one.turn.speaker == view.seat)
    assert row["stood_in"] == f"{view.seat} by citizen from turn {turn.index}"
    assert (row["answers_stood_in"], row["answers_absent_post"]) == (items, 0)
    assert row["people_survey_seconds"] >= 0
    assert row["minutes"] > 0
    (facts,) = facts_of_study(hall.runs)
    assert {name: facts[name] for name in OF_PEOPLE} == {name: row[name] for name in OF_PEOPLE}
    assert table_of(hall.runs)["people_stood_in"] == 1


async def until_asked(hall, person):
    for _ in range(1000):
        await asyncio.sleep(0.02)
        view = hall.view(person)
        if view is not None and view.request is not None:
            return
    raise AssertionError("nobody was asked")


def exported_row(runs):
    (name,) = runs.sessions()
    return next(row for table, row in SessionRows(runs, name).rows() if table == "runs")


def table_of(runs):
    return table_of_study(runs.study, list(facts_of_study(runs)), [], {}, {}).rows.iloc[0]


async def test_nobody_comes_and_what_was_declared_follows(tmp_path):
    hosting = replace(AT_ONCE, nobody_comes="cancel", lobby=Limit(0.001))
    hall, persons = await hall_of(tmp_path, THREE, hosting=hosting)
    await held(hall, persons[:1], until=RoomState.CANCELLED)
    assert hall.view(persons[0]).waits == "cancelled"
    assert not hall.runs.held(hall.runs.sessions()[0]) if hall.runs.sessions() else True


async def test_notes_of_a_debater_are_heard_by_nobody_else(tmp_path):
    hall, persons = await hall_of(tmp_path, "format=debate", "proposition=person", "opposition=citizen",
                                  "treatment=oxford", "procedure.rules.preparation=true", people=1)  # fmt: skip
    await held(hall, persons, seconds=90)
    run = hall.runs.run(hall.runs.sessions()[0])
    notes = [one for one in run.transcript if one.turn.task == "preparation"]
    assert len(notes) == 2
    (person,) = [one.id for one in run.session.participants if one.model == "person"]
    heard = hall.heard(run.session.id, person)
    assert [one.turn.speaker for one in heard if one.turn.task == "preparation"] == [person]
    assert [one for one in heard if one not in notes] == [
        one for one in run.transcript if one not in notes
    ]


SERVER = """
import asyncio, sys
from pathlib import Path
from held_rooms import hall_of, answer
async def main():
    hall, _ = await hall_of(Path(sys.argv[1]), *sys.argv[2:], people=0)
    await hall.run()
asyncio.run(main())
"""


IN_BETWEEN = [
    "group.witnesses=[expert]",
    "procedure.phases=[survey,witnesses,survey,plenary,survey]",
]


@pytest.mark.parametrize(("given", "more"), [(0, []), (1, []), (2, []), (4, []), (3, IN_BETWEEN)])
async def test_killed_in_any_phase_nothing_is_lost_asked_or_paid_twice(tmp_path, given, more):
    """The server is killed after so many answers, and starts again; once within a survey in
    between, which has a seat more to ask.
    """
    async with FakeProvider() as provider:
        model = [f"base_url={provider.base_url}", "limits.longest_wait=0.05"]
        settings = ["group.models=[person,person,local]", "group.size=3", *model, *more]
        hall, persons = await hall_of(tmp_path, *settings, people=2)
        await hall.pool.close()  # this process asks no model
        for person in persons:
            hall.join(person)
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}

        def server():
            return warm.Heard(["-c", SERVER, tmp_path, *settings], tmp_path, environment)

        first, keys = server(), []
        begun = time.monotonic()
        while len(keys) < given or (given == 0 and not rooms_of(hall.register)):
            await asyncio.sleep(0.02)
            assert time.monotonic() - begun < 60
            for person in persons:
                view = hall.view(person)
                if view.request and len(keys) < given:
                    asked = PAGES.validate_json(view.request.page)
                    if hand_in(hall.register, view.request.key, reply_of(asked, filled(asked))):
                        keys.append(view.request.key)
        first.send_signal(signal.SIGKILL)
        first.wait()
        second = server()
        try:
            keys += await answer(hall, persons)
        finally:
            second.kill()
            second.wait()
        (name,) = hall.runs.sessions()
        assert len(keys) == len(set(keys)) == 2 * (4 if more else 3)
        assert hall.runs.status(name) == "complete"
        assert (
            provider.billed <= (5 if more else 3) + 1
        )  # a call in flight when it was killed may have been billed
        assert await replay(hall.runs, name) == hall.runs.run(name)


async def test_a_cancellation_that_comes_together_with_the_event_is_not_lost():
    event = asyncio.Event()
    waiting = asyncio.create_task(woken(event, 60))
    await asyncio.sleep(0)
    event.set()  # what waits is due now, and has not gone on
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_waits_is_woken_by_the_event_or_goes_on_after_its_time():
    event = asyncio.Event()
    begun = time.monotonic()
    assert await woken(event, 0.05) is False
    assert time.monotonic() - begun >= 0.04
    event.set()
    assert await woken(event, 60) is True
