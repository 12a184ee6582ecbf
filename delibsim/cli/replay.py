"""`delibsim replay`: hold a run again from its log."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, Json, RunName, RunsFolder
from delibsim.cli.terminal import echo_json, safe, say, study_at
from delibsim.conduct.replay import Passage, compare, compare_on_record
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted, study_named
from delibsim.domain.word_differences import AROUND, marked
from delibsim.store.places import run_at
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
LISTED = 40  # differences printed


RECORDED = "Let the recorded answers stand where this version words a prompt otherwise."


@app.command()
def replay(
    run: RunName,
    recorded: Annotated[bool, typer.Option("--recorded", help=RECORDED)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Hold a run again from its log alone: no model is asked. Exit code 0 if the run is equal, 4 if
    not.
    """
    runs, session = _one(run, root)
    reworded: list[Passage] = []
    if recorded:
        verdict, changed, reworded = asyncio.run(compare_on_record(runs, session))
    else:
        verdict, changed = asyncio.run(compare(runs, session))
    if as_json:
        found = {"study": runs.study, "session": session, "verdict": verdict, "changed": changed}
        echo_json(found | ({"reworded": list(map(_plain, reworded))} if recorded else {}))
    else:
        say(f"{runs.study}/{session}: {verdict}{' on recorded prompts' if recorded else ''}")
        for line in changed[:LISTED]:
            say(f"  {safe(line)}")
        if verdict == "diverged" and not recorded:
            say("  replay --recorded lets the recorded answers stand, and shows every such passage")
        for passage in reworded[:LISTED]:
            calls = f"{counted(len(passage.calls), 'prompt')} (first: {passage.calls[0]})"
            say(f"  worded otherwise now in {safe(calls)}:")
            say(f"    {safe(marked(passage.words, AROUND))}")
    raise typer.Exit(0 if verdict == "equal" else 4)


def _one(place: str, root: Path) -> tuple[Runs, str]:
    """The run that is named; WrongInput for a study of several."""
    try:
        return run_at(place, root)
    except WrongInput as error:
        several = ""
        with suppress(WrongInput):
            runs = study_at(place, root)
            if (n := len(runs.sessions())) > 1:
                several = (
                    f"{study_named(runs.study)} has {n} sessions, and one is replayed at a time:"
                    f" {quoted(runs.study)}/SESSION; all: delibsim verify {quoted(place)}"
                )
        raise WrongInput(several or str(error)) from None


def _plain(passage: Passage) -> dict[str, object]:
    words = [[piece.kind, piece.text] for piece in passage.words]
    return {"calls": list(passage.calls), "words": words}
