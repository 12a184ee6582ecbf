"""`delibsim export`: a study as tidy tables, for R, Python, Stata and spreadsheets; and
`delibsim package`: a replication package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from delibsim.analysis.figures import style
from delibsim.analysis.table import numbers, texts
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.table import print_table
from delibsim.cli.terminal import (
    console,
    echo_json,
    print_each,
    progress,
    report,
    run_at,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted, quoted, study_named
from delibsim.plugins import names
from delibsim.store.runs import BENCH, EXPORT, Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.study import FORMATS, Export

if TYPE_CHECKING:
    from delibsim.conduct.package import Packaged

package_app = typer.Typer(add_completion=False)
_KNOWN = read_data("package.yaml")
LISTED = 20
"""The lines of a kind that are printed."""


app = typer.Typer(add_completion=False)
TABLES, OF_STUDY = "tables", ("tables", "bench")
ENDINGS = {".html": "html", ".md": "markdown", ".txt": "text", ".json": "json", ".csv": "csv"}


@declared(app, "export", "export")
def export(
    what: str,
    form: str = "",
    to: Path | None = None,
    format: str = "csv",
    spreadsheet_safe: bool = False,
    without_texts: bool = False,
    without_personas: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Write a study as tidy tables with a codebook, or one run for others: design, participants,
    transcript, answers, who moved, measures, and a citation with the SHA-256 of its run.json.

    Exit code 0; 3 if something was damaged and left out, 4 if there is no session. Of a study of
    texts: the table texts, and their scores.
    """
    chosen = form or ENDINGS.get(to.suffix.lower() if to else "", TABLES)
    others = names("delibsim.exporters")
    if chosen not in (*OF_STUDY, *others):
        from delibsim.cli.show import FORMS, share  # slow to import

        if chosen not in FORMS:
            raise unknown("form", chosen, [*OF_STUDY, *others, *FORMS], "Name it: --as tables")
        share(run_at(what, root), chosen, to, personas=not without_personas)
        return
    if format not in (*FORMATS, "both"):
        raise unknown("format", format, [*FORMATS, "both"])
    runs = study_at(what, root)
    _refuse(runs, chosen, without_texts)
    if without_personas and chosen in OF_STUDY:
        raise refused("personas_only_in_runs", others=", ".join(others))
    formats = FORMATS if format == "both" else (format,)
    if chosen == TABLES:
        folder = to or runs.folder / EXPORT
        written, rows_are = _tables(runs, folder, formats, spreadsheet_safe, not without_texts)
    elif chosen == "bench":
        written, rows_are = _bench(runs, to or runs.folder / BENCH, formats, spreadsheet_safe)
    else:
        from delibsim.conduct.export import export_form  # imports pandas

        written, rows_are = export_form(runs, chosen, to, not without_personas), {}
    if as_json:
        plain = {
            "study": runs.study,
            "folder": shown(written.folder),
            "rows": written.rows,
            "sessions": written.sessions,
            "escaped": written.escaped,
            "left_out": written.faults,
        }
        echo_json(plain)
    else:
        _print(written, rows_are, console())
    report(list(written.faults))


def _refuse(runs: Runs, form: str, without_texts: bool) -> None:
    """WrongInput for a form that this study cannot have; exit code 4 where there is nothing."""
    if StudyTexts(runs).held():
        if form == "bench":
            raise refused("bench_of_sessions")
    elif without_texts:
        raise refused("no_texts_to_leave_out", study=study_named(runs.study))
    elif not runs.sessions():
        say(f"{study_named(runs.study)} has no sessions to export yet", err=True)
        raise typer.Exit(4)


def _tables(
    runs: Runs, folder: Path, formats: Sequence[str], spreadsheet_safe: bool, texts: bool
) -> tuple[Export, Mapping[str, str]]:
    """Write all tables, with `texts` or without; what was exported, and what a row of each is."""
    from delibsim.conduct.export import export_tables  # imports pandas

    found = export_tables(runs, folder, formats, spreadsheet_safe, texts)
    if unscored := found.unscored:
        runs_of = "run has" if unscored == 1 else "runs have"
        advice = f"give `delibsim score {quoted(runs.study)}` and export again"
        say(f"{unscored} {runs_of} not all scores yet, empty in runs_wide: {advice}", err=True)
    return found.written, found.rows_are


