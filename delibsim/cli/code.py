"""`delibsim code`: code texts by a scheme; each of its commands has a module of its own."""

import typer

from delibsim.cli.code_ask import EPILOG, ask
from delibsim.cli.code_audit import EPILOG as AUDIT_EPILOG
from delibsim.cli.code_audit import audit
from delibsim.cli.code_export import export
from delibsim.cli.code_import import import_
from delibsim.cli.code_online import online
from delibsim.cli.code_replay import replay
from delibsim.cli.code_report import report
from delibsim.cli.code_review import review
from delibsim.cli.code_schemes import schemes

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Code texts by a scheme, and see how far coders agree."""


app.command()(schemes)
app.command(epilog=EPILOG)(ask)
app.command()(replay)
app.command()(export)
app.command()(online)
app.command(name="import")(import_)
app.command()(review)
app.command(epilog=AUDIT_EPILOG)(audit)
app.command()(report)
