"""`delibsim status`: how a study stands, or all studies of a folder, in tables and sentences."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from delibsim.analysis.calls import Tally
from delibsim.analysis.causes import causes_in, causes_told
from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.cli.options import RUNS, declared
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, say, shown
from delibsim.conduct.cost import calls_by_task
from delibsim.conduct.status import (
    COMPLETE,
    CUT_OFF,
    GONE,
    PARTIAL,
    WAITING,
    StudyStatus,
    effects_in,
    study_status,
)
from delibsim.domain.cost import total_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.study import natural
from delibsim.domain.text import counted, quoted, study_named
from delibsim.models.clients.settings import provider_at
from delibsim.planning.effects import Effects
from delibsim.store.places import TOLD, Account, account_of, command_of, on_branches, study_at
from delibsim.store.runs import Runs
from delibsim.store.session_files import BRANCHES
from delibsim.store.study_texts import StudyTexts

LISTED = 40
"""The number of sessions listed; in a larger study those that are not complete."""


def table_of_studies(counts: Sequence[Mapping[str, Any]]) -> DisplayTable:
    """All studies, with how many sessions of each are planned and held."""
    headings = ["sessions", "held"]
    headings += ["texts"] if any("texts" in row for row in counts) else []
    rows = []
    for row in counts:
        rows.append([row["study"], *(str(row.get(heading, "")) for heading in headings)])
    return DisplayTable([*texts("study"), *numbers(headings)], rows)


def table_of_sessions(found: StudyStatus) -> tuple[DisplayTable, int]:
    """A row for each session, in a large study only for those that are not complete; and how many
    sessions have no row.
    """
    listed = list(found.sessions)
    if len(found.sessions) > LISTED:
        listed = [entry for entry in found.sessions if entry.state != COMPLETE][:LISTED]
    rows = []
    for entry in listed:
        calls = entry.log.calls
        faults = _counted((name, n) for name, n in calls.items() if name != "ok")
        rows.append([entry.session, entry.state, str(sum(calls.values())), faults or "-"])
    columns = [*texts("session", "state"), *numbers(["calls"]), *texts("not ok")]
    return DisplayTable(columns, rows), len(found.sessions) - len(listed)


def remarks(runs: Runs, found: StudyStatus, effects: Effects, folder: str) -> list[str]:
    """What is damaged, missing or doubtful, how the calls ended, and how the study goes on, in
    sentences; `folder` is that of the study as a user types it.
    """
    lines = found.faults()
    cells = found.calls_by_cell()
    for cell, counts in cells.items() if len(cells) <= LISTED else ():
        if not counts:  # people held it elsewhere
            continue
        lines.append(f"calls, {cell}{effects.mark(cell)}: {_counted(counts.most_common())}")
    if len(cells) > LISTED:
        lines.append(f"calls: {_counted(found.calls.most_common())}; --json lists all sessions")
    if found.retried:
        retried = found.retried
        attempts = counted(retried.total(), "attempt")
        lines.append(f"tried again: {attempts} ({_counted(retried.most_common())})")
    lines += lines_of_tasks(found.asked_after)
    again = _again(runs, found, folder)
    lines += causes_told(found.causes, again)
    lines.append(f"money: {found.money.told(in_flight=bool(runs.holder()))}")
    lines += found.doubts()
    if unasked := sum(e.state == CUT_OFF and not e.log.calls for e in found.sessions):
        was = "was" if unasked == 1 else "were"
        lines.append(
            f"{counted(unasked, 'session')} of those cut off {was} not asked anything yet."
        )
    if found.states[CUT_OFF] or found.states[WAITING]:
        lines.append(_how_it_goes_on(runs, again("")))
    if gone := found.states[GONE]:
        was = "was" if gone == 1 else "were"
        lines.append(
            f"{counted(gone, 'session')} {was} withdrawn: a person had her words deleted. Nothing"
            " of it is read, and it is not held again."
        )
    never_begun = "" if runs.holder() else account_of(runs).notice()
    if never_begun:
        lines.append(f"{never_begun}.")
    if people := _people(runs):
        lines.append(people)
    return [*lines, *on_branches(runs)]


def _people(runs: Runs) -> str:
    """How the parts of people ended, in a sentence; "" where the study has none."""
    if not (runs.folder / TOLD).is_file():
        return ""
    try:
        from delibsim.store.people.tables import endings_line  # the databases take long to import

        return endings_line(runs)
    except (ImportError, WrongInput) as error:  # the extra is missing, or the database is down
        return f"People: how far they are cannot be read: {error}"


def _again(runs: Runs, found: StudyStatus, folder: str) -> Callable[[str], str]:
    """What gives the command that holds again what was cut off, with some settings."""
    if command_of(runs) == "serve":
        return lambda settings: f"`delibsim serve {quoted(runs.study)}`"
    words = ["delibsim run", quoted(folder), "--retry", *_address(found)]
    return lambda settings: f"`{' '.join(filter(None, [*words, settings]))}`"


def _address(found: StudyStatus) -> list[str]:
    """The base_url to give again: where what was cut off was asked at one server alone, which is
    not the one that the preset names.
    """
    cut = [entry for entry in found.sessions if entry.state == CUT_OFF]
    plans = [entry.plan for entry in cut if entry.plan is not None]
    servers = {server for entry in cut for server in entry.log.servers}
    if len(servers) != 1 or any(len(plan.voices) > 1 for plan in plans):
        return []
    from delibsim.conduct.retry import addresses_now  # hydra is slow to import

    (server,) = servers
    known = {provider_at(address) for address in addresses_now(plans, []).values()}
    hidden = not server.startswith("http") or "?" in server or known == {server}
    return [] if hidden else [f"base_url={server}"]


def _how_it_goes_on(runs: Runs, again: str) -> str:
    """How sessions that were cut off go on, in a sentence; those with people may be waiting."""
    command = command_of(runs)
    if command == "serve":
        return (
            f"A session with people that has no run waits or goes on while `delibsim serve"
            f" {runs.study}` runs; the researcher's page says how each group stands."
        )
    return (
        f"A session that was cut off goes on when its `delibsim {command}` command is given again,"
        f" or with {again}."
    )


def lines_of_tasks(calls: Mapping[str, Tally]) -> list[str]:
    """How the calls to raters and coders ended, a line a task, and why some are not ok."""
    lines = []
    for task, log in calls.items():
        lines.append(f"calls, {task}: {_counted(Counter(log.calls).most_common())}")
        for one in causes_in((task, cause) for cause, _ in log.failed):
            lines.append(f"not ok, {task}: {one.of_calls()}")
    return lines


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts)


@dataclass(frozen=True)
class StudyStanding:
    """The account of a study at one time.

    `process` is the number of the process that holds it, "" if none does; `pace` is how many runs
    a minute were added since it was first looked at.
    """

    account: Account
    process: str = ""
    pace: float = 0.0

    @property
    def minutes_left(self) -> float | None:
        """An estimate of the minutes until all sessions are held; None without a pace."""
        over = len(self.account.held) + len(self.account.withdrawn)
        left = len(self.account.planned) - over
        return left / self.pace if self.pace else None

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "held": len(self.account.held),
            "begun": len(self.account.begun),
            "planned": len(self.account.planned),
            "process": self.process,
            "a_minute": round(self.pace, 2),
            "minutes_left": self.minutes_left,
        }

    def line(self) -> str:
        """In one line."""
        held, planned = len(self.account.held), len(self.account.planned)
        begun = len(self.account.begun) - held - len(self.account.withdrawn)
        left = f", about {self.minutes_left:.0f} min left" if self.minutes_left else ""
        who = f"process {self.process} holds it" if self.process else "no process holds it now"
        return (
            f"{held}/{planned} sessions held, {begun} begun, {self.pace:.1f} a minute{left}; {who}"
        )


class Watch:
    """Looks at a study again and again, and measures the pace since it first did."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.started, self.first = time.monotonic(), len(account_of(runs).held)

    def look(self) -> StudyStanding:
        """The standing of the study now."""
        process, account = self.runs.holder(), account_of(self.runs)
        seconds = time.monotonic() - self.started
        pace = (len(account.held) - self.first) / seconds * 60 if seconds > 1 else 0.0
        return StudyStanding(account, process, pace)


