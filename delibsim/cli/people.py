"""`delibsim people`: people who take part in a browser; and a study with people, seen and
tried before they come.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import typer

from delibsim.cli.estimate import ask_first
from delibsim.cli.options import RUNS, Words, declared, study_first
from delibsim.cli.people_invite import (
    hosting_of,
    invite,
    list_people,
    password,
    promised,
    raters,
    revoke,
    write_private,
)
from delibsim.cli.serve import planned_for_people, show_estimate_for_people
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.planning.compose import StudyPlan
from delibsim.planning.freeze import cells_of
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False, no_args_is_help=True)


def try_out(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    people: Path | None = None,
    speed: float = 10.0,
    port: int | None = None,
    raters: bool = False,
    task: str | None = None,
    only: bool = False,
    yes: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Try a study before people come: citizens take their seats, agree and answer, faster than
    people. Nothing of it is kept. The researcher's page shows the groups meanwhile.

    Language models in other seats are asked, and paid, as in the study. With --raters it says of
    each task whether every sheet can be filled and kept, and about how many minutes a place takes a
    person. Exit code 0; 3 where a session or sheet was not complete, 4 where none was.
    """
    from delibsim.people.dry import hurried
    from delibsim.store.people.hosting_files import declared as declared_hosting

    asked = study_first(study, settings)
    if raters:
        _try_raters(study_at(asked[0], root), task, as_json)
    planned = planned_for_people(asked, multirun, root)
    if only:
        show_estimate_for_people(planned)
        return
    ask_first(planned, Runs(planned.root, planned.study), yes)
    hosting = hurried(declared_hosting(Runs(planned.root, planned.study), people), speed)
    sessions = [one for one in planned.sessions if one.seats_of_people]
    if not sessions:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    done = _tried(planned, hosting, sessions, speed, port)
    say(f"{done} of {counted(len(sessions), 'session')} complete; nothing was kept.", err=True)
    raise typer.Exit(exit_code(done > 0, done == len(sessions)))


def _tried(
    planned: StudyPlan,
    hosting: Hosting,
    sessions: Sequence[Session],
    speed: float,
    port: int | None,
) -> int:
    """Hold sessions in a folder that is deleted, with citizens in the seats of people; how many
    were complete.
    """
    from delibsim.people.dry import Visitor, prepared_for_people, seat_everybody, until_all_are_over
    from delibsim.people.hall import Hall
    from delibsim.store.people.register import Register
    from delibsim.web.people.app import serve_people

    tell = partial(say, err=True)
    with tempfile.TemporaryDirectory(prefix="delibsim-dry-") as folder:
        dry = replace(planned, root=Path(folder))
        runs = Runs(dry.root, dry.study)

        async def open_hall() -> Hall:
            pool, held = await prepared_for_people(dry, runs, sessions, tell)
            hall = Hall(
                runs,
                Register.of(runs, ""),
                hosting,
                pool,
                held,
                visitor=partial(Visitor, speed=speed),
            )
            seat_everybody(hall)
            return hall

        def told(address: str) -> None:
            say(
                f"trial of {counted(len(sessions), 'session')} at {speed:g} times the speed",
                err=True,
            )
            say(f"watch it: {address}/office", err=True)

        with suppress(KeyboardInterrupt):
            serve_people(
                open_hall,
                "127.0.0.1",
                port,
                [],
                [],
                told,
                lambda hall: until_all_are_over(hall, speed, say),
            )
        return sum(runs.status(one.id) == "complete" for one in sessions)


def _try_raters(runs: Runs, task: str | None, as_json: bool) -> NoReturn:
    """Fill every sheet in a copy of a study, and say how that went."""
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.models.citizen.citizen import Citizen
    from delibsim.people.dry import DryTask, copied, rate, refuse_begun

    with copied(runs) as desk:
        names = [desk.task(task).name] if task else desk.names()
        if not names:
            desk.task("")  # which says how tasks are handed out
        refuse_begun(runs, names)
        found = [asyncio.run(rate(desk, name, Citizen())) for name in names]
    rows = [asdict(one) for one in found]
    if as_json:
        echo_json({"study": runs.study, "tasks": rows})
    else:
        columns = list(DryTask.__dataclass_fields__)
        heads = [*texts(*columns[:2]), *numbers(columns[2:])]
        lines = [list(map(str, row.values())) for row in rows]
        print_table("Trial of raters: nothing was kept", heads, lines, console())
    kept = sum(one.kept for one in found)
    raise typer.Exit(exit_code(kept > 0, kept == sum(one.sheets for one in found)))


