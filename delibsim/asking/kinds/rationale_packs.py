"""Samples of rationales handed out to people, and their verdicts and corrections brought back."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.analysis.coding.costs import Stratum, stratum_of
from delibsim.asking.forms import NOTHING, refuse
from delibsim.asking.handing_out import new_folder, pack_name
from delibsim.asking.kinds.audit import Audit
from delibsim.asking.kinds.failure_pages import failures_page
from delibsim.asking.kinds.rationale_sheets import (
    FAILURES,
    VERDICTS,
    audit_form,
    audit_page,
    failures_form,
    read_corrections,
    read_verdicts,
)
from delibsim.asking.pages import sheet_code
from delibsim.domain.audit import Reading
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.domain.text import study_named
from delibsim.measures.designs import even_sizes
from delibsim.store.audits import Audits
from delibsim.store.files import write_atomically
from delibsim.store.packs import add_pack, packs_of
from delibsim.store.tables.csv_cells import read_sheet

KEPT = (
    "Nothing was imported: verdicts are never overwritten. Put these lines back as they were, or"
    " give the other verdicts under another reader's name"
)


@dataclass(frozen=True)
class AuditPack:
    """A sample that was handed out: its name, its folder, how many rationales and strata."""

    name: str
    folder: Path
    rationales: int
    strata: int
    failures: int

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"folder": str(self.folder)}


@dataclass(frozen=True)
class ImportedVerdicts:
    """What came of a form: verdicts or corrections in it, how many new, and empty cells."""

    given: int
    new: int
    empty: int
    corrections: int

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def draw_rationales(readings: Sequence[Reading], n: int, names: Sequence[str]) -> list[Reading]:
    """About as many readings of each stratum (model, dimension, what the rule read), `n` in all.

    The order of the draw comes from names: a larger `n` adds to what a smaller one draws.
    """
    strata: defaultdict[Stratum, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.sample.rationale.strip():
            strata[stratum_of(reading)].append(reading)
    keys = sorted(strata)
    sizes = even_sizes([len(strata[key]) for key in keys], n)
    drawn = []
    for key, size in zip(keys, sizes, strict=True):
        own = sorted(strata[key], key=lambda one: seed_of(*names, *map(str, one.sample.key)))
        drawn += own[:size]
    return drawn


def export_rationales(audit: Audit, n: int, folder: Path | None = None) -> AuditPack:
    """Write pages and form of a stratified sample of rationales, and the table of failures.

    By default into audit-NAME; the study keeps the key. WrongInput where there is no rationale, or
    the folder exists.
    """
    runs, scheme = audit.coding.runs, audit.coding.scheme
    drawn = draw_rationales(audit.readings, n, (runs.study, scheme.id, "audit"))
    if not drawn:
        raise WrongInput(f"{study_named(runs.study)} has no rationale to read")
    files = Audits.of(runs, scheme.id).files
    name = pack_name(runs, scheme.id, "audit", len(packs_of(files)) + 1)
    folder = new_folder(folder, f"audit-{name}")
    sheets = _sheets([reading.sample for reading in drawn], name)
    key = {code: _key(sample) for code, sample in sheets.items()}
    pack = {"kind": "audit", "scheme_sha256": scheme.sha256, "sheets": key}
    add_pack(files, name, pack)
    write_atomically(folder / "rationales.html", audit_page(sheets, scheme))
    write_atomically(folder / "form.csv", audit_form(sheets, name))
    if audit.failures:
        write_atomically(folder / "failures.csv", failures_form(audit.failures))
        wanted = {one.text for one in audit.failures}
        texts = [text for text in audit.coding.texts() if text.id in wanted]
        page = failures_page(audit.failures, audit.coding.shown(texts), scheme)
        write_atomically(folder / "failures.html", page)
    strata = len({stratum_of(reading) for reading in drawn})
    return AuditPack(name, folder, len(drawn), strata, len(audit.failures))


def _sheets(samples: Sequence[Sample], pack: str) -> dict[str, Sample]:
    """The samples under codes, in an order that says nothing of their strata."""
    places = {sample.key: seed_of(pack, "order", *sample.key) for sample in samples}
    found: dict[str, Sample] = {}
    for sample in sorted(samples, key=lambda one: places[one.key]):
        draw = random.Random(places[sample.key])
        code = sheet_code(draw)
        while code in found:
            code = sheet_code(draw)
        found[code] = sample
    return found


def _key(sample: Sample) -> dict[str, Any]:
    """What a sheet stands for."""
    names = ("text", "dimension", "model", "index", "wording")
    return {name: getattr(sample, name) for name in names}


def import_verdicts(file: Path, audit: Audit) -> ImportedVerdicts:
    """Keep the verdicts in the form of a sample, or the kinds in a table of failures.

    WrongInput that names every line at fault, and nothing is kept.
    """
    runs, scheme = audit.coding.runs, audit.coding.scheme
    audits = Audits.of(runs, scheme.id)
    sheet = read_sheet(file)
    if set(VERDICTS) <= set(sheet.header):
        table = read_verdicts(sheet, packs_of(audits.files), scheme)
    elif {"text", "dimension", "person", "kind"} <= set(sheet.header):
        table = read_corrections(sheet, audit.failures)
    else:
        columns = ", ".join(VERDICTS)
        raise WrongInput(
            f"{file}, line 1: this is neither the form of a sample ({columns}) nor a table of"
            f" failures ({', '.join(FAILURES)})"
        )
    refuse(file, table.faults, NOTHING)
    before = {(*one.sample, one.reader): one for one in audits.people()}
    new, clashes = [], []
    for verdict, line in table.verdicts:
        old = before.get((*verdict.sample, verdict.reader))
        if old is None:
            new.append(verdict)
        elif old.level != verdict.level:
            clashes.append(f"line {line}: {verdict.reader} read level {old.level} before")
    refuse(file, clashes, KEPT)
    with runs.lock():
        audits.add(new, people=True)
        audits.correct(table.corrections)
    given = len(table.verdicts) + len(table.corrections)
    return ImportedVerdicts(
        given=given,
        new=len(new) + len(table.corrections),
        empty=table.empty,
        corrections=len(table.corrections),
    )
