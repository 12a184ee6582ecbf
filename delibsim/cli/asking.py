"""The commands of every kind of asking about finished text: ask, handout, collect, replay, report.

Each command is here once. What is special to a kind is in the module of its command: `code`,
`compare`, `rate`, `judge`, `summarise`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import typer
from rich.console import Console

from delibsim.analysis.figures.style import kinds_of_files
from delibsim.analysis.table import DisplayColumn, DisplayTable
from delibsim.asking.collect import CollectedForm
from delibsim.asking.nouns import Kind, Outcome, Plan
from delibsim.asking.people import HandedOut, Online, people_named
from delibsim.asking.road import estimate
from delibsim.asking.road import replay as computed_again
from delibsim.cli.estimate import FREE, show_found
from delibsim.cli.estimate import plain as estimate_plain
from delibsim.cli.options import RUNS, TEXT, Setting, Words, explain, settings_of, told
from delibsim.cli.results import end_with_report
from delibsim.cli.table import show_table
from delibsim.cli.terminal import (
    agreed,
    console,
    echo_json,
    exit_code,
    on_terminal,
    print_each,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.conduct.ask import ask as ask_models
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, plural_of, quoted, study_named
from delibsim.planning.estimate import CostEstimate
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class CommandLine:
    """The study of a command, its further words, and the folder of studies."""

    study: str
    words: Sequence[str] = ()
    root: Path = RUNS

    @property
    def runs(self) -> Runs:
        """The study; WrongInput where there is none of that name."""
        return study_at(self.study, self.root)

    def named(self, key: str) -> str:
        """What is named by the only setting that there may be; "" where it is left out."""
        return settings_of(self.words, {key: TEXT})[key]


@dataclass(frozen=True)
class Handing:
    """How a pack is handed out: to whom ("" as usual), how much, on pages or into a folder."""

    raters: str = ""
    n: int | None = None
    online: Online | None = None
    out: Path | None = None

    def people(self, usual: str, noun: str) -> list[str]:
        """For whom it is: on pages as many as there are, whose names are not known."""
        given, online = self.raters or usual, self.online is not None
        return people_named(given, "--raters", noun, online)


@dataclass(frozen=True)
class Reported:
    """A report; what is said where there is nothing in it, the folder that it is written into
    unless told otherwise, and which tables are printed then.
    """

    report: Any
    nothing: Sequence[str]
    folder: Path | None = None
    tables: str = ""


class AskingCommand:
    """A kind of asking on the command line; data/asking.yaml says what its commands do.

    `command` is its word, `kind` what is asked, `key` the setting that names a task, `following`
    the command that comes after asking. `handed` and `reported` are the settings of handout and
    report, `raters` is how many people a pack is for, `form` what follows the form of one where it
    is read back. With `some` it may be tried on a number of texts.
    """

    command: ClassVar[str]
    kind: ClassVar[Kind]
    key: ClassVar[str] = "name"
    following: ClassVar[str]
    handed: ClassVar[Mapping[str, Setting]] = {}
    reported: ClassVar[Mapping[str, Setting]] = {}
    raters: ClassVar[str] = "2"
    form: ClassVar[str] = ""
    some: ClassVar[bool] = False

    def without(self, command: str) -> WrongInput:
        """What a kind says to whoever gives a command that it has not."""
        return WrongInput(f"delibsim {self.command} has no {command}")

    def chosen(self, words: Sequence[str]) -> "tuple[AskingCommand, list[str]]":
        """The kind that is meant by these words, and the others."""
        return self, list(words)

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """What is to be asked; with `n`, which only kinds with `some` are given, about so many."""
        raise self.without("ask")

    def measured(self, call: CommandLine) -> tuple[list[DisplayTable], dict[str, Any]]:
        """What the rest will take by what so many took: as tables, and as plain values."""
        return [], {}

    def before(self, plan: Plan, found: CostEstimate) -> list[str]:
        """What is said of an estimate before its table."""
        counts = f"{found.held:,} there already, {found.waiting:,} to be asked for"
        planned = counted(found.planned, plan.kind.noun)
        return [f"{study_named(plan.runs.study)}: {planned}, {counts}"]

    def after(self, plan: Plan, found: CostEstimate) -> list[str]:
        """What is said after it."""
        return []

    def values(self, plan: Plan, found: CostEstimate) -> dict[str, Any]:
        """What an estimate says of the kind, as plain values."""
        return {}

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """What came of asking in sentences."""
        return plan.kind.told(plan, outcome)

    def tables(self, plan: Plan) -> list[DisplayTable]:
        """The same as tables."""
        return []

    def rescore(self, plan: Plan, outcome: Outcome) -> None:
        """Write the scores anew that are made old."""

    def ask(self, call: CommandLine, asked: "AskingOptions") -> NoReturn:
        """Have a plan carried out, or say what it takes."""
        if asked.n and not self.some:
            raise WrongInput(f"delibsim {self.command} ask has no --n; leave it out")
        plan = self.plan(call, asked.n)
        screen = console(stderr=True)
        print_each([f"note: {line}" for line in plan.notes], screen)
        print_each([f"warning: {line}" for line in plan.warnings], screen)
        if asked.only:
            show_estimate(self, plan, asked.as_json)
        if asked.may_ask(plan.models):
            agreed(estimate(plan).usd.high, asked.yes)
        outcome = asyncio.run(ask_models(plan, asked.notify(screen)))
        plan = plan.kind.now(plan)
        self.rescore(plan, outcome)
        tables, measured = self.measured(call) if asked.n else ([], {})
        if asked.as_json:
            echo_json({**plan.kind.plain(plan, outcome), **measured})
        else:
            self.show(plan, outcome, tables)
            print_each([f"missing: {fault}" for fault in (*outcome.faults, *plan.faults)], screen)
        complete = outcome.whole and not plan.faults
        raise typer.Exit(exit_code(bool(outcome.usable), complete))

    def show(self, plan: Plan, outcome: Outcome, tables: Sequence[DisplayTable]) -> None:
        """Print what came of asking, and what follows."""
        screen = console()
        print_each(self.told(plan, outcome), screen)
        for table in (*self.tables(plan), *tables):
            show_table(table, screen)
        print_each([f"note: {line}" for line in plan.kind.notes(plan)], screen)
        screen.print(f"Next       delibsim {self.following} {quoted(plan.runs.study)}")

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand a pack out to people."""
        raise self.without("handout")

    def collect(self, call: CommandLine, form: Path) -> CollectedForm:
        """Read the form of a pack of the study back."""
        from delibsim.conduct.packs import collect_and_score  # pandas is slow to import

        settings_of(call.words, {})
        return collect_and_score(form, call.runs)

    def kept(self, call: CommandLine) -> Plan:
        """A task as it was kept, for a replay."""
        return self.kind.kept(call.runs, call.named(self.key))

    def report(self, call: CommandLine) -> Reported:
        """What the answers of a study say."""
        raise self.without("report")

    def show_report(
        self,
        call: CommandLine,
        tables: str,
        out: Path | None,
        figures: Sequence[str] | None,
        as_json: bool,
    ) -> NoReturn:
        """Print the report or write it; exit with 4 where there is nothing to report."""
        found = self.report(call)
        if found.report.something:
            wanted = tables or found.tables
            end_with_report(found.report, out or found.folder, as_json, wanted, figures)
        if as_json:
            echo_json(found.report.plain() | {"page": None})
        print_each(found.nothing, console(stderr=True))
        raise typer.Exit(4)


