"""`delibsim replay`: hold a run again from its log."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.terminal import echo_json, run_at, safe
from delibsim.conduct import replay as replaying
from delibsim.domain.run import Run
from delibsim.models.replay import Diverged
from delibsim.store.codec import Damaged, differences, run_to_plain

app = typer.Typer(add_completion=False)


@app.command()
def replay(
    run: Annotated[
        str,
        typer.Argument(
            help="Folder of the run, or study/session, or a study that has one session."
        ),
    ],
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Hold a run again from its log alone: no model is asked. Exit code 0 if the run is equal, 4 if
    not.
    """
    runs, session = run_at(run, root)
    verdict, changed = "equal", []
    try:
        again = asyncio.run(replaying.replay(runs, session))
        recorded = runs.run(session)
        changed = [] if again == recorded else differences(_plain(recorded), _plain(again))
        verdict = "different" if changed else "equal"
    except Diverged as error:
        verdict, changed = "diverged", str(error).splitlines()
    except Damaged as error:
        verdict, changed = "damaged", [str(error)]
    if as_json:
        echo_json({"study": runs.study, "session": session, "verdict": verdict, "changed": changed})
    else:
        typer.echo(f"{runs.study}/{session}: {verdict}")
        for line in changed[:40]:
            typer.echo(f"  {safe(line)}")
    raise typer.Exit(0 if verdict == "equal" else 4)


def _plain(run: Run) -> dict[str, Any]:
    return {
        key: value
        for key, value in run_to_plain(run).items()
        if key not in ("provenance", "dropped")
    }
