"""`delibsim code ... kind=rationale`: whether rationales conclude the levels given."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from delibsim.analysis.coding.costs import audit_rows, corrected_rows, failure_counts
from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.asking.collect import CollectedForm, is_form
from delibsim.asking.kinds.audit import Audit, audit_of
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.rationale import (
    RATIONALES,
    audit_of_plan,
    export_rationales,
    import_corrections,
    plan_audit,
)
from delibsim.asking.nouns import Plan
from delibsim.asking.people import HandedOut
from delibsim.cli.asking import AskingCommand, CommandLine, Handing, answers_table
from delibsim.cli.options import parted, settings_of, settings_of_kind
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each
from delibsim.conduct.packs import collect_and_score
from delibsim.domain.coding import KINDS
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import counted
from delibsim.store.tables.csv_cells import read_sheet

SAMPLE = 50
"""How many rationales are handed out unless told otherwise."""
LISTED = 10
"""Of so many misquotations and failures each is printed; --json has all."""
OF_READING = settings_of_kind("rationale_ask")


class Rationale(AskingCommand):
    """Verdicts of readers on the rationales of codes."""

    command = "code"
    kind = RATIONALES
    following = "code report"
    form = " kind=rationale"
    some = True

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """What a model is to read."""
        own, others = parted(call.words, OF_READING)
        given = settings_of(own, OF_READING)
        if not given["model"]:
            raise WrongInput("name the model that reads rationales: model=NAME")
        return plan_audit(_audit(call, given["scheme"]), given["model"], n, others)

    def tables(self, plan: Plan) -> list[DisplayTable]:
        """The tables of the audit."""
        return list(_tables(audit_of_plan(plan)))

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand out a sample of rationales to be read, with the table of failures."""
        if handing.online is not None or handing.raters:
            raise refused("rationales_on_paper")
        return export_rationales(_audit(call), handing.n or SAMPLE, handing.out)

    def collect(self, call: CommandLine, form: Path) -> CollectedForm:
        """Read a form of verdicts back, or a table of failures with corrected kinds."""
        audit = _audit(call)
        if is_form(read_sheet(form).header):
            return collect_and_score(form, call.runs)
        n = import_corrections(form, audit)
        return CollectedForm("correction", n, n, 0, 0, {}, (), (call.runs.study,))

    def kept(self, call: CommandLine) -> Plan:
        """Audits are not replayed."""
        raise WrongInput("an audit is not replayed; replay the codes: leave kind=rationale out")

    def show_report(
        self,
        call: CommandLine,
        tables: str,
        out: Path | None,
        figures: Sequence[str] | None,
        as_json: bool,
    ) -> NoReturn:
        """Print the audit, by rule and by readers."""
        if tables or out is not None:
            raise WrongInput("an audit is printed, or given by --json; leave --tables and -o out")
        found = _audit(call)
        if as_json:
            echo_json(found.plain())
        else:
            show_audit(found, console())
        raise typer.Exit(exit_code(bool(found.readings), True))


def _audit(call: CommandLine, scheme: str | None = None) -> Audit:
    """The audit of the coding that is meant."""
    name = call.named("scheme") if scheme is None else scheme
    return audit_of(coding_of(call.runs, name))


def show_audit(found: Audit, screen: Console) -> None:
    """Print the tables of an audit, and in sentences what they leave out."""
    print_each(_head(found), screen)
    for table in _tables(found):
        screen.print()
        show_table(table, screen)
    print_each(_failures(found), screen)
    print_each(_misquoted(found), screen)


def _head(found: Audit) -> Iterator[str]:
    """What was audited, and what was not."""
    calls = counted(len(found.readings), "call")
    yield f"{calls} with a level, scheme {found.coding.scheme.id}"
    if found.without_level:
        yield f"without a level, and no part of this: {counted(found.without_level, 'call')}"
    if found.edited:
        yield f"texts that were edited since, so no quotation was looked for: {found.edited}"


def _tables(found: Audit) -> Iterator[DisplayTable]:
    """Rates by model and dimension, those of readers, and kinds of failure."""
    yield answers_table("by_rule", map(_flat, audit_rows(found.readings)))
    rows = list(map(_flat, corrected_rows(found.readings, found.verdicts)))
    if rows:
        yield answers_table("by_readers", rows)
    counts = failure_counts(found.failures)
    if counts:
        rows = []
        for kind, meaning in KINDS.items():
            rows.append([kind, *(str(own[kind]) for own in counts.values()), meaning])
        columns = [*texts("kind"), *numbers(counts), *texts("what it means")]
        yield DisplayTable(columns, rows, "Failures: the ensemble against people")


def _failures(found: Audit) -> Iterator[str]:
    """The first of the failures, with their texts."""
    for one in found.failures[:LISTED]:
        by = "" if one.kind == one.proposed else f" (proposed: {one.proposed})"
        gave = f"ensemble {one.ensemble}, {one.person} {one.given}"
        yield f"{one.text}, {one.dimension}: {gave}: {one.kind}{by}"
    yield from _rest(len(found.failures))


def _misquoted(found: Audit) -> Iterator[str]:
    """The first of the rationales that quote words which are not in the text."""
    made_up = [one for one in found.readings if one.misquoted]
    if made_up:
        yield ""
        yield "Misquoted: words that are not in the text"
    for one in made_up[:LISTED]:
        sample, said = one.sample, (one.misquoted or ("",))[0]
        yield f"{sample.text}, {sample.dimension}, {sample.model}: “{said}”"
    yield from _rest(len(made_up))


def _rest(n: int) -> Iterator[str]:
    """How many are not listed."""
    if n > LISTED:
        yield f"and {n - LISTED} more (--json lists all)"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its shares as values, and the interval of the first that readers give."""
    faithful = row["faithful"]
    ends = "-" if isnan(faithful["value"]) else f"{faithful['low']:.3f}, {faithful['high']:.3f}"
    shares = {name: one["value"] for name, one in row.items() if isinstance(one, Mapping)}
    kind = "person" if row.get("kind") == "human" else row.get("kind")
    return {**row, **shares, "interval": ends, "who": kind}
