"""How an audit is printed: rates by model and dimension, readers, kinds of failure."""

from math import isnan
from typing import Any

from rich.console import Console

from delibsim.analysis.coding.costs import (
    Share,
    audit_rows,
    corrected_rows,
    failure_counts,
)
from delibsim.analysis.table import numbers, texts
from delibsim.asking.kinds.audit import Audit
from delibsim.asking.nouns import Outcome
from delibsim.cli.table import print_table
from delibsim.cli.terminal import number, print_each
from delibsim.domain.audit import KINDS
from delibsim.domain.text import counted

LISTED = 10
"""Of so many misquotations and failures each is printed; --json has all."""
RATE = ("rate", "95% interval")


def print_audit(found: Audit, screen: Console) -> None:
    """Print the tables of an audit, and in sentences what they leave out."""
    print_each(_head(found), screen)
    rows = []
    for row in audit_rows(found.readings):
        counts = [row.calls, row.agrees, row.differs, row.not_read]
        rates = [*_rate(row.faithful), *_rate(row.misquoted)[:1]]
        coverage = number(row.coverage.value)
        rows.append([row.dimension, row.model, *map(str, counts), coverage, *rates])
    heads = ["calls", "agrees", "differs", "not read", "read", *RATE, "misquoted"]
    screen.print()
    print_table("Read by rule", [*texts("dimension", "model"), *numbers(heads)], rows, screen)
    _print_readers(found, screen)
    _print_failures(found, screen)
    made_up = [one for one in found.readings if one.misquoted]
    if made_up:
        screen.print()
        lines = []
        for one in made_up[:LISTED]:
            sample, said = one.sample, (one.misquoted or ("",))[0]
            lines.append(f"{sample.text}, {sample.dimension}, {sample.model}: “{said}”")
        rest = len(made_up) - LISTED
        more = [f"and {rest} more (--json lists all)"] if rest > 0 else []
        print_each(["Misquoted: words that are not in the text", *lines, *more], screen)


def _head(found: Audit) -> list[str]:
    """What was audited, and what was not."""
    lines = [
        f"{counted(len(found.readings), 'call')} with a level, scheme {found.coding.scheme.id}"
    ]
    if found.without_level:
        lines.append(
            f"without a level, and no part of this: {counted(found.without_level, 'call')}"
        )
    if found.edited:
        lines.append(
            f"texts that were edited since, so no quotation was looked for: {found.edited}"
        )
    return lines


def _print_readers(found: Audit, screen: Console) -> None:
    """The table of readers, if there are any."""
    rows = []
    for row in corrected_rows(found.readings, found.verdicts):
        kind = "model" if row.kind == "model" else "person"
        counts = [row.read, row.agrees, row.differs, row.none]
        rates = [*_rate(row.faithful), number(row.stands_for), str(row.rule_missed)]
        rows.append([row.reader, kind, *map(str, counts), *rates])
    if not rows:
        return
    heads = ["read", "agrees", "differs", "none", *RATE, "stands for", "rule wrong"]
    screen.print()
    print_table("Read by readers", [*texts("reader", "kind"), *numbers(heads)], rows, screen)


def _print_failures(found: Audit, screen: Console) -> None:
    """The table of kinds of failure, and the first of the failures with their texts."""
    counts = failure_counts(found.failures)
    if not counts:
        return
    rows = []
    for kind, meaning in KINDS.items():
        rows.append([kind, *(str(own[kind]) for own in counts.values()), meaning])
    screen.print()
    columns = [*texts("kind"), *numbers(counts), *texts("what it means")]
    print_table("Failures: the ensemble against people", columns, rows, screen)
    lines = []
    for one in found.failures[:LISTED]:
        by = "" if one.kind == one.proposed else f" (proposed: {one.proposed})"
        gave = f"ensemble {one.ensemble}, {one.person} {one.given}"
        lines.append(f"{one.text}, {one.dimension}: {gave}: {one.kind}{by}")
    rest = len(found.failures) - LISTED
    more = [f"and {rest} more (--json lists all)"] if rest > 0 else []
    print_each([*lines, *more], screen)


def _rate(share: Share) -> tuple[str, str]:
    """A share and its interval."""
    if isnan(share.value):
        return "-", "-"
    return number(share.value), f"{share.low:.3f}, {share.high:.3f}"


def reading_plain(reader: str, outcome: Outcome) -> dict[str, Any]:
    """What came of asking a model, as JSON prints it."""
    return {
        "reader": reader,
        "new": outcome.new,
        "before": outcome.before,
        "asked": outcome.asked,
        "unreadable": sum(outcome.missing.values()),
        "faults": list(outcome.faults),
    }
