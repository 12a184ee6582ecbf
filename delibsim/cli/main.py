"""The command `delibsim`: finds the module of a command when it is called, and turns errors into
one clear line.
"""

import errno
import io
import os
import signal
import sys
from importlib import import_module
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from delibsim.cli.commands import COMMANDS, GROUPS, STOPPED, loaded
from delibsim.domain.errors import WrongInput, told, unknown

INTERRUPTED = 130
"""How typer ends a command that an interruption reached where it holds nothing yet."""
NOTHING = 4
"""The exit code where nothing succeeded, or where what was to be said could not be written."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MISNAMED = (errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
"""What the system says of a name that the user gave and that no such file can have."""
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


class Commands(TyperGroup):
    """The commands by name; help for all is printed without importing any of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the groups."""
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by group."""
        for group, about in GROUPS.items():
            rows = [(name, one.help) for name, one in COMMANDS.items() if one.group == group]
            with formatter.section(f"{group} ({about})"):
                formatter.write_dl(rows, col_max=12)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, whose module is imported."""
        import_module("delibsim.store.files").be_a_command()
        return loaded(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to run, and the words behind it."""
        name, *rest = args
        if name not in COMMANDS:
            raise unknown("command", name, [name for name, one in COMMANDS.items() if one.group])
        return name, self.get_command(ctx, name), rest


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
    except typer.TyperException as error:
        code = 2
        _refuse(error)
    except WrongInput as error:
        code = 2
        _complain(f"delibsim: {_without_secrets(str(error))}")
    except OSError as error:
        code = 2 if error.errno in MISNAMED else NOTHING
        _complain(f"delibsim: {_without_secrets(_in_words(error))}")
    except (KeyboardInterrupt, typer.Abort):
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
        return f"{fault} Free some space, or write elsewhere if the command has -o."
    if number in REFUSED:
        return (
            f"{fault} Ask for the right to read and write there, or write elsewhere if the command"
            " has -o."
        )
    return fault


def _code() -> int:
    """Run the command; its exit code."""
    try:
        code = app(prog_name="delibsim", standalone_mode=False)
    except SystemExit as end:  # where nobody reads what is written at once
        code = end.code
    return code if isinstance(code, int) else 0


def _refuse(error: typer.TyperException) -> None:
    """Print why the words of a command cannot be read; where there are none, its help."""
    from delibsim.cli.refusal import in_one_line  # only for errors

    if error.message.startswith("Usage: "):
        typer.echo(error.message, err=True)
    else:
        _complain(f"delibsim: {_without_secrets(in_one_line(error))}")


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


UNREAD = 141
"""The exit code where nobody read the output to its end: what a shell says of SIGPIPE."""


class Readable(io.TextIOWrapper):
    """A stream of text whose reader may leave before the end, as `head` does.

    What is written after that goes nowhere and is no fault: a study that is being held goes on, as
    it does on a full disk. `refused` is then the error.
    """

    unread = False
    refused: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, as far as somebody reads it."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what was kept back, as far as somebody reads it."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            self.unread = True
        else:
            self.refused = error
        # Python writes what is left when it ends, and exits with 120 where it is refused again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def prepare_streams() -> TextIO | None:
    r"""Let stdout and stderr take any text, and their readers leave; the new stdout.

    A character that an encoding does not have (`PYTHONIOENCODING=ascii`) is written as an escape,
    such as \u2019.
    """
    sys.stdout, sys.stderr = _readable(sys.stdout), _readable(sys.stderr)
    return sys.stdout


def flush_streams(stdout: TextIO | None) -> bool:
    """Write out what is left for stdout and stderr; whether somebody stopped reading stdout.

    Where typer writes past `stdout`, it finds that out itself, and puts another stream in its
    place.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it was closed (>&-)
        stream.flush()
    return sys.stdout is not stdout or (isinstance(stdout, Readable) and stdout.unread)


def end_streams() -> OSError | None:
    """Write out what is left for stdout and stderr; the error, where something was refused."""
    refused = None
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
        refused = refused or getattr(stream, "refused", None)
    return refused


def _readable(stream: TextIO) -> TextIO:
    """A stream of the process as one that takes any text; another, such as a test's, as it is."""
    if type(stream) is not io.TextIOWrapper:
        return stream
    stream.flush()
    return Readable(
        stream.buffer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


if __name__ == "__main__":
    main()
