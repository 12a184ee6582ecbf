"""`delibsim replay`: hold a run again from its log."""

import asyncio

import typer

from delibsim.cli.options import RUNS, Json, RunName, RunsFolder
from delibsim.cli.terminal import echo_json, safe, say
from delibsim.conduct.replay import compare
from delibsim.store.places import run_at

app = typer.Typer(add_completion=False)
LISTED = 40  # differences printed


@app.command()
def replay(run: RunName, root: RunsFolder = RUNS, as_json: Json = False) -> None:
    """Hold a run again from its log alone: no model is asked. Exit code 0 if the run is equal, 4 if
    not.
    """
    runs, session = run_at(run, root)
    verdict, changed = asyncio.run(compare(runs, session))
    if as_json:
        echo_json({"study": runs.study, "session": session, "verdict": verdict, "changed": changed})
    else:
        say(f"{runs.study}/{session}: {verdict}")
        for line in changed[:LISTED]:
            say(f"  {safe(line)}")
    raise typer.Exit(0 if verdict == "equal" else 4)
