"""What the server does beside its pages: withdrawals are carried out, and identities forgotten."""

import asyncio
import time

from delibsim.conduct.people.erase import carry_out, forget_due, rooms_to_end
from delibsim.conduct.people.hall import Hall
from delibsim.conduct.people.rater_desk import RaterDesk

OFTEN = 5.0
"""Seconds between two looks for withdrawals."""
HOUR = 3600.0
"""Seconds between two looks for identities that were kept long enough."""


async def keep_promises(
    hall: Hall, desk: RaterDesk, often: float = OFTEN, hourly: float = HOUR
) -> None:
    """Carry out what is due until this is cancelled. Where it fails it is told, once for each
    reason, and tried again.
    """
    known: set[str] = set()
    looked = -hourly
    while True:
        try:
            waits = await _withdrawals(hall, desk)
            if time.monotonic() - looked > hourly:
                looked = time.monotonic()
                given = hall.runs, hall.register, hall.hosting
                for line in await asyncio.to_thread(forget_due, *given):
                    hall.told(line)
        except Exception as error:  # noqa: BLE001 - the pages must not end with it
            waits = [f"withdrawals wait: {type(error).__name__}: {error}".splitlines()[0]]
        for line in waits:
            if line not in known:
                known.add(line)
                hall.told(line)
        await asyncio.sleep(often)


async def _withdrawals(hall: Hall, desk: RaterDesk) -> list[str]:
    """Carry out withdrawals that are due; what waits, and why."""
    for session in await asyncio.to_thread(rooms_to_end, hall.register):
        if hall.holds(session):
            await hall.withdraw(session)
    given = hall.runs, hall.register, hall.hosting, hall.server
    carried = await asyncio.to_thread(carry_out, *given)
    for session in carried.sessions:
        hall.drop_words(session)
    if carried.told:
        desk.tasks.clear()  # what was read for their pages may hold words that are gone
    for line in carried.told:
        hall.told(line)
    return carried.waits
