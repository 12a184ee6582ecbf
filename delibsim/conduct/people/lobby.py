"""The lobby of a room: it begins where all seats are taken, or what was declared follows."""

from delibsim.domain.hosting import Hosting
from delibsim.store.people.register import Register, now
from delibsim.store.people.rooms import (
    CANCELLED,
    FREE,
    HELD,
    LOBBY,
    STOOD_IN,
    Room,
    set_room,
    set_seat,
)


def tend_lobby(register: Register, hosting: Hosting, room: Room) -> None:
    """Begin where all seats are taken; else do what was declared when nobody comes.

    What somebody else did meanwhile stays: another server, or a person who took a seat.
    """
    name = room.session
    if not room.missing:
        set_room(register, name, HELD, of=(LOBBY,))
        return
    limit = hosting.lobby.minutes
    if limit is None or room.first is None or now() - room.first < 60 * limit:
        return
    if hosting.nobody_comes == "cancel":
        set_room(register, name, CANCELLED, "not enough people came", (LOBBY,))
    elif hosting.nobody_comes == "stand_in":
        for seat in room.seats:
            set_seat(register, name, seat.name, STOOD_IN, hosting.stand_in, (FREE,))
        set_room(register, name, HELD, of=(LOBBY,))
