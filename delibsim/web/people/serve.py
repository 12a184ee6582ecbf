"""Serving people until it is stopped: the pages and the rooms in one process."""

import asyncio
from collections.abc import Callable, Collection

import uvicorn

from delibsim.conduct.people.hall import Hall
from delibsim.web.people.app import application
from delibsim.web.people.gate import Gate
from delibsim.web.serve import AnnouncingServer, bound


def serve_people(
    hall: Hall,
    host: str,
    port: int | None,
    hosts: Collection[str],
    proxies: Collection[str],
    told: Callable[[str], None],
) -> None:
    """Serve until the process is interrupted; `told` gets the address once it can be opened."""
    made = bound(host, port)
    number = made.getsockname()[1]
    named = f"[{host}]" if ":" in host else host
    gate = Gate(application(hall), [host, *hosts], proxies)
    settings = uvicorn.Config(
        gate,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = AnnouncingServer(settings, lambda: told(f"http://{named}:{number}"))

    async def both() -> None:
        holding = asyncio.create_task(hall.run())
        serving = asyncio.create_task(server.serve(sockets=[made]))
        done, _ = await asyncio.wait({holding, serving}, return_when=asyncio.FIRST_COMPLETED)
        holding.cancel()
        server.should_exit = True
        await asyncio.gather(holding, serving, return_exceptions=True)
        for task in done:
            if not task.cancelled() and task.exception() is not None:
                raise task.exception() or RuntimeError("the server ended")

    try:
        asyncio.run(both())
    finally:
        made.close()
        hall.register.close()
