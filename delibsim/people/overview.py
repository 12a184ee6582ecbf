"""What a researcher sees of a study with people: its groups and seats, who waits, who is stuck."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.hosting import Hosting
from delibsim.people.hall import Hall
from delibsim.store.people.persons import Person, persons
from delibsim.store.people.register import now
from delibsim.store.people.requests import WaitingRequest, open_requests
from delibsim.store.people.rooms import Room, rooms_of
from delibsim.store.people.rooms import Seat as KeptSeat
from delibsim.store.people.schema import Role, RoomState, SeatState, Stage

SEATED, WORKS = "seated", "works"
"""Who has a seat and is not over yet, and who rates: stages that the register does not have."""
NO_SIGN = 180.0
"""Seconds without a sign after which somebody who is awaited counts as stuck."""
ORDER = (RoomState.STOPPED, RoomState.HELD, RoomState.LOBBY, RoomState.OVER, RoomState.CANCELLED)


@dataclass(frozen=True)
class SeatNow:
    """One seat of a group as it stands.

    `model` names the model of a seat that is no person's. `person` is the code of who sits there.
    `occasion` is what the person is asked, "" where nothing waits; `since` when that began, `seen`
    the last sign of her. `stuck` says why she holds the group up: "limit" (asked for longer than
    the limit), "away" (no sign for the time of `away`), "no_sign" (none for three minutes), or "".
    Times are in seconds since 1970.
    """

    name: str
    model: str = ""
    person: str = ""
    state: str = ""
    stand_in: str = ""
    occasion: str = ""
    since: float | None = None
    seen: float | None = None
    stuck: str = ""


@dataclass(frozen=True)
class GroupNow:
    """One session with its seats; `since` is when its state, or its turn, began.

    `turn` is the place of the turn, from 1, of `turns` that are planned; None where unknown.
    """

    session: str
    question: str
    state: str
    detail: str
    since: float | None
    missing: int
    seats: tuple[SeatNow, ...]
    turn: int | None = None
    turns: int | None = None
    speaker: str = ""

    @property
    def stuck(self) -> int:
        """How many of its people hold it up."""
        return sum(bool(seat.stuck) for seat in self.seats)


@dataclass(frozen=True)
class PeopleOverview:
    """The whole study: its groups, those first that need somebody; how many people are at which
    stage; who waits for a seat.
    """

    groups: tuple[GroupNow, ...]
    stages: Mapping[str, int]
    raters: Mapping[str, int]
    unseated: tuple[Person, ...]

    @property
    def over(self) -> int:
        """How many groups are over."""
        return sum(group.state == RoomState.OVER for group in self.groups)

    @property
    def stuck(self) -> int:
        """How many people hold their groups up."""
        return sum(group.stuck for group in self.groups)


def overview(hall: Hall) -> PeopleOverview:
    """The study as it stands by the register; Unavailable where that cannot be read."""
    everybody = persons(hall.register)
    by_code = {one.id: one for one in everybody}
    asked = open_requests(hall.register)
    groups, seated = [], set()
    for room in rooms_of(hall.register):
        seats = _seats(room, hall, by_code, asked)
        seated |= {seat.person for seat in seats if seat.state == SeatState.TAKEN}
        groups.append(_group(room, seats, hall))
    groups.sort(key=lambda one: (not one.stuck, ORDER.index(one.state), one.session))
    stages: Counter[str] = Counter()
    raters: Counter[str] = Counter()
    for one in everybody:
        if one.role == Role.RATER:
            raters[one.stage] += 1
        else:
            stages[stage_of(one, one.id in seated)] += 1
    return PeopleOverview(tuple(groups), stages, raters, _unseated(everybody, groups))


def stage_of(person: Person, seated: bool) -> str:
    """The stage of a person; who is ready has a seat, or works as a rater, or waits for a seat."""
    if person.stage != Stage.READY:
        return person.stage
    if person.role == Role.RATER:
        return WORKS
    return SEATED if seated else Stage.READY


def _unseated(everybody: list[Person], groups: list[GroupNow]) -> tuple[Person, ...]:
    """Who has agreed to take part and has no seat."""
    placed = {seat.person for group in groups for seat in group.seats}
    waits = (Stage.CONSENTED, Stage.READY)
    found = []
    for one in everybody:
        if one.role == Role.PARTICIPANT and one.stage in waits and one.id not in placed:
            found.append(one)
    return tuple(found)


def _group(room: Room, seats: tuple[SeatNow, ...], hall: Hall) -> GroupNow:
    session, talk = hall.sessions.get(room.session), hall.talk(room.session)
    goes = room.state in (RoomState.HELD, RoomState.STOPPED)
    times = {RoomState.LOBBY: room.first or room.opened, RoomState.HELD: talk.since or room.begun}
    return GroupNow(
        session=room.session,
        question=session.topic.question if session else "",
        state=room.state,
        detail=room.detail,
        since=times.get(room.state, room.ended),
        missing=room.missing,
        seats=seats,
        turn=talk.turn if goes else None,
        turns=len(session.planned_turns) if session else None,
        speaker=talk.speaker if goes else "",
    )


def _seats(
    room: Room,
    hall: Hall,
    by_code: Mapping[str, Person],
    asked: Mapping[tuple[str, str], WaitingRequest],
) -> tuple[SeatNow, ...]:
    """The seats of a group in the order of its participants, those of models among them."""
    session = hall.sessions.get(room.session)
    models = {one.id: one.model for one in session.participants} if session else {}
    people = {seat.name: seat for seat in room.seats}
    found = []
    for name in dict.fromkeys([*models, *people]):
        if name not in people:
            found.append(SeatNow(name, model=models[name]))
            continue
        seat, waits = people[name], asked.get((room.session, name))
        found.append(_seat(seat, room, by_code.get(seat.person), waits, hall.hosting))
    return tuple(found)


def _seat(
    seat: KeptSeat,
    room: Room,
    person: Person | None,
    waits: WaitingRequest | None,
    hosting: Hosting,
) -> SeatNow:
    seen = person.seen if person else None
    going = seat.state == SeatState.TAKEN and room.state in RoomState.GOING
    request = waits if going else None
    stuck = _stuck(request, room, seen, hosting) if going and person is not None else ""
    return SeatNow(
        seat.name,
        person=seat.person,
        state=seat.state,
        stand_in=seat.stand_in,
        occasion=request.occasion if request else "",
        since=request.asked if request else None,
        seen=seen,
        stuck=stuck,
    )


def _stuck(request: WaitingRequest | None, room: Room, seen: float | None, hosting: Hosting) -> str:
    """Why a person holds a group up; "" where she does not. Nobody does while models are down."""
    if room.state == RoomState.STOPPED or (request is None and room.state != RoomState.LOBBY):
        return ""
    asked = request.asked if request else room.first or room.opened
    quiet = now() - max(seen or 0.0, asked)
    away = hosting.away.minutes
    if away is not None and quiet > 60 * away:
        return "away"
    if request is not None and _is_late(request, hosting):
        return "limit"
    return "no_sign" if quiet > NO_SIGN else ""


def _is_late(request: WaitingRequest, hosting: Hosting) -> bool:
    limit = hosting.limit(request.occasion)
    if limit.minutes is None:
        return False
    return now() - (request.shown or request.asked) - request.paused > 60 * limit.minutes
