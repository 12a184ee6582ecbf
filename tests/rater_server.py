"""A server of raters' pages in a process of its own, to be killed: its address is its first line."""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.conduct.people.rater_rows import Rows, keep_bringing
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs
from delibsim.web.people.raters import Rater, RaterPages
from delibsim.web.people.render import language


async def serve(folder, task, every):
    """Serve the pages of a task, and bring rows into the study every so many seconds."""
    runs = Runs.at(Path(folder))
    desk = RaterDesk(runs, Register.of(runs))

    def known(request):
        name = request.cookies.get("who")
        return Rater(name, task, language("en"), "c" * 32) if name else None

    pages = RaterPages(desk, known, "us@example.org", lambda person: None)
    made = socket.create_server(("127.0.0.1", 0), backlog=2048)
    app = Starlette(routes=pages.routes())
    config = uvicorn.Config(app, log_level="critical", lifespan="off")
    sys.stdout.write(f"http://127.0.0.1:{made.getsockname()[1]}\n")
    sys.stdout.flush()
    bringing = asyncio.create_task(keep_bringing(Rows(desk, runs.lock), every, 0.5))
    await uvicorn.Server(config).serve([made])
    bringing.cancel()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], float(sys.argv[3])))
