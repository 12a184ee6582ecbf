"""Serving people until it is stopped: the pages and the rooms in one process."""

import asyncio
import resource
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager, suppress

from delibsim.conduct.people.erase import keep_promises
from delibsim.conduct.people.hall import Hall
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.conduct.people.rater_rows import Rows, keep_bringing
from delibsim.web.guard import is_loopback
from delibsim.web.people.app import application
from delibsim.web.people.gate import Gate
from delibsim.web.serve import AnnouncingServer, bound, configured

MOST_OPEN = 65_536
KEPT_OPEN = 120
"""Seconds that an idle connection is kept: longer than browsers and proxies keep theirs. They would
else send a form into one that is just being closed.
"""


def serve_people(
    open_hall: Callable[[], Awaitable[Hall]],
    host: str,
    port: int | None,
    hosts: Collection[str],
    proxies: Collection[str],
    told: Callable[[str], None],
    until: Callable[[Hall], Awaitable[None]] | None = None,
    demo: bool = False,
) -> None:
    """Serve until the process is interrupted, or `until` is over; `told` gets the address once it
    can be opened.

    `open_hall` is called within the event loop, to which connections to models belong.
    """
    _open_many()
    made = bound(host, port)
    number = made.getsockname()[1]
    named = f"[{host}]" if ":" in host else host

    async def all_of_it() -> None:
        hall = await open_hall()
        desk = RaterDesk(hall.runs, hall.register)
        alone = is_loopback(host) and not hosts and not proxies
        gate = Gate(application(hall, desk, alone, demo), [host, *hosts], proxies)
        settings = configured(gate, timeout_keep_alive=KEPT_OPEN)
        server = _Server(settings, lambda: told(f"http://{named}:{number}"))
        parts = [
            hall.run(),
            keep_bringing(Rows(desk, hall.runs.lock), told=hall.told),
            keep_promises(hall, desk),
            *([until(hall)] if until else []),
            server.serve(sockets=[made]),
        ]
        tasks = [asyncio.ensure_future(part) for part in parts]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            server.should_exit = True
            for task in tasks[:-1]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            hall.register.close()

    try:
        asyncio.run(all_of_it())
    finally:
        made.close()


def _open_many() -> None:
    """Let this process open as many files and connections as the system lets it, up to MOST_OPEN:
    every page that is open holds a connection, and the usual limit is 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # it stays as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(AnnouncingServer):
    """A server that leaves signals to who called it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield
