"""The five commands of a kind of asking, each here once: ask, handout, collect, replay, report."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from delibsim.asking.nouns import Plan
from delibsim.asking.people import Online
from delibsim.asking.road import replay
from delibsim.cli.asking import Asked, Call, Handed, Handing, Kind
from delibsim.cli.options import (
    RUNS,
    Dir,
    EstimateOnly,
    Json,
    OwnSettings,
    Quiet,
    StudyName,
    Yes,
    number,
    out_folder,
)
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
RATERS = "How many people; on paper also their names, parted by commas. Default: {}."
MANY = "How many texts; of pairs and debates, how many for each rater."
ONLINE = "Hand out on pages, to people who come by links of delibsim people invite STUDY --rater."
HAND_ON = "After how many hours without a sign what a person left undone may go to the next."
FORM = "The form of a pack, filled in."
TABLES = "Which tables to print: all, or their names parted by commas. Default: the main ones."
OUT = "a page, tables (CSV) and figures (SVG) are written where it is given"


def commands_of(kind: Kind) -> typer.Typer:
    """The commands of a kind: those of which data/asking.yaml has a help."""
    about = HELP[kind.command]
    app = typer.Typer(add_completion=False, no_args_is_help=True, help=about["about"])
    made = {"ask": _ask, "handout": _handout, "collect": _collect, "replay": _replay}
    made["report"] = _report
    for name, make in made.items():
        if name in about:
            app.command(name, help=about[name]["help"], epilog=epilog(kind, name))(make(kind))
    return app


def epilog(kind: Kind, name: str) -> str:
    """An example of a command, and its settings in words."""
    about = HELP[kind.command][name]
    example = f"For example: delibsim {about['example']}."
    if "settings" not in about:
        return example
    known = {"handed": told(kind.handed), "reported": told(kind.reported)}
    return f"{example} Settings: {about['settings'].format(**known)}."


def _ask(kind: Kind) -> Callable[..., None]:
    def ask(
        study: StudyName,
        settings: OwnSettings = None,
        n: Annotated[int | None, number("Ask about so many texts only.", 1_000_000)] = None,
        only: EstimateOnly = False,
        yes: Yes = False,
        quiet: Quiet = False,
        root: Dir = RUNS,
        as_json: Json = False,
    ) -> None:
        chosen, words = kind.chosen(settings or [])
        chosen.ask(Call(study, words, root), Asked(n, only, yes, quiet, as_json))

    return ask


def _handout(kind: Kind) -> Callable[..., None]:
    def handout(
        study: StudyName,
        settings: OwnSettings = None,
        raters: Annotated[str, typer.Option(help=RATERS.format(kind.raters))] = "",
        n: Annotated[int | None, number(MANY, 1_000_000)] = None,
        online: Annotated[bool, typer.Option("--online", help=ONLINE)] = False,
        hand_on: Annotated[
            float, typer.Option("--hand-on", min=0.1, max=10_000, help=HAND_ON)
        ] = 48.0,
        out: Annotated[Path | None, out_folder("one named after the pack")] = None,
        root: Dir = RUNS,
        as_json: Json = False,
    ) -> None:
        if online and out is not None:
            raise WrongInput("with --online nothing is written; leave -o out")
        chosen, words = kind.chosen(settings or [])
        call = Call(study, words, root)
        handing = Handing(raters, n, Online(hand_on) if online else None, out)
        _show_handed(chosen, chosen.hand_out(call, handing), call.runs, as_json)

    return handout


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


def _collect(kind: Kind) -> Callable[..., None]:
    def collect(
        study: StudyName,
        form: Annotated[Path, typer.Argument(metavar="FORM", help=FORM)],
        settings: OwnSettings = None,
        root: Dir = RUNS,
        as_json: Json = False,
    ) -> None:
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

    return collect


def _replay(kind: Kind) -> Callable[..., None]:
    def replay(
        study: StudyName, settings: OwnSettings = None, root: Dir = RUNS, as_json: Json = False
    ) -> None:
        chosen, words = kind.chosen(settings or [])
        end_with_replayed(chosen.kept(Call(study, words, root)), as_json)

    return replay


def end_with_replayed(plan: Plan, as_json: bool) -> NoReturn:
    """Compute a task as it was kept again from its record alone, print the verdict and what
    differs, and exit: 0 if all is equal, 4 if not.
    """
    found, study, noun = asyncio.run(replay(plan)), plan.runs.study, plan.kind.noun
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


def _report(kind: Kind) -> Callable[..., None]:
    def report(
        study: StudyName,
        settings: OwnSettings = None,
        tables: Annotated[str, typer.Option(help=TABLES)] = "",
        out: Annotated[Path | None, out_folder("none; the report is printed")] = None,
        root: Dir = RUNS,
        as_json: Json = False,
    ) -> None:
        chosen, words = kind.chosen(settings or [])
        chosen.show_report(Call(study, words, root), tables, out, as_json)

    return report
