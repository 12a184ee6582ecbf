"""The five commands of a kind of asking, each here once: ask, handout, collect, replay, report."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import typer

from delibsim.asking.nouns import Plan
from delibsim.asking.people import Online
from delibsim.asking.road import replay as computed_again
from delibsim.cli.asking import Asked, Call, Handed, Handing, Kind
from delibsim.cli.options import RUNS, Words, explain
from delibsim.cli.settings import told
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, say, shown
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, plural_of, quoted
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs

HELP = read_yaml(Path(__file__).parent.parent / "data" / "asking.yaml")
"""What the help of every command says."""
LISTED = 40
"""How many differences of a replay are printed."""


def commands_of(kind: Kind) -> typer.Typer:
    """The commands of a kind: those of which data/asking.yaml has a help."""
    about = HELP[kind.command]
    app = typer.Typer(add_completion=False, no_args_is_help=True, help=about["about"])
    made = {"ask": ask, "handout": handout, "collect": collect, "replay": replay, "report": report}
    for name, function in made.items():
        if name in about:
            add(app, kind, name, function)
    return app


def add(app: typer.Typer, kind: Kind, name: str, function: Callable[..., None]) -> None:
    """Make a function a command of a kind."""
    bound = partial(function, kind)
    explain(bound, HELP["words"][name], usual=kind.raters)
    app.command(name, help=HELP[kind.command][name]["help"], epilog=epilog(kind, name))(bound)


def epilog(kind: Kind, name: str) -> str:
    """An example of a command, and its settings in words."""
    about = HELP[kind.command][name]
    example = f"For example: delibsim {about['example']}."
    if "settings" not in about:
        return example
    known = {"handed": told(kind.handed), "reported": told(kind.reported)}
    return f"{example} Settings: {about['settings'].format(**known)}."


def ask(
    kind: Kind,
    study: str,
    settings: Words = None,
    n: int | None = None,
    only: bool = False,
    yes: bool = False,
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Have texts asked about."""
    chosen, words = kind.chosen(settings or [])
    chosen.ask(Call(study, words, root), Asked(n, only, yes, quiet, as_json))


def handout(
    kind: Kind,
    study: str,
    settings: Words = None,
    raters: str = "",
    n: int | None = None,
    online: bool = False,
    hand_on: float = 48.0,
    out: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Hand texts out to people."""
    if online and out is not None:
        raise WrongInput("with --online nothing is written; leave -o out")
    chosen, words = kind.chosen(settings or [])
    call = Call(study, words, root)
    handing = Handing(raters, n, Online(hand_on) if online else None, out)
    _show_handed(chosen, chosen.hand_out(call, handing), call.runs, as_json)


def _show_handed(kind: Kind, pack: Handed, runs: Runs, as_json: bool) -> None:
    """Print what was handed out, and what comes next."""
    study, screen = quoted(runs.study), console()
    print_each([f"note: {line}" for line in pack.notes], console(stderr=True))
    if as_json:
        place = {"task": pack.name} if pack.folder is None else {}
        echo_json({**place, **pack.plain})
        return
    print_each(pack.lines, screen)
    if pack.folder is None:
        screen.print(f"Task       {pack.name}")
        screen.print(f"Next       delibsim people invite {study} --rater {pack.name} --open")
        screen.print(f"           delibsim serve {study}")
    else:
        folder = shown(pack.folder.resolve())
        form = f"{quoted(f'{folder}/form.csv')}{kind.form}"
        screen.print(f"Folder     {folder}")
        screen.print(f"Next       delibsim {kind.command} collect {study} {form}")


def collect(
    kind: Kind,
    study: str,
    form: Path,
    settings: Words = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Read a form of people back."""
    chosen, words = kind.chosen(settings or [])
    found = chosen.collect(Call(study, words, root), form)
    if as_json:
        echo_json(found.plain())
    else:
        known = f"{found.given - found.new:,} known before"
        empty = f"{counted(found.empty, 'cell')} left empty"
        print_each([f"{counted(found.new, found.noun)} kept, {known}, {empty}"], console())
        sheets = [f"{rater}: {counted(n, 'sheet')}" for rater, n in found.raters.items()]
        print_each([*sheets, *found.notes], console())
    raise typer.Exit(exit_code(found.given > found.missing, found.whole))


def replay(
    kind: Kind,
    study: str,
    settings: Words = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Compute answers again from their record."""
    chosen, words = kind.chosen(settings or [])
    end_with_replayed(chosen.kept(Call(study, words, root)), as_json)


def end_with_replayed(plan: Plan, as_json: bool) -> NoReturn:
    """Compute a task as it was kept again from its record alone, print the verdict and what
    differs, and exit: 0 if all is equal, 4 if not.
    """
    found, study, noun = asyncio.run(computed_again(plan)), plan.runs.study, plan.kind.noun
    if as_json:
        said = {"verdict": found.verdict, "differences": list(found.differences)}
        echo_json({"study": study, "task": found.task, plural_of(noun): found.answers, **said})
    else:
        say(f"{study}, {found.task}: {found.verdict}, {counted(found.answers, noun)}")
        for line in found.differences[:LISTED]:
            say(f"  {safe(line)}")
        more = len(found.differences) - LISTED
        if more > 0:
            say(f"  and {more} more")
    raise typer.Exit(0 if found.verdict == "equal" else 4)


def report(
    kind: Kind,
    study: str,
    settings: Words = None,
    tables: str = "",
    out: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Say what the answers say."""
    chosen, words = kind.chosen(settings or [])
    chosen.show_report(Call(study, words, root), tables, out, as_json)
