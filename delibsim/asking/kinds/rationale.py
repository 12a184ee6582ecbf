"""Reading rationales of codes, by a model or by people who see neither the text nor the level.

A unit is the rationale of one sample; the answer is the level at which it arrives.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from delibsim.analysis.coding.costs import Stratum, stratum_of
from delibsim.asking import people
from delibsim.asking.collect import NOTHING, refuse
from delibsim.asking.kinds.audit import Audit, audit_of
from delibsim.asking.kinds.code_plan import coding_asked
from delibsim.asking.kinds.coding import coding_of, level_of
from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round
from delibsim.asking.paper import document, escaped, form_text, hand_out, paragraphs, table
from delibsim.asking.road import missing_reason
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import KINDS, Failure, Reading, Sample, Verdict
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.measures.designs import even_sizes
from delibsim.models.ask import settled_in, with_settled
from delibsim.models.person.fields import Field
from delibsim.planning.load import Load, Range, tokens_of, tokens_of_prompt
from delibsim.prompts.coding import NO_LEVEL, audit_prompt, audit_reask
from delibsim.prompts.prompt import Prompt
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Audits, Codings, Correction
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import read_sheet

FAILURES = ("text", "dimension", "person", "given", "ensemble", "unstable", "kind")
NONE_CONCLUDED = "none concluded"
"""What a reader writes of a rationale that concludes no level."""
READER = "reader 1"
LEVEL = "level"
INTRO = read_data("prompts.yaml")["audit"]["people"].format(none=NONE_CONCLUDED)


@dataclass
class RationalePack(people.Pack):
    """A pack of rationales of one scheme: the level that each concludes, by any reader."""

    kind: ClassVar[people.Given] = "rationales"
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

    def step(self, sheet: str, given: people.Replies) -> people.SheetStep | None:
        """The level."""
        if LEVEL in given:
            return None
        key = self.sheets[sheet]
        said = Text(sheet, self._rationales[tuple(key.values())])
        return people.SheetStep(
            LEVEL, audit_prompt(self._scheme.dimension(key["dimension"]), said, "Reader")
        )

    def level(self, step: people.SheetStep, asked: Field, cell: str) -> str:
        """The level that a cell names, or that it names none."""
        if cell.casefold() in (NO_LEVEL.casefold(), NONE_CONCLUDED):
            return NO_LEVEL
        assert step.prompt is not None
        key = self.sheets[step.prompt.purpose.occasion.removeprefix("audit ")]
        return str(level_of(self._scheme.dimension(key["dimension"]), cell)[0])

    def given(self, sheet: str, given: people.Replies) -> list[Verdict]:
        """The verdict of the reader for whom the sheet was written."""
        return self.written(sheet, given, READER)

    def written(self, sheet: str, given: people.Replies, rater: str) -> list[Verdict]:
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


REASKS = 3


@dataclass(frozen=True)
class Rationales:
    """The samples whose rationales are to be read, and the scheme by which they were given."""

    scheme: Scheme
    study: str
    samples: tuple[Sample, ...]


class RationaleKind(Kind):
    """The kind: verdicts of a reader on rationales."""

    noun = "rationale"
    called = "the rationales"
    growth = Growth(fixed=())

    def kept(self, runs: Runs, name: str) -> Plan:
        """Audits are not replayed."""
        raise WrongInput(f"the audit of scheme {name} is not replayed: its record is of one reader")

    def keys(self, plan: Plan, coder: str) -> Iterable[Any]:
        """One verdict a rationale."""
        return ((*sample.key, coder) for sample in plan.about.samples)

    def rounds(
        self, plan: Plan, coder: str, keys: set[Any], done: Mapping[Any, Any], faults: list[str]
    ) -> Iterator[Round]:
        """All rationales at once."""
        wanted = [one for one in plan.about.samples if (*one.key, coder) in keys]
        yield Round(question(plan.about, sample, coder) for sample in wanted)

    def longest(self, plan: Plan) -> Prompt:
        """That of the longest rationale."""
        longest = max(plan.about.samples, key=lambda sample: len(sample.rationale))
        return question(plan.about, longest, next(iter(plan.models))).prompt()

    def load(self, plan: Plan, coder: str, waiting: set[Any]) -> Load:
        """A call a rationale."""
        found = Load()
        for sample in plan.about.samples:
            if (*sample.key, coder) in waiting:
                prompt = question(plan.about, sample, coder).prompt()
                reply = tokens_of(prompt.reply.example(""))
                found += Load(1, 1, tokens_of_prompt(prompt), Range(), reply, 1)
        return found

    def named(self, answer: Verdict) -> str:
        """The sample and the reader."""
        return f"{answer.text}, {answer.dimension}, {answer.model}, {answer.reader}"

    def said(self, answer: Verdict) -> str:
        """The level."""
        return str(answer.missing) if answer.missing else f"level {answer.level}"

    def plain(self, plan: Plan, outcome: Outcome) -> Mapping[str, Any]:
        """The whole audit, and what came of asking."""
        (reader,) = plan.models
        reading = {
            "reader": reader,
            "new": outcome.new,
            "before": outcome.before,
            "asked": outcome.asked,
            "unreadable": sum(outcome.missing.values()),
            "faults": list(outcome.faults),
        }
        return audit_of_plan(plan).plain() | {"reading": reading}

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many rationales a model read."""
        (reader,) = plan.models
        unreadable = sum(outcome.missing.values())
        without = f", of them without a verdict {unreadable}" if unreadable else ""
        read = f"{counted(outcome.new, 'rationale')} read now{without}, {outcome.before} before"
        return [f"{reader}: {read}; {counted(outcome.asked, 'call')}"]


