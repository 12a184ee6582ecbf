"""Rooms of people without pages: persons answer through the register whatever they are asked."""

import asyncio

from delibsim.domain.hosting import Hosting
from delibsim.models.person.fields import reply_of
from delibsim.people.desk import PAGES
from delibsim.people.dry import prepared_for_people
from delibsim.people.hall import Hall
from delibsim.planning.compose import plan
from delibsim.store.people.persons import add_person
from delibsim.store.people.register import Register
from delibsim.store.people.requests import hand_in
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import RoomState
from delibsim.store.runs import Runs

AT_ONCE = Hosting(consent="I take part.", typing=None)


def filled(asked):
    """Fields as somebody fills them in."""
    given = {field.name: [str(n)] for n, field in enumerate(asked.of("rank"), 1)}
    for n, field in enumerate(asked.of("scale")):
        given[field.name] = [str(field.low + n % (field.high - field.low + 1))]
    for field in asked.of("words"):
        given[field.name] = [
            "I would weigh the reasons of all, <b>and</b> hear who lives there. " * 12
        ]
        given[field.name][0] = " ".join(given[field.name][0].split()[: max(asked.least, 30)])
        given[field.name][0] += "?" * (asked.asking == "question")
    for field in asked.of("choice"):
        given[field.name] = [str(field.options[0].value)]
    return given


async def hall_of(home, *settings, hosting=AT_ONCE, people=3):
    common = ["motion=voting"] if "format=debate" in settings else ["topic=ccps"]
    if "format=debate" not in settings and not any(one.startswith("rounds=") for one in settings):
        common.append("rounds=1")
    planned = plan(["study=hall", *common, *settings], home)
    runs = Runs(planned.root, planned.study)
    pool, held = await prepared_for_people(planned, runs, planned.sessions, lambda line: None)
    register = Register.of(runs)
    hall = Hall(runs, register, hosting, pool, held)
    return hall, [add_person(register, "participant") for _ in range(people)]


async def answer(hall, persons, until=RoomState.OVER, seconds=60, silent=()):
    """People answer whatever they are asked until a room is in a state."""
    keys = []
    for _ in range(seconds * 50):
        await asyncio.sleep(0.02)
        if all(room.state == until for room in rooms_of(hall.register)):
            return keys
        for person in persons:
            view = hall.view(person)
            if view is None or view.request is None or view.seat in silent:
                continue
            reply = reply_of(
                PAGES.validate_json(view.request.page),
                filled(PAGES.validate_json(view.request.page)),
            )
            if hand_in(hall.register, view.request.key, reply):
                keys.append(view.request.key)
                hall.watch.tell(view.room.session)
    raise AssertionError([room.state for room in rooms_of(hall.register)])


async def held(hall, persons, **options):
    task = asyncio.create_task(hall.run())
    try:
        for person in persons:
            assert hall.join(person)
        return await answer(hall, persons, **options)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
