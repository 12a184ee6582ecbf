"""`delibsim code audit`: whether rationales conclude the levels given, and where models fail."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.asking.collect import is_form
from delibsim.asking.kinds.audit import Audit, audit_of
from delibsim.asking.kinds.coding import Coding, coding_of
from delibsim.asking.kinds.rationale import plan_audit
from delibsim.asking.kinds.rationale_people import export_rationales, import_corrections
from delibsim.asking.nouns import Outcome, Plan
from delibsim.cli.asking import View, show_estimate
from delibsim.cli.code_audit_view import print_audit, reading_plain
from delibsim.cli.code_options import CodeSettings, values_of
from delibsim.cli.online import show_collected
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, shown, study_at
from delibsim.conduct.ask import ask
from delibsim.conduct.packs import collect_and_score
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import Estimate
from delibsim.store.tables.csv_cells import read_sheet

SAMPLE = "Write so many rationales for people to read, drawn evenly by model, dimension, outcome."
IMPORT = "Take a form of verdicts, or a table of failures with corrected kinds, back."
MODEL = "Have this model read rationales, blind to text and level (with --sample: so many)."
ESTIMATE = "Say what reading by --model would take, and ask nobody."
EPILOG = (
    "For example: delibsim code audit pilot --sample 50. A sample is written into audit-NAME, or"
    " into another folder with --to FOLDER. Settings: scheme=NAME; and with --model those of models"
    " and limits."
)


def audit(
    study: StudyName,
    settings: CodeSettings = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help=SAMPLE)] = None,
    file: Annotated[Path | None, typer.Option("--import", help=IMPORT)] = None,
    model: Annotated[str, typer.Option("--model", help=MODEL)] = "",
    only: Annotated[bool, typer.Option("--estimate", help=ESTIMATE)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Read the rationale of every code by rule: it agrees with the level given, differs, or cannot
    be read. Rates stand on what could be read, with Wilson intervals.

    Also: rationales that quote words which are not in the text, and kinds of failure where the
    ensemble and people disagree. Exit code 0; 3 if --model could not read all that it was asked
    to, or if cells of a form are empty, 4 if there is nothing to audit.
    """
    own, others = _parted(settings or [], bool(model))
    coding = coding_of(study_at(study, root), own["scheme"])
    found = audit_of(coding)
    if only and not model:
        raise WrongInput("--estimate is about reading by a model: name it with --model NAME")
    if file is not None:
        raise typer.Exit(_import(file, found, as_json))
    if model:
        planned = plan_audit(found, model, sample, others)
        if only:
            show_estimate(planned, VIEW, as_json)
            return
        raise typer.Exit(_ask(planned, coding, as_json))
    if sample is not None:
        _export(found, sample, Path(own["to"]) if own["to"] else None, as_json)
        return
    if as_json:
        echo_json(found.plain())
    else:
        print_audit(found, console())
    raise typer.Exit(exit_code(bool(found.readings), True))


def _parted(settings: Sequence[str], asked: bool) -> tuple[dict[str, str], list[str]]:
    """The settings of the audit, and those of a model that is asked."""
    known = ("scheme", "to")
    own = [one for one in settings if not asked or one.partition("=")[0] in known]
    return values_of(own, known), [one for one in settings if one not in own]


def _export(found: Audit, sample: int, folder: Path | None, as_json: bool) -> None:
    """Write a sample of rationales for people."""
    pack = export_rationales(found, sample, folder)
    if as_json:
        echo_json(pack.plain())
        return
    place = shown(pack.folder.resolve())
    rationales = counted(pack.rationales, "rationale")
    lines = [
        f"{rationales} of {counted(pack.strata, 'stratum', 'strata')}: reader-1.html to print,"
        " form.csv to fill in"
    ]
    if pack.failures:
        lines.append(
            f"failures.csv: {counted(pack.failures, 'disagreement')}, with kinds to be corrected;"
            " failures.html shows their texts"
        )
    screen = console()
    print_each(lines, screen)
    study = found.coding.runs.study
    screen.print(f"Folder     {place}")
    screen.print(
        f"Next       delibsim code audit {quoted(study)} --import {quoted(f'{place}/form.csv')}"
    )


def _import(file: Path, found: Audit, as_json: bool) -> int:
    """Take a form back; the exit code."""
    if is_form(read_sheet(file).header):
        root = found.coding.runs.folder.parent
        return show_collected(collect_and_score(file, root), as_json)
    corrected = import_corrections(file, found)
    if as_json:
        echo_json({"corrections": corrected})
    else:
        print_each([f"{counted(corrected, 'correction')} kept"], console())
    return exit_code(True, True)


def _ask(planned: Plan, coding: Coding, as_json: bool) -> int:
    """Have a model read rationales; the exit code."""
    notify = partial(console(stderr=True).print, soft_wrap=True)
    outcome = asyncio.run(ask(planned, notify))
    found, (reader,) = audit_of(coding), planned.models
    if as_json:
        echo_json(found.plain() | {"reading": reading_plain(reader, outcome)})
    else:
        _show(planned, outcome, console())
        print_audit(found, console())
    print_each([f"missing: {fault}" for fault in outcome.faults], console(stderr=True))
    return exit_code(bool(outcome.new + outcome.before), not outcome.faults and not outcome.missing)


def _show(planned: Plan, outcome: Outcome, screen: Console) -> None:
    """Say how many rationales a model read."""
    unreadable = sum(outcome.missing.values())
    without = f", of them without a verdict {unreadable}" if unreadable else ""
    (reader,) = planned.models
    told = (
        f"{reader}: {counted(outcome.new, 'rationale')} read now{without}, {outcome.before} before;"
        f" {counted(outcome.asked, 'call')}"
    )
    print_each([told], screen)


def _before(planned: Plan, found: Estimate) -> list[str]:
    """How many rationales there are to be read."""
    read = f"{found.held} read already, {found.waiting} to be read"
    return [f"{study_named(planned.runs.study)}: {counted(found.planned, 'rationale')}, {read}"]


def _values(planned: Plan, found: Estimate) -> dict[str, Any]:
    return {}


def _plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    return outcome.plain()


VIEW = View("rationales", _before, _values, _plain, _show)
