"""A server of raters' pages in a process of its own, to be killed: its address is its first line."""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from people_site import PLAIN

from delibsim.models.pool import ModelPool
from delibsim.people.hall import Hall
from delibsim.people.raters import AnswerWriter, RaterDesk, keep_bringing
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs
from delibsim.web.people.app import application


async def serve(folder, every):
    """Serve the pages of a study, and bring rows into it every so many seconds."""
    runs = Runs.at(Path(folder))
    register = Register.of(runs)
    desk = RaterDesk(runs, register)
    app = application(Hall(runs, register, PLAIN, ModelPool(), []), desk)
    made = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(app, log_level="critical", lifespan="off")
    sys.stdout.write(f"http://127.0.0.1:{made.getsockname()[1]}\n")
    sys.stdout.flush()
    bringing = asyncio.create_task(keep_bringing(AnswerWriter(desk, runs.lock), float(every), 0.5))
    await uvicorn.Server(config).serve([made])
    bringing.cancel()
