"""`delibsim people export|bonus|forget|withdraw`: the register as tables, and what was promised."""

from pathlib import Path

import typer

from delibsim.cli.options import RUNS, Words
from delibsim.cli.people_invite import hosting_of, promised, write_private
from delibsim.cli.terminal import console, echo_json, print_each, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

TO = "The folder to write. Default: the folder people/ of the study."


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