RATIONALES = RationaleKind()


def question(about: Rationales, sample: Sample, reader: str) -> Question:
    """Which level the rationale of a sample concludes, asked of one reader."""
    dimension = about.scheme.dimension(sample.dimension)
    unit = unit_of(sample)

    def seed(prompt: Prompt) -> int:
        own = (reader, unit.id, prompt.purpose.attempt)
        return seed_of(about.study, about.scheme.id, "audit", *own)

    def read(reply: Annotation) -> list[Verdict]:
        levels = {str(level): level for level in dimension.values}
        level = None if reply.value in (None, NO_LEVEL) else levels[reply.value]
        reason = missing_reason(reply)
        text, _, model, wording, index = sample.key
        own = (text, dimension.id, model, index, wording, reader)
        return [Verdict(*own, "model", level, reason)]

    return Question(
        unit=unit.id,
        prompt=partial(audit_prompt, dimension, unit, reader),
        seed=seed,
        again=audit_reask,
        reasks=REASKS,
        keys=((*sample.key, reader),),
        read=read,
    )


def unit_of(sample: Sample) -> Text:
    """The rationale of a sample as a unit, under a name that no other sample has."""
    names = (sample.text, sample.dimension, sample.model, sample.wording, str(sample.index))
    return Text(" ".join(names), sample.rationale)


def plan_audit(audit: Audit, model: str, n: int | None, overrides: Sequence[str]) -> Plan:
    """The rationales that a model is to read: all, or a stratified sample of `n`; nobody is asked.

    Raises WrongInput for a model that cannot read.
    """
    _, asked = coding_asked([f"model={model}", "temperature=0.0", *overrides])
    ((reader, settings),) = asked.models.items()
    if settings["kind"] == "citizen":
        raise WrongInput(
            f"model={model}: a citizen is rule-based and reads no rationales; name a language model"
        )
    coding = audit.coding
    if any(reading.sample.model == reader for reading in audit.readings):
        raise WrongInput(
            f"model={model}: it gave codes itself; a rationale is read by another model"
        )
    readings = [one for one in audit.readings if one.sample.rationale.strip()]
    if n is not None:
        readings = draw_rationales(readings, n, (coding.runs.study, coding.scheme.id, "audit"))
    if not readings:
        raise WrongInput(f"{study_named(coding.runs.study)} has no rationale to read")
    audits = Audits.of(coding.runs, coding.scheme.id)
    known = audits.files.task().get("models", {})
    settings = with_settled(settings, settled_in(known.values()))
    task = {"scheme_sha256": coding.scheme.sha256, "models": {**known, reader: settings}}
    samples = tuple(one.sample for one in readings)
    return asked.planned(
        RATIONALES,
        coding.runs,
        audits,
        None,
        task=task,
        about=Rationales(coding.scheme, coding.runs.study, samples),
    )


def audit_of_plan(plan: Plan) -> Audit:
    """The audit of the coding whose rationales were read, with what was read now."""
    return audit_of(coding_of(plan.runs, plan.about.scheme.id))


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


def export_rationales(audit: Audit, n: int, folder: Path | None = None) -> people.HandedOut:
    """Hand out a stratified sample of rationales, and the table of failures.

    By default into audit-NAME; the study keeps the key. WrongInput where there is no rationale, or
    the folder exists.
    """
    runs, scheme = audit.coding.runs, audit.coding.scheme
    drawn = draw_rationales(audit.readings, n, (runs.study, scheme.id, "audit"))
    if not drawn:
        raise WrongInput(f"{study_named(runs.study)} has no rationale to read")
    audits = Audits.of(runs, scheme.id)
    name = people.pack_name(runs, scheme.id, "audit", len(packs_of(audits.files)) + 1)
    place = people.new_folder(folder, f"audit-{name}", None)
    assert place is not None
    samples = [reading.sample for reading in drawn]
    places = {sample.key: seed_of(name, "order", *sample.key) for sample in samples}
    sheets: dict[str, dict[str, Any]] = {}
    for sample in sorted(samples, key=lambda one: places[one.key]):
        code = people.sheet_code((name, "order", *sample.key), sheets)
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
    return people.HandedOut(name, place, facts, lines)


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
