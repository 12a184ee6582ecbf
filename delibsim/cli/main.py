"""The command `delibsim`: finds the module of a command when it is called, and turns errors into
one clear line.
"""

import signal
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from delibsim.cli.streams import UNREAD, flush_streams, prepare_streams
from delibsim.cli.words import as_settings, current_words
from delibsim.domain.errors import WrongInput, unknown

COMMANDS = {
    "run": ("run", "Hold one deliberation: delibsim run topic=ccps treatment=normative seed=7"),
    "retry": ("retry", "Hold again the sessions of a study that have no run."),
    "estimate": (
        "estimate",
        "What a run or a sweep will cost, before anything is called: calls, tokens, USD, time.",
    ),
    "preregister": (
        "preregister",
        "Write the plan of a study as a document, before the first call.",
    ),
    "show": ("show", "Read a run: the transcript, and everybody's answers before and after."),
    "score": ("score", "Score every run of a study and print the measures by condition."),
    "ratings": (
        "ratings",
        "Have debates rated blind, by language models or people, and analyse the ratings.",
    ),
    "aqua": ("aqua", "Set up the scorer of discourse quality (AQuA), and show what it uses."),
    "status": ("status", "What was held, cut off or damaged in a study, and how its calls ended."),
    "export": ("export", "Write a study as tidy tables (CSV, Parquet) with a codebook."),
    "replay": ("replay", "Hold a run again from its log alone, and say whether it is equal."),
    "human": ("human", "The measures of real citizen deliberations, before and after."),
    "personas": (
        "personas",
        "Personas from people's answers, or of your own: build, import, show.",
    ),
    "import": ("import_", "Bring in published instruments and answers."),
    "topics": ("topics", "List the topics and motions there are, or print one."),
    "surveys": ("surveys", "List the surveys there are, or print one."),
    "new": (
        "new",
        "Write a topic, survey, treatment, persona or scorer to begin with.",
    ),
}


class Commands(TyperGroup):
    """The commands by name; help for all is printed without importing any of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in that carries the line of help; `resolve_command` loads the real one."""
        if cmd_name not in COMMANDS:
            return None
        stand_in = typer.Typer(add_completion=False)
        stand_in.command(cmd_name, short_help=COMMANDS[cmd_name][1])(lambda: None)
        return get_command(stand_in)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the module of the command that is to run."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise unknown("command", args[0], COMMANDS)
        name, _, rest = super().resolve_command(ctx, args)
        rest, warnings = current_words(str(name), rest)
        for warning in warnings:
            typer.echo(f"warning: {warning}", err=True)
        if name == "estimate":
            rest = as_settings(rest)
        module = import_module(f"delibsim.cli.{COMMANDS[str(name)][0]}")
        return name, _plain(get_command(module.app)), rest


def _plain(command: Any) -> Any:
    """A command whose help is plain text, as that of `delibsim` itself; its own commands too."""
    command.rich_markup_mode = None
    for inner in getattr(command, "commands", {}).values():
        inner.short_help = " ".join((inner.help or "").partition("\n\n")[0].split())  # uncut
        _plain(inner)
    return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # rich and its Markdown would take as long as everything else
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they may hold secrets
    epilog="Exit codes: 0 complete, 2 wrong input, 3 partial, 4 nothing succeeded.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version as version_of  # takes as long as all the rest

        typer.echo(f"delibsim {version_of('delibsim')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        help="Print the version and exit.",
        is_eager=True,
        callback=_print_version,
    ),
) -> None:
    """Hold deliberations among language-model agents, measure them, and replay them."""


def main() -> None:
    """Run the command line; errors a user can mend end in one line on stderr and exit code 2."""
    # A cluster that preempts the job ends it like Ctrl-C: in order, with what was recorded kept.
    # A shell that puts it into the background would have it ignore both.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    stdout = prepare_streams()
    try:
        code = _code()
        unread = flush_streams(stdout)
    except WrongInput as error:
        _complain(f"delibsim: {_without_secrets(str(error))}")
        sys.exit(2)
    except OSError as error:
        fault = f"{error.strerror or error}: {error.filename or ''}"
        _complain(f"delibsim: {_without_secrets(fault)}. What was recorded is kept.")
        sys.exit(4)
    sys.exit(UNREAD if unread else code)


def _code() -> int:
    """Run the command; its exit code."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _complain(text: str) -> None:
    """Print on stderr why the command ends, without characters by which a text could command the
    terminal; on a terminal wrapped between words.
    """
    # Slow to import, and only for errors.
    from delibsim.cli.terminal import safe, say

    if sys.stderr.isatty():
        say(safe(text), err=True)
    else:
        print(safe(text), file=sys.stderr)


def _without_secrets(message: str) -> str:
    """What a message says, but for a key that was given in the place of a name."""
    from delibsim.models.clients.faults import scrub, secrets

    return scrub(message, secrets())


if __name__ == "__main__":
    main()