def preview(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    people: Path | None = None,
    to: Path = Path("preview"),
    root: Path = RUNS,
) -> None:
    """Write every page that people will see, as files: of each cell of the design, as each
    participant, from the link to the end, with an index. Open index.html in a browser.

    The pages are the server's own. Sessions are held with placeholders in a folder that is gone
    afterwards: nobody is asked or paid, and nothing is written into the study.
    """
    from delibsim.store.people.hosting_files import declared as declared_hosting
    from delibsim.web.people.preview import OPTION, WRITER, write_preview
    from delibsim.web.people.preview import preview as taken

    planned = planned_for_people(study_first(study, settings), multirun, root)
    hosting = declared_hosting(Runs(planned.root, planned.study), people)
    with_people = [one for one in planned.sessions if one.seats_of_people]
    if not with_people:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    sessions = list(cells_of(with_people).values())
    refuse_others(to, WRITER, OPTION)
    shots = asyncio.run(taken(sessions, hosting))
    n = write_preview(planned.study, sessions, shots, to)
    say(f"{counted(n, 'page')} of {counted(len(sessions), 'session')}: {shown(to / 'index.html')}")


def export(
    study: str,
    names: bool = False,
    to: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Write the register as CSV files: persons by code, answers to your own questions, checks,
    times, links, and a codebook. Nothing in them tells who anybody is, unless --names is given.
    session and participant join them to the tables of delibsim export.
    """
    from delibsim.store.people.register import Register
    from delibsim.store.people.tables import PEOPLE, export_people
    from delibsim.web.people.visits import rater_reception

    runs = study_at(study, root)
    register = Register.of(runs)
    promised(runs)
    hosting = hosting_of(runs)
    checks = set()
    if hosting:
        asked = *hosting.checks, *rater_reception(hosting, hosting.language).checks
        checks = {question.id for question in asked}
    folder = to or runs.folder / PEOPLE
    done = export_people(register, runs.study, folder, checks, names, hosting)
    if as_json:
        folder = shown(done.folder)
        echo_json({"study": runs.study, "folder": folder, "rows": done.rows, "names": names})
        return
    for table, n in done.rows.items():
        say(f"{table}.csv: {counted(n, 'row')}")
    say(f"written: {shown(done.folder)}")
    if names:
        say("names.csv says who people are: keep it apart, and delete it when its use is over")


def forget(
    study: str,
    codes: Words = None,
    everybody: bool = False,
    due: bool = False,
    dry_run: bool = False,
    root: Path = RUNS,
) -> None:
    """Delete who persons are (name, address, id of a panel), and keep what they said. It cannot be
    undone. The server does it by itself for those who are due, once an hour.
    """
    from delibsim.people.erase import forget as carry_out_forgetting
    from delibsim.store.people.erasures import due_to_forget
    from delibsim.store.people.persons import named, persons
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    register = Register.of(runs)
    if sum([bool(codes), everybody, due]) != 1:
        raise WrongInput("give codes of persons, or one of --all and --due")
    known = [one.id for one in persons(register) if one.identity]
    wanted = [named(register, code).id for code in codes or []]
    if everybody:
        wanted = known
    elif due:
        hosting = hosting_of(runs)
        wanted = due_to_forget(register, hosting.keep_days) if hosting else []
    if dry_run:
        print_each((code for code in wanted if code in known), console())
        n = sum(code in known for code in wanted)
        say(f"the identity of {counted(n, 'person')} would be deleted; nothing was deleted")
        return
    promised(runs, days=False)
    done = carry_out_forgetting(runs, register, wanted)
    print_each(done, console())
    say(f"the identity of {counted(len(done), 'person')} was deleted; what they said stays")
    if len(done) < len(wanted):
        say(f"of {counted(len(wanted) - len(done), 'person')} nothing was kept")


def withdraw(
    study: str, code: str, now: bool = False, dry_run: bool = False, root: Path = RUNS
) -> None:
    """Withdraw a person as people.yaml declares it: who she is is deleted at once. With
    withdrawal: delete all that she gave is deleted as well, and the session that she took part in,
    because others quote her; it is marked as withdrawn, and not held again. It cannot be undone.

    Exit code 0; 3 if it waits for a room that still runs, which the server or the next command
    finishes.
    """
    from delibsim.people.erase import carry_out, give_up_seat
    from delibsim.store.people.erasures import session_with_words
    from delibsim.store.people.persons import named, note_withdrawn
    from delibsim.store.people.register import Register
    from delibsim.store.people.schema import Stage

    runs = study_at(study, root)
    register = Register.of(runs)
    hosting = hosting_of(runs)
    if hosting is None:
        raise WrongInput(f"no people.yaml of {runs.study} declares what a withdrawal does")
    person = named(register, code)
    if dry_run:
        session = session_with_words(register, person.id) if hosting.withdrawal == "delete" else ""
        say(f"{person.id}: withdrawal: {hosting.withdrawal}; nothing was deleted")
        if session:
            say(f"with her words the session {session} would be withdrawn")
        return
    if person.stage != Stage.WITHDRAWN:
        note_withdrawn(register, person.id)
        give_up_seat(register, hosting, person.id)
    carried = carry_out(runs, register, hosting, at_once=person.id if now else "")
    print_each(carried.told, console())
    print_each(carried.waits, console(stderr=True))
    if not carried.told and not carried.waits:
        say(f"{person.id} had withdrawn before, and it was carried out")
    raise typer.Exit(3 if carried.waits else 0)


TO = "The file to write, which only you can read. Default: bonus.csv."
NO_RULES = (
    "people.yaml declares no bonus: for example bonus: {done: 2.00, timed_out: 0.50, statement:"
    " 0.10}; a study keeps the people.yaml that it began with"
)


def bonus(study: str, to: Path = Path("bonus.csv"), root: Path = RUNS) -> None:
    """Write what each person has earned by the rules of people.yaml (bonus): a line ID,AMOUNT for
    each, without a heading, as Prolific takes it. ID is the id by which the panel knows her.

    Left out are amounts of 0, those whose part goes on, and those whose id is not kept, who are
    counted; delibsim people list and export have the amounts by code.
    """
    from delibsim.store.people.persons import identities, persons
    from delibsim.store.people.register import Register
    from delibsim.store.people.tables import cents, endings

    runs = study_at(study, root)
    hosting = hosting_of(runs)
    if hosting is None or not hosting.bonus:
        raise WrongInput(NO_RULES)
    if to.exists():
        raise WrongInput(f"{to} is there already; give another file: -o FILE")
    promised(runs)
    register = Register.of(runs)
    known, ended = identities(register), endings(register)
    rows, unknown, total = [], 0, cents(0)
    for person in persons(register):
        earned = cents(ended[person.id].earned(hosting.bonus))
        if not earned:
            continue
        who = known.get(person.identity)
        if who is None or not who.panel_id:
            unknown += 1
            continue
        rows.append((who.panel_id, f"{earned:.2f}"))
        total += earned
    write_private(to, rows)
    say(f"{counted(len(rows), 'person')}, {total:.2f} in all: {shown(to)}; keep that file safe")
    if unknown:
        say(f"of {counted(unknown, 'person')} with a bonus no id of a panel is kept: not in it")


@app.callback()
def _group() -> None:
    """People who take part in a browser: who they are to a study, and how far they are."""


declared(app, "people", "preview")(preview)
declared(app, "people", "try")(try_out)
declared(app, "people", "invite")(invite)
declared(app, "people", "list")(list_people)
declared(app, "people", "revoke")(revoke)
declared(app, "people", "raters")(raters)
declared(app, "people", "password")(password)
declared(app, "people", "export")(export)
declared(app, "people", "bonus")(bonus)
declared(app, "people", "forget")(forget)
declared(app, "people", "withdraw")(withdraw)
