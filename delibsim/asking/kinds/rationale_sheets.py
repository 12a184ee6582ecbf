"""Samples of rationales for people to read: the pages, the form, and the form read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from delibsim.asking.forms import Fault, form_text
from delibsim.asking.kinds.code_sheets import entry_html
from delibsim.asking.kinds.code_tables import level_of
from delibsim.asking.pages import document, escaped, paragraphs
from delibsim.domain.audit import KINDS, Failure, Verdict
from delibsim.domain.coding import Sample
from delibsim.domain.scheme import Scheme
from delibsim.domain.text import counted
from delibsim.store.audits import Correction
from delibsim.store.tables.csv_cells import Sheet

VERDICTS = ("audit", "sheet", "reader", "dimension", "level")
FAILURES = ("text", "dimension", "person", "given", "ensemble", "unstable", "kind")
NO_LEVEL = "none concluded"
"""What a reader writes of a rationale that concludes no level."""


def audit_page(sheets: Mapping[str, Sample], scheme: Scheme) -> str:
    """The pages of a sample as one HTML document: the entries, and each rationale under its code.

    Neither the text nor the level that was given stands on them.
    """
    parts = [
        f"<h1>Reading rationales: {escaped(scheme.name)}</h1>"
        f"<p>{counted(len(sheets), 'rationale')}.</p>"
        "<p>Each explains the level that somebody gave a text on one dimension. Write the level at"
        " which the explanation arrives. Go by its words alone: you see neither the text nor the"
        f" level. If it arrives at none, or leaves several open, write <b>{NO_LEVEL}</b>.</p>"
    ]
    used = {sample.dimension for sample in sheets.values()}
    parts += [entry_html(one) for one in scheme.dimensions if one.id in used]
    for code, sample in sheets.items():
        dimension = scheme.dimension(sample.dimension)
        levels = ", ".join([escaped(str(value)) for value in dimension.values])
        parts.append(
            f"<section><h2>Sheet <span class=code>{code}</span>: {escaped(dimension.name)}"
            f" ({dimension.id})</h2><div class=speech>{paragraphs(sample.rationale)}</div>"
            f"<p class=ask>Level ({levels}, or {NO_LEVEL}) ______</p></section>"
        )
    return document(f"Reading rationales: {scheme.name}", parts)


def audit_form(sheets: Mapping[str, Sample], audit: str) -> str:
    """The form as CSV: a line for each rationale, its level left empty."""
    rows = [[audit, code, "reader 1", one.dimension, ""] for code, one in sheets.items()]
    return form_text(VERDICTS, rows)


def failures_form(failures: Sequence[Failure]) -> str:
    """Every disagreement with its kind as CSV, for people to correct the kind."""
    rows = []
    for one in failures:
        unstable = "yes" if one.unstable else "no"
        key = [one.text, one.dimension, one.person]
        rows.append([*key, one.given, one.ensemble, unstable, one.kind])
    return form_text(FAILURES, rows)


@dataclass
class AuditTable:
    """What a form holds: verdicts or corrections with the line of each, empty cells, faults."""

    verdicts: list[tuple[Verdict, int]] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    empty: int = 0
    faults: list[str] = field(default_factory=list)


def read_verdicts(
    sheet: Sheet, packs: Mapping[str, Mapping[str, Any]], scheme: Scheme
) -> AuditTable:
    """The verdicts in the form of samples of this scheme."""
    found = AuditTable()
    seen: dict[tuple[Any, ...], int] = {}
    for line, row in sheet.records():
        if not row["level"]:
            found.empty += 1
            continue
        try:
            verdict = _verdict(row, packs, scheme)
        except Fault as fault:
            found.faults.append(f"line {line}: {fault}")
            continue
        key = (*verdict.sample, verdict.reader)
        if key in seen:
            first = f"first on line {seen[key]}"
            found.faults.append(f"line {line}: sheet {row['sheet']} stands here twice, {first}")
        seen.setdefault(key, line)
        found.verdicts.append((verdict, line))
    return found


def _verdict(
    row: Mapping[str, str], packs: Mapping[str, Mapping[str, Any]], scheme: Scheme
) -> Verdict:
    """The verdict in one line; Fault for what is wrong with it."""
    pack = packs.get(row["audit"])
    if pack is None:
        raise Fault(f"audit '{row['audit']}' was not exported from this study")
    key = pack["sheets"].get(row["sheet"])
    if key is None:
        raise Fault(f"sheet '{row['sheet']}' is not in audit {row['audit']}")
    if key["dimension"] != row["dimension"]:
        raise Fault(f"sheet {row['sheet']} is about {key['dimension']}, not '{row['dimension']}'")
    if not row["reader"]:
        raise Fault("the reader is not named")
    level = None
    if row["level"].casefold() != NO_LEVEL:
        level = level_of(scheme.dimension(key["dimension"]), row["level"])[0]
    return Verdict(**key, reader=row["reader"], kind="human", level=level, pack=row["audit"])


def read_corrections(sheet: Sheet, failures: Sequence[Failure]) -> AuditTable:
    """The kinds in a table of disagreements that differ from those there are."""
    found = AuditTable()
    known = {(one.text, one.dimension, one.person): one for one in failures}
    for line, row in sheet.records():
        failure = known.get((row["text"], row["dimension"], row["person"]))
        if failure is None:
            found.faults.append(
                f"line {line}: the ensemble and '{row['person']}' do not disagree on text"
                f" '{row['text']}', {row['dimension']}"
            )
            continue
        kind = next((name for name in KINDS if name == row["kind"]), None)
        if kind is None:
            kinds = ", ".join(KINDS)
            found.faults.append(f"line {line}: '{row['kind']}' is no kind of failure ({kinds})")
        elif kind != failure.kind:
            key = failure.text, failure.dimension, failure.person
            found.corrections.append(Correction(*key, kind))
    return found
