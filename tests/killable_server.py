"""A server of people's pages in a process of its own, to be killed: its address is its first line."""

import sys
from pathlib import Path

from delibsim.people.dry import prepared_for_people
from delibsim.people.hall import Hall
from delibsim.planning.compose import plan
from delibsim.store.people.hosting_files import settled_hosting
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs
from delibsim.web.people.app import serve_people


def serve(home, people, settings):
    """Serve a study of `home`/runs, as `delibsim serve` does, at a free port."""
    planned = plan(settings, home)
    runs = Runs(planned.root, planned.study)
    hosting = settled_hosting(runs, people)
    register = Register.of(runs, "")

    def tell(line):
        sys.stderr.write(f"{line}\n")

    async def open_hall():
        pool, held = await prepared_for_people(planned, runs, planned.sessions, tell)
        return Hall(runs, register, hosting, pool, held, tell)

    def told(address):
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()

    serve_people(open_hall, "127.0.0.1", 0, [], [], told)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