def _bench(
    runs: Runs, folder: Path, formats: Sequence[str], spreadsheet_safe: bool
) -> tuple[Export, Mapping[str, str]]:
    """Write the seven tables; what was written, and what a row of each is."""
    from delibsim.analysis.study.bench import tables  # imports pandas
    from delibsim.conduct.bench import export_bench

    return export_bench(runs, folder, formats, spreadsheet_safe), tables()


def _print(written: Export, rows_are: Mapping[str, str], screen: Console) -> None:
    columns = [*texts("table"), *numbers(["rows"]), *texts("")]
    rows = [[name, str(n), rows_are[name]] for name, n in written.rows.items()]
    if rows:
        print_table("", columns, rows, screen)
    sessions = [f"{n} {status}" for status, n in written.sessions.items()]
    if sessions:
        screen.print(f"sessions: {', '.join(sessions)}")
    for column, n in written.escaped.items():
        screen.print(
            f"escaped: {counted(n, 'cell')} of {column} with what no table can hold: NUL or half"
            " a character"
        )
    screen.print(safe(f"written: {shown(written.folder)}"), soft_wrap=True)


@declared(
    package_app,
    "package",
    "package",
    services=", ".join(_KNOWN["services"]),
    licences=", ".join(_KNOWN["licences"]),
)
def package(
    studies: list[str],
    service: str = "",
    to: Path | None = None,
    check: bool = False,
    licence: str = "",
    creator: Words = None,
    title: str = "",
    without_texts: bool = False,
    people: str = "",
    instruments: bool = False,
    redact: bool = False,
    keep: Words = None,
    outcome: Words = None,
    draws: int = 10_000,
    figures: str | None = None,
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Write studies as a replication package that a stranger can check, in a folder and as a zip;
    or check one.

    Exit code 0; 3 if something was left out or differs from its record, 2 if it would hold what it
    must not. With --check 0 only if all is equal, 3 if not all can be checked, 4 if anything
    differs.
    """
    if check:
        raise typer.Exit(_check(studies, quiet, as_json))
    if service not in _KNOWN["services"]:
        raise unknown("service", service, _KNOWN["services"], "Name it: --for osf")
    if to is None:
        raise WrongInput("name the folder of the package: -o FOLDER")
    kinds = style.kinds_of_files(figures)
    from delibsim.conduct.package import Unclean, Wishes  # imports pandas
    from delibsim.conduct.package import package as write
    from delibsim.store.publication import publication_of

    found = [study_at(one, root) for one in studies]
    publication = publication_of(found, licence, creator or [], title)
    wishes = Wishes(
        service,
        not without_texts,
        people,
        instruments,
        redact,
        tuple(keep or ()),
        draws,
        tuple(outcome or ()),
        kinds,
    )
    try:
        written = write(found, publication, wishes, to, progress(quiet or as_json))
    except Unclean as error:
        _list("must not stand in it", [one.told() for one in error.traces])
        raise
    if as_json:
        places = {"folder": shown(written.folder), "archive": shown(written.archive)}
        echo_json(asdict(written) | places)
    else:
        _print_package(written)
    raise typer.Exit(0 if written.whole else 3)


def _check(folders: list[str], quiet: bool, as_json: bool) -> int:
    """Check a package and say what came of it; the exit code."""
    if len(folders) != 1:
        raise WrongInput("--check is of one folder: delibsim package --check FOLDER")
    from delibsim.conduct.package_check import check  # imports pandas

    found = check(Path(folders[0]), progress(quiet or as_json))
    if as_json:
        echo_json(asdict(found) | {"folder": shown(found.folder)})
    else:
        print_each(found.equal, console())
        _list("not checked", found.unchecked)
        _list("not equal", found.faults)
        if not found.faults:
            say("nothing differs")
    if found.faults:
        return 4
    return 3 if found.unchecked else 0


def _print_package(written: "Packaged") -> None:
    """Say what was written, what was left out, and what comes next."""
    for study, out in written.left_out.items():
        _list(f"{study}: left out", [f"{one.place}: {one.detail}" for one in out])
    _list("redacted", [one.told() for one in written.redacted])
    _list("packaged, and not equal to its record", written.differing)
    files = counted(written.files, "file")
    say(f"written: {shown(written.folder)}, {files}; {shown(written.archive)}")
    say(f"next: delibsim package --check {quoted(shown(written.folder))}")


def _list(title: str, lines: Sequence[str]) -> None:
    """Print lines under their number, the first of them."""
    if not lines:
        return
    more = [f"  and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    for line in [f"{title} ({len(lines)}):", *(f"  {line}" for line in lines[:LISTED]), *more]:
        say(safe(line), err=True)