@dataclass(frozen=True)
class AskingOptions:
    """How a command asks: about how many texts only, an estimate only, without asking the user
    first, quietly, printed as JSON.
    """

    n: int | None = None
    only: bool = False
    yes: bool = False
    quiet: bool = False
    as_json: bool = False

    def notify(self, screen: Console) -> Callable[[str], None]:
        """Prints a line of progress, unless quiet."""
        return (lambda line: None) if self.quiet else partial(screen.print, soft_wrap=True)

    def may_ask(self, models: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether the user is asked first: on a terminal, where models may cost money."""
        paid = any(one.get("kind") not in FREE for one in models.values())
        return paid and not self.yes and on_terminal()


def show_estimate(kind: AskingCommand, plan: Plan, as_json: bool) -> NoReturn:
    """Say what the answers that are still to be asked for will take."""
    found = estimate(plan)
    plan = plan.kind.at_most(plan)
    answers, values = plural_of(kind.kind.noun), estimate_plain(found)
    counts = values.pop("sessions")
    values["study"] = plan.runs.study
    values[answers] = {name: counts[name] for name in ("planned", "held", "waiting")}
    values |= kind.values(plan, found)
    before, after = kind.before(plan, found), kind.after(plan, found)
    show_found(found, plan.limits, values, as_json, before, answers, plan.runs, after)
    raise typer.Exit(0)


HELP = read_yaml(Path(__file__).parent.parent / "data" / "asking.yaml")
"""What the help of every command says."""
TABLES: Mapping[str, Mapping[str, Any]] = HELP["tables"]
"""How rows on answers are printed."""
LISTED = 40
"""How many differences of a replay are printed."""


def answers_table(name: str, rows: Iterable[Mapping[str, Any]], title: str = "") -> DisplayTable:
    """Rows below the headings that they have by their columns; numbers as usual where nothing is
    said of their form.
    """
    about = TABLES[name]
    heads = about["texts"] | about["numbers"] | about.get("last", {})
    columns = [
        DisplayColumn(told, text=name not in about["numbers"]) for name, told in heads.items()
    ]
    cells = []
    for row in rows:
        cells.append([_cell(row[one], one, about) for one in heads])
    return DisplayTable(columns, cells, title or about.get("title", ""))


def _cell(value: Any, column: str, about: Mapping[str, Any]) -> str:
    """A value of a table, or what stands where there is none."""
    if value is None or value != value:
        return about.get("none", "-")
    if isinstance(value, str):
        return value
    usual = "," if isinstance(value, int) else ".3f"
    return format(value, about.get("forms", {}).get(column, usual))


def commands_of(kind: AskingCommand) -> typer.Typer:
    """The commands of a kind: those of which data/asking.yaml has a help."""
    about = HELP[kind.command]
    app = typer.Typer(add_completion=False, no_args_is_help=True, help=about["about"])
    made = {"ask": ask, "handout": handout, "collect": collect, "replay": replay, "report": report}
    for name, function in made.items():
        if name in about:
            add(app, kind, name, function)
    return app


def add(app: typer.Typer, kind: AskingCommand, name: str, function: Callable[..., None]) -> None:
    """Make a function a command of a kind."""
    bound = partial(function, kind)
    explain(bound, HELP["words"][name], usual=kind.raters)
    app.command(name, help=HELP[kind.command][name]["help"], epilog=epilog(kind, name))(bound)


def epilog(kind: AskingCommand, name: str) -> str:
    """An example of a command, and its settings in words."""
    about = HELP[kind.command][name]
    example = f"For example: delibsim {about['example']}."
    if "settings" not in about:
        return example
    known = {"handed": told(kind.handed), "reported": told(kind.reported)}
    return f"{example} Settings: {about['settings'].format(**known)}."


def ask(
    kind: AskingCommand,
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
    chosen.ask(CommandLine(study, words, root), AskingOptions(n, only, yes, quiet, as_json))


def handout(
    kind: AskingCommand,
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
    call = CommandLine(study, words, root)
    handing = Handing(raters, n, Online(hand_on) if online else None, out)
    _show_handed(chosen, chosen.hand_out(call, handing), call.runs, as_json)
    faults = call.runs.all()[1]
    for fault in faults:
        say(f"left out: {safe(fault)}", err=True)
    raise typer.Exit(exit_code(True, not faults))


def _show_handed(kind: AskingCommand, pack: HandedOut, runs: Runs, as_json: bool) -> None:
    """Print what was handed out, and what comes next."""
    study, screen = quoted(runs.study), console()
    print_each([f"note: {line}" for line in pack.notes], console(stderr=True))
    if as_json:
        place = {"task": pack.name} if pack.folder is None else {}
        echo_json({**place, **pack.plain()})
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
    kind: AskingCommand,
    study: str,
    form: Path,
    settings: Words = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Read a form of people back."""
    chosen, words = kind.chosen(settings or [])
    found = chosen.collect(CommandLine(study, words, root), form)
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
    kind: AskingCommand,
    study: str,
    settings: Words = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Compute answers again from their record."""
    chosen, words = kind.chosen(settings or [])
    end_with_replayed(chosen.kept(CommandLine(study, words, root)), as_json)


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
    kind: AskingCommand,
    study: str,
    settings: Words = None,
    tables: str = "",
    out: Path | None = None,
    figures: str | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Say what the answers say."""
    chosen, words = kind.chosen(settings or [])
    kinds = kinds_of_files(figures)
    chosen.show_report(CommandLine(study, words, root), tables, out, kinds, as_json)
