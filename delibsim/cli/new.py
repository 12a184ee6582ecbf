"""`delibsim new`: a commented file of one's own to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.terminal import say, shown
from delibsim.store.drafts import write_draft

app = typer.Typer(add_completion=False)


@app.command()
def new(
    kind: Annotated[str, typer.Argument(help="topic, survey, treatment, persona or scorer.")],
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits, '-' and '_'.")],
) -> None:
    """Write a commented topic, survey, treatment, set of personas or package of a scorer, which
    works as it is, into the folder you are in. Nothing is overwritten.
    """
    draft = write_draft(kind, name, Path.cwd())
    say(f"written: {shown(draft.path)}; edit it, every line is explained")
    for command in draft.following:
        say(f"next: {command}")