def studies_in(root: Path) -> list[Runs]:
    """All studies of a folder, in order of name; forks and probes of one are a study too."""
    files = [*root.glob("*/study.json")]
    for kind in BRANCHES:
        files += root.glob(f"*/{kind}/study.json")
    return [Runs.at(path.parent.resolve()) for path in sorted(files)]


def counts_of_studies(root: Path) -> list[dict[str, Any]]:
    """All studies of a folder, with how many sessions of each are planned and held, and
    how many texts those of texts have.
    """
    rows = []
    for runs in sorted(studies_in(root), key=lambda runs: natural(runs.study)):
        account = account_of(runs)
        counts = {"sessions": len(account.planned), "held": len(account.held)}
        imported = StudyTexts(runs)
        texts = {"texts": imported.count()} if imported.held() else {}
        rows.append({"study": runs.study, **counts, **texts})
    return rows


app = typer.Typer(add_completion=False)
EVERY = 5.0  # seconds between two lines of --watch


@declared(app, "status", "status")
def status(
    study: str | None = None, root: Path = RUNS, watch: bool = False, as_json: bool = False
) -> None:
    """What was held, cut off or damaged, how the calls ended and what they cost, or may have cost
    where a process was killed. Exit code 0 if all is complete, 3 if not, 4 if nothing is. Of a
    study of texts: how many there are, and the calls.
    """
    if study is None:
        _list(root, as_json)
        return
    runs = study_at(study, root)
    if watch and not StudyTexts(runs).held():
        with suppress(KeyboardInterrupt):
            _watch(runs, as_json)
    if StudyTexts(runs).held():
        _print_texts(runs, as_json)
        return
    found = study_status(runs)
    effects = effects_in(runs, found)
    if as_json:
        echo_json(found.plain() | effects.plain() | effects.recorded())
    else:
        _print(runs, found, effects, console())
    states = found.states
    if states[COMPLETE] == states.total() and not found.damaged_tasks:
        raise typer.Exit(0)
    raise typer.Exit(exit_code(bool(states[COMPLETE] or states[PARTIAL]), whole=False))


