"""`delibsim code audit`: whether rationales conclude the levels given, and where models fail."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.code_audit_view import print_audit, reading_plain
from delibsim.cli.code_options import CodeSettings, values_of
from delibsim.cli.estimate import print_lines
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, shown, study_at
from delibsim.conduct.coding.audit import Audit, audit_of
from delibsim.conduct.coding.audit_model import (
    AuditOutcome,
    AuditPlan,
    ask_reader,
    estimate_audit,
    plan_audit,
)
from delibsim.conduct.coding.audit_packs import export_rationales, import_verdicts
from delibsim.conduct.coding.scheme import coding_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, study_named
from delibsim.planning.estimate_tables import plain

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
            _print_estimate(planned, as_json)
            return
        raise typer.Exit(_ask(planned, as_json))
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
        f"{rationales} of {counted(pack.strata, 'stratum', 'strata')}: rationales.html to print,"
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
    screen.print(f"Next       delibsim code audit {study} --import {place}/form.csv")


def _import(file: Path, found: Audit, as_json: bool) -> int:
    """Take a form back; the exit code."""
    taken = import_verdicts(file, found)
    if as_json:
        echo_json(taken.plain())
    else:
        known = taken.given - taken.new
        what = "correction" if taken.corrections else "verdict"
        print_each(
            [
                f"{counted(taken.new, what)} kept, {known} known before,"
                f" {counted(taken.empty, 'cell')} left empty"
            ],
            console(),
        )
    return exit_code(bool(taken.given) or not taken.empty, not taken.empty)


def _ask(planned: AuditPlan, as_json: bool) -> int:
    """Have a model read rationales; the exit code."""
    notify = partial(console(stderr=True).print, soft_wrap=True)
    outcome = asyncio.run(ask_reader(planned, notify))
    found = audit_of(planned.audit.coding)
    if as_json:
        echo_json(found.plain() | {"reading": reading_plain(planned.reader, outcome)})
    else:
        _print_outcome(planned, outcome)
        print_audit(found, console())
    print_each([f"missing: {fault}" for fault in outcome.faults], console(stderr=True))
    whole = not outcome.faults and not outcome.unreadable
    return exit_code(bool(outcome.new + outcome.before), whole)


def _print_outcome(planned: AuditPlan, outcome: AuditOutcome) -> None:
    """Say how many rationales a model read."""
    unreadable = f", of them without a verdict {outcome.unreadable}" if outcome.unreadable else ""
    print_each(
        [
            f"{planned.reader}: {counted(outcome.new, 'rationale')} read now{unreadable},"
            f" {outcome.before} before; {counted(outcome.asked, 'call')}"
        ],
        console(),
    )


def _print_estimate(planned: AuditPlan, as_json: bool) -> None:
    """Say what the rationales that are still to be read will take."""
    found: Any = asyncio.run(estimate_audit(planned))
    study = planned.audit.coding.runs.study
    if as_json:
        estimate = plain(planned.plan, found)
        counts = estimate.pop("sessions")
        calls = {name: counts[name] for name in ("planned", "held", "waiting")}
        echo_json(estimate | {"study": study, "rationales": calls})
        return
    screen = console()
    rationales = counted(found.planned, "rationale")
    screen.print(
        f"{study_named(study)}: {rationales}, {found.held} read already, {found.waiting} to be read"
    )
    print_lines(planned.plan, found, screen, "rationales")
