"""`delibsim new`: a commented file of one's own to begin with."""

from pathlib import Path

import typer

from delibsim.cli.options import declared
from delibsim.cli.terminal import say, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.drafts import KINDS, write_draft

app = typer.Typer(add_completion=False)


@declared(app, "new", "new")
def new(
    kind: str | None = None,
    name: str | None = None,
) -> None:
    """Write a commented topic, survey, treatment, set of personas or package of a scorer, which
    works as it is, into the folder you are in. Nothing is overwritten. Without arguments, list what
    can be written.
    """
    if kind is None:
        for one, what in KINDS.items():
            say(f"{one:9}  {what}")
        say("next: delibsim new KIND NAME")
        return
    if kind not in KINDS:
        raise unknown("kind of draft", kind, KINDS)
    if name is None:
        raise WrongInput(f"give the {kind} a name: delibsim new {kind} NAME")
    draft = write_draft(kind, name, Path.cwd())
    say(f"written: {shown(draft.path)}; edit it, every line is explained")
    for command in draft.following:
        say(f"next: {command}")
