"""The command `delibsim`: finds the module of a command when it is called, and turns errors into
one clear line.
"""

import errno
import os
import signal
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from delibsim.cli.streams import UNREAD, end_streams, flush_streams, prepare_streams
from delibsim.cli.words import as_design, as_settings, numbers_as_settings
from delibsim.domain.errors import WrongInput, told, unknown

COMMANDS = {
    "run": ("run", "Hold one deliberation: delibsim run topic=ccps treatment=normative seed=7"),
    "retry": ("retry", "Hold again the sessions of a study that have no run."),
    "estimate": (
        "estimate",
        "What a run or a sweep will cost, before anything is called: calls, tokens, USD, time.",
    ),
    "power": (
        "power",
        "How many topics and replicates an effect needs, from a pilot or from assumptions.",
    ),
    "preregister": (
        "preregister",
        "Write the plan of a study as a document, before the first call.",
    ),
    "show": (
        "show",
        "Read a run: transcript, answers, who changed, measures; or two beside each other.",
    ),
    "view": ("reader", "Read studies and runs in a browser, or write them as pages to share."),
    "fork": ("fork", "Go on from a turn of a run with something changed, and see the effect."),
    "serve": (
        "serve",
        "Hold sessions with people in their browsers: delibsim serve --demo shows a table at once.",
    ),
    "forks": ("forks", "The forks of a study, and the effects of what each has otherwise."),
    "probe": (
        "probe",
        "Ask the survey after given turns of a run: measures and answers from turn to turn.",
    ),
    "score": ("score", "Score every run of a study and print the measures by condition."),
    "analyze": (
        "analyze",
        "What a study shows: effects with intervals, people beside, in words and one report.",
    ),
    "plot": ("plot", "Draw one figure of a study, or list the figures that it can give."),
    "ratings": (
        "ratings",
        "Have debates rated blind, by language models or people, and analyse the ratings.",
    ),
    "code": ("code", "Code texts by a scheme, and see how far coders agree."),
    "compare": ("compare", "Have texts judged two at a time, and see how strong each is."),
    "summarise": (
        "summarise",
        "One statement for many opinions, at several sizes, by any model or none.",
    ),
    "summaries": (
        "summaries",
        "Look at summaries of opinions: how good they are, and whom they leave out.",
    ),
    "judge": ("judge", "Have summaries judged by language models or people."),
    "people": ("people", "People who take part in a browser: who they are to a study, how far."),
    "texts": (
        "imported_texts",
        "Import texts of your own into a study of texts, and look at them.",
    ),
    "agreement": (
        "agreement",
        "How far coders agree in a table of codes: delibsim agreement codes.csv --levels 0,1,2",
    ),
    "aqua": ("aqua", "Set up the scorer of discourse quality (AQuA), and show what it uses."),
    "status": ("status", "What was held, cut off or damaged in a study, and how its calls ended."),
    "export": ("export", "Write a study as tidy tables (CSV, Parquet) with a codebook."),
    "replay": ("replay", "Hold a run again from its log alone, and say whether it is equal."),
    "verify": (
        "verify",
        "Check a whole study: every run against its record, files against their check sums.",
    ),
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
AS_SETTINGS = {
    "code audit": ("--to",),
    "code report": ("--by", "--tables"),
    "code export": ("--stratify",),
    "code online": ("--stratify",),
    "compare ask": ("--name",),
    "compare export": ("--name",),
    "compare online": ("--name",),
    "compare import": ("--name",),
    "compare report": (
        "--name",
        "--model",
        "--penalty",
        "--threshold",
        "--scale",
        "--order",
        "--bootstrap",
    ),
    "estimate": ("--runs",),
    "fork": ("--insert", "--remove", "--leave", "--join", "--seat", "--runs"),
    "score": ("--column", "--to"),
    "people invite": ("--url", "--expires"),
    "power": ("--correlation",),
    "serve": ("--name", "--trusted-proxy"),
    "summaries report": ("--intervals", "--by", "--summaries", "--judgments"),
    "summaries minorities": ("--by", "--summaries", "--judgments"),
    "summarise": ("--sizes", "--groups", "--name"),
    "texts import": (
        "--question",
        "--kind",
        "--stance",
        "--minority",
        "--author",
        "--example",
    ),
}
"""The options of a command that reach it as settings, because it has others enough of its own."""
NUMBERS = {"summarise": ("--runs", "--draws"), "judge ask": ("--per-summary", "--k")}
"""Those that reach it as settings where their value is a number."""


INTERRUPTED = 130
"""How typer ends a command that an interruption reached where it holds nothing yet."""
NOTHING = 4
"""The exit code where nothing succeeded, or where what was to be said could not be written."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MISNAMED = (errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
"""What the system says of a name that the user gave and that no such file can have."""
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
STOPPED = "Stopped. What was recorded is kept; the same command begins, or goes on from there."


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
        inner = " ".join([str(name), *rest[:1]])
        for option in (*AS_SETTINGS.get(str(name), ()), *AS_SETTINGS.get(inner, ())):
            rest = as_settings(rest, option)
        for option in (*NUMBERS.get(str(name), ()), *NUMBERS.get(inner, ())):
            rest = numbers_as_settings(rest, option)
        if name == "estimate":
            rest = as_settings(rest)
        if name == "power":
            rest = as_design(rest)
        module = import_module(f"delibsim.cli.{COMMANDS[str(name)][0]}")
        import_module("delibsim.store.private").be_a_command()
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
    # Threads of the linear algebra cost more than they save on matrices this small, and the last
    # digit of a sum would depend on how many cores a machine has.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unread = False
    try:
        code = _code()
        unread = flush_streams(stdout)
    except WrongInput as error:
        code = 2
        _complain(f"delibsim: {_without_secrets(str(error))}")
    except OSError as error:
        code = 2 if error.errno in MISNAMED else NOTHING
        _complain(f"delibsim: {_without_secrets(_in_words(error))}")
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        code = 3
        _complain(STOPPED)
    refused = end_streams()
    if refused and code != NOTHING:
        code, unread = NOTHING, False
        _complain(f"delibsim: {_in_words(refused)}")
    sys.exit(UNREAD if unread else code)


def _in_words(error: OSError) -> str:
    """What the system refused, where, and how to mend it."""
    where = f": '{error.filename}'" if error.filename else ""
    number = error.errno or 0
    if number in MISNAMED:
        return f"{error.strerror or error}{where}; name another"
    fault = f"{error.strerror or error}{where}. What was recorded is kept."
    if number in FULL:
        return f"{fault} Free some space, or write elsewhere if the command has --to."
    if number in REFUSED:
        return (
            f"{fault} Ask for the right to read and write there, or write elsewhere if the command"
            " has --to."
        )
    return fault


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

    if sys.stderr is None:  # closed (2>&-)
        return
    if sys.stderr.isatty():
        say(safe(text), err=True)
    else:
        print(safe(text), file=sys.stderr)


def _without_secrets(message: str) -> str:
    """What a message says, but for a key that was given in the place of a name; long values are
    shortened.
    """
    from delibsim.models.clients.faults import scrub, secrets

    return told(scrub(message, secrets()))


if __name__ == "__main__":
    main()
