"""`delibsim compare`: have texts judged in pairs; each of its commands has a module of its own."""

import typer

from delibsim.cli.compare_ask import EPILOG, ask
from delibsim.cli.compare_dimensions import dimensions
from delibsim.cli.compare_export import export
from delibsim.cli.compare_import import import_
from delibsim.cli.compare_online import online
from delibsim.cli.compare_replay import replay
from delibsim.cli.compare_report import report

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Have texts judged two at a time, and see how strong each is."""


app.command()(dimensions)
app.command(epilog=EPILOG)(ask)
app.command()(replay)
app.command()(export)
app.command()(online)
app.command(name="import")(import_)
app.command()(report)
