"""`delibsim people`: people who take part in a browser; each command has a module of its own."""

import typer

from delibsim.cli.people_dry import preview, try_out
from delibsim.cli.people_erase import bonus, export, forget, withdraw
from delibsim.cli.people_invite import invite, list_people, password, revoke
from delibsim.cli.people_raters import raters

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """People who take part in a browser: who they are to a study, and how far they are."""


app.command()(preview)
app.command(name="try")(try_out)
app.command()(invite)
app.command(name="list")(list_people)
app.command()(revoke)
app.command()(raters)
app.command()(password)
app.command()(export)
app.command()(bonus)
app.command()(forget)
app.command()(withdraw)
