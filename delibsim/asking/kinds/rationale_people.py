"""People who read rationales of codes: samples handed out, and their verdicts and corrections.

Neither the text nor the level that was given stands on a sheet.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from delibsim.analysis.coding.costs import Stratum, stratum_of
from delibsim.asking.collect import NOTHING, refuse
from delibsim.asking.kinds.audit import Audit
from delibsim.asking.kinds.code_import import level_of
from delibsim.asking.paper import document, escaped, form_text, hand_out, paragraphs, table
from delibsim.asking.people import (
    Given,
    HandedOut,
    Pack,
    Replies,
    SheetStep,
    new_folder,
    pack_name,
    sheet_code,
)
from delibsim.domain.annotation import Text
from delibsim.domain.coding import KINDS, Failure, Reading, Verdict
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.measures.designs import even_sizes
from delibsim.models.person.fields import Field
from delibsim.prompts.coding import NO_LEVEL, audit_prompt
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Audits, Codings, Correction
from delibsim.store.files import write_atomically
from delibsim.store.tables.csv_cells import read_sheet

FAILURES = ("text", "dimension", "person", "given", "ensemble", "unstable", "kind")
NONE_CONCLUDED = "none concluded"
"""What a reader writes of a rationale that concludes no level."""
READER = "reader 1"
LEVEL = "level"
INTRO = read_data("prompts.yaml")["audit"]["people"].format(none=NONE_CONCLUDED)


@dataclass
class RationalePack(Pack):
    """A pack of rationales of one scheme: the level that each concludes, by any reader."""

    kind: ClassVar[Given] = "rationales"
    noun: ClassVar[str] = "verdict"
    person: ClassVar[str] = "reader"
    anyone: ClassVar[bool] = True

    def rater(self, code: str, sheet: Mapping[str, Any]) -> str:
        """A name for a reader, who may put another."""
        return READER

    def titles(self, words: Mapping[str, str]) -> tuple[str, str]:
        """Title and introduction of its pages."""
        return f"Reading rationales: {self._scheme.name}", INTRO

    def unit(self, sheet: str) -> str:
        """The sample."""
        return f"rationale {' '.join(map(str, self.sheets[sheet].values()))}"

    def step(self, sheet: str, given: Replies) -> SheetStep | None:
        """The level."""
        if LEVEL in given:
            return None
        key = self.sheets[sheet]
        said = Text(sheet, self._rationales[tuple(key.values())])
        return SheetStep(
            LEVEL, audit_prompt(self._scheme.dimension(key["dimension"]), said, "Reader")
        )

    def level(self, step: SheetStep, asked: Field, cell: str) -> str:
        """The level that a cell names, or that it names none."""
        if cell.casefold() in (NO_LEVEL.casefold(), NONE_CONCLUDED):
            return NO_LEVEL
        assert step.prompt is not None
        key = self.sheets[step.prompt.purpose.occasion.removeprefix("audit ")]
        return str(level_of(self._scheme.dimension(key["dimension"]), cell)[0])

    def given(self, sheet: str, given: Replies) -> list[Verdict]:
        """The verdict of the reader for whom the sheet was written."""
        return self.written(sheet, given, READER)

    def written(self, sheet: str, given: Replies, rater: str) -> list[Verdict]:
        """The verdict of this reader."""
        key, reply = self.sheets[sheet], given.get(LEVEL)
        if reply is None:
            return []
        dimension = self._scheme.dimension(key["dimension"])
        said = reply if isinstance(reply, str) else f"LEVEL: {next(iter(reply.values()))}"
        form = audit_prompt(dimension, Text(sheet, ""), rater).reply
        level = {str(one): one for one in dimension.values}.get(form.read(said))
        return [Verdict(**key, reader=rater, kind="human", level=level, pack=self.name)]

    def same(self, old: Verdict, new: Verdict) -> bool:
        """Whether two verdicts conclude one level."""
        return old.level == new.level

    def said(self, answer: Verdict) -> str:
        """The level."""
        return f"level {answer.level}"

    @cached_property
    def _scheme(self) -> Scheme:
        return Codings.of(self.runs, self.answers.name).scheme()

    @cached_property
    def _rationales(self) -> Mapping[tuple[Any, ...], str]:
        """The rationales by the key of their sample, read once."""
        found = {}
        for one in Codings.of(self.runs, self.answers.name).all():
            found[one.text, one.dimension, one.model, one.index, one.wording] = one.rationale
        return found


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


def export_rationales(audit: Audit, n: int, folder: Path | None = None) -> HandedOut:
    """Hand out a stratified sample of rationales, and the table of failures.

    By default into audit-NAME; the study keeps the key. WrongInput where there is no rationale, or
    the folder exists.
    """
    runs, scheme = audit.coding.runs, audit.coding.scheme
    drawn = draw_rationales(audit.readings, n, (runs.study, scheme.id, "audit"))
    if not drawn:
        raise WrongInput(f"{study_named(runs.study)} has no rationale to read")
    audits = Audits.of(runs, scheme.id)
    name = pack_name(runs, scheme.id, "audit", len(packs_of(audits.files)) + 1)
    place = new_folder(folder, f"audit-{name}", None)
    assert place is not None
    samples = [reading.sample for reading in drawn]
    places = {sample.key: seed_of(name, "order", *sample.key) for sample in samples}
    sheets: dict[str, dict[str, Any]] = {}
    for sample in sorted(samples, key=lambda one: places[one.key]):
        code = sheet_code((name, "order", *sample.key), sheets)
        own = ("text", "dimension", "model", "index", "wording")
        sheets[code] = {part: getattr(sample, part) for part in own}
    plain = {"scheme_sha256": scheme.sha256}
    pack = RationalePack(runs, name, sheets, answers=audits, plain=plain)
    hand_out(pack, place)
    if audit.failures:
        write_atomically(place / "failures.csv", failures_form(audit.failures))
        wanted = {one.text for one in audit.failures}
        texts = [text for text in audit.coding.texts() if text.id in wanted]
        page = failures_page(audit.failures, audit.coding.shown(texts), scheme)
        write_atomically(place / "failures.html", page)
    strata, failures = len(set(map(stratum_of, drawn))), len(audit.failures)
    facts = {"rationales": len(drawn), "strata": strata, "failures": failures}
    lines = [
        f"{counted(len(drawn), 'rationale')} of {counted(strata, 'stratum', 'strata')}:"
        " reader-1.html to print, form.csv to fill in"
    ]
    if failures:
        lines.append(
            f"failures.csv: {counted(failures, 'disagreement')}, with kinds to be corrected;"
            " failures.html shows their texts"
        )
    return HandedOut(name, place, facts, lines)


def failures_form(failures: Sequence[Failure]) -> str:
    """Every disagreement with its kind as CSV, for people to correct the kind."""
    rows = []
    for one in failures:
        unstable = "yes" if one.unstable else "no"
        key = [one.text, one.dimension, one.person]
        rows.append([*key, one.given, one.ensemble, unstable, one.kind])
    return form_text(FAILURES, rows)


def failures_page(failures: Sequence[Failure], texts: Mapping[str, Text], scheme: Scheme) -> str:
    """A table of failures as an HTML document, and below it their texts as coders see them.

    Each row links to its text, and each text back to the table. A text that the study no longer
    has (`texts` by id) is said to be missing.
    """
    anchors: dict[str, str] = {}
    for one in failures:
        anchors.setdefault(one.text, f"text-{len(anchors) + 1}")
    rows = [_row(one, anchors[one.text]) for one in failures]
    kinds = "".join([f"<li><b>{kind}</b>: {escaped(told)}</li>" for kind, told in KINDS.items()])
    parts = [
        f"<h1 id=failures>Failures: {escaped(scheme.name)}</h1>"
        f"<p>{counted(len(failures), 'disagreement')} of the ensemble with people. Correct the"
        f" kinds in failures.csv.</p><ul>{kinds}</ul>"
        f"{table(FAILURES, rows)}"
    ]
    for id, anchor in anchors.items():
        said = "<p>The study no longer has this text.</p>"
        if id in texts:
            said = f"<div class=speech>{paragraphs(texts[id].text)}</div>"
        back = "<p><a href=#failures>back to the table</a></p>"
        parts.append(f"<section id={anchor}><h2>{escaped(id)}</h2>{said}{back}</section>")
    return document(f"Failures: {scheme.name}", parts)


def _row(one: Failure, anchor: str) -> list[str]:
    """A row of the table; the text is a link to where it stands on the page."""
    unstable = "yes" if one.unstable else "no"
    values = (one.dimension, one.person, one.given, one.ensemble, unstable, one.kind)
    link = f"<a href=#{anchor}>{escaped(one.text)}</a>"
    return [link, *(escaped(str(value)) for value in values)]


def import_corrections(file: Path, audit: Audit) -> int:
    """Keep the kinds in a table of disagreements that differ from those there are; how many.

    WrongInput that names every line at fault, and nothing is kept.
    """
    sheet = read_sheet(file)
    if not {"text", "dimension", "person", "kind"} <= set(sheet.header):
        raise WrongInput(
            f"{file}, line 1: this is neither the form of a sample nor a table of failures"
            f" ({', '.join(FAILURES)})"
        )
    known = {(one.text, one.dimension, one.person): one for one in audit.failures}
    found, faults = [], []
    for line, row in sheet.records():
        failure = known.get((row["text"], row["dimension"], row["person"]))
        kind = next((name for name in KINDS if name == row["kind"]), None)
        if failure is None:
            faults.append(
                f"line {line}: the ensemble and '{row['person']}' do not disagree on text"
                f" '{row['text']}', {row['dimension']}"
            )
        elif kind is None:
            listed = ", ".join(KINDS)
            faults.append(f"line {line}: '{row['kind']}' is no kind of failure ({listed})")
        elif kind != failure.kind:
            key = failure.text, failure.dimension, failure.person
            found.append(Correction(*key, kind))
    refuse(file, faults, NOTHING)
    with audit.coding.runs.lock():
        Audits.of(audit.coding.runs, audit.coding.scheme.id).correct(found)
    return len(found)