def _print_texts(runs: Runs, as_json: bool) -> None:
    """Print how many texts a study of texts holds."""
    texts, logs = StudyTexts(runs).count(), calls_by_task(runs)
    money = total_of(log.money for log in logs.values())
    if as_json:
        plain = {"study": runs.study, "texts": texts, "sessions": [], "money": asdict(money)}
        echo_json(plain | {"calls_by_task": {task: dict(log.calls) for task, log in logs.items()}})
        return
    screen = console()
    screen.print(f"{study_named(runs.study)}: {counted(texts, 'imported text')}, no sessions")
    print_each(lines_of_tasks(logs), screen)
    if logs:
        screen.print(f"money: {money}", soft_wrap=True)
    screen.print(f"Next       delibsim list texts {quoted(runs.study)}")


def _watch(runs: Runs, as_json: bool) -> None:
    """Print how many sessions are held, as long as a process holds them."""
    watch = Watch(runs)
    while True:
        now = watch.look()
        if as_json:
            typer.echo(json.dumps(now.plain()))
        else:
            say(now.line())
        if not now.process:
            return
        time.sleep(EVERY)


def _list(root: Path, as_json: bool) -> None:
    """Print all studies, with how many sessions of each are planned and held."""
    counts = counts_of_studies(root)
    if as_json:
        echo_json(counts)
    elif not counts:
        say(f"no studies in {root} yet")
    else:
        show_table(table_of_studies(counts), console())


def _print(runs: Runs, found: StudyStatus, effects: Effects, screen: Console) -> None:
    states = ", ".join(f"{n} {name}" for name, n in found.states.items())
    screen.print(f"{study_named(runs.study)}: {states or 'no sessions yet'}")
    print_each(effects.lines(), screen)
    table, left_out = table_of_sessions(found)
    if table.rows:
        show_table(table, screen)
    if left_out:
        screen.print(f"not listed: {counted(left_out, 'session')}; --json lists all")
    print_each(remarks(runs, found, effects, shown(runs.folder)), screen)
