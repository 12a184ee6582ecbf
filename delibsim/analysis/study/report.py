"""The report of a study: all its analyses in their order, and the page that shows them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.figures.of_study import drawings
from delibsim.analysis.figures.style import FORMATS
from delibsim.analysis.pages.page import Entry, PagePart
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, said
from delibsim.analysis.study.ablations import ablations, personas
from delibsim.analysis.study.aqua import aqua, icc
from delibsim.analysis.study.by_block import by_block, reasoning
from delibsim.analysis.study.contrasts import contrasts, key_of, null_estimates, questions
from delibsim.analysis.study.counts import attrition, counts, in_room, left_out, unmeasurable
from delibsim.analysis.study.effect_sizes import MARGINS, covariance, equivalence, sizes
from delibsim.analysis.study.factors import PARTS, levels_of
from delibsim.analysis.study.finding import ON_TEXTS, finding, how_much
from delibsim.analysis.study.methods import StudyRecord, checklist, methods, models_one_by_one
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.outcomes import OutcomeMeasure
from delibsim.analysis.study.people import ceiling, convergence, people
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    kinds_of_participants,
    treatments_of,
)
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.summary import summary
from delibsim.analysis.study.topic_means import (
    decomposition,
    means,
    noise_floor,
    opinion_change,
    rank_stability,
)
from delibsim.domain.data import read_data
from delibsim.domain.reason import for_readers
from delibsim.domain.text import counted

Analysis = Callable[[StudyTable, DrawCounts], Result | Sequence[Result]]
ANALYSES: tuple[Analysis, ...] = (
    in_room,
    attrition,
    contrasts,
    by_block,
    sizes,
    equivalence,
    specifications,
    covariance,
    mixed,
    reasoning,
    personas,
    people,
    decomposition,
    opinion_change,
    means,
    noise_floor,
    icc,
    ceiling,
    convergence,
    rank_stability,
    ablations,
    aqua,
)
"""Every analysis, in the order of the tables; here alone it is said which there are."""
STAGES = ("planned", "held", "valid", "analysed")
BESIDE_PEOPLE = ("mixed_subjects", "like", "like_classifier", "like_items")
"""The tables that are asked for: effects in people, made more precise by models; how like people
the sessions are.
"""
NOT_HELD = ("no run", "not begun")
"""The status of sessions that may still be held."""
OF_DESIGN = ("counts", "in_room", "attrition")
"""Tables that say what was held, and analyse no outcome."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The tables of a study by name, what was planned, held, valid and analysed, what is missing,
    and what is `told` of them beside the summary or `ahead` of it.

    `missing` has an entry for each condition with fewer analysed sessions than were planned, and
    for each analysis that the study cannot give.
    """

    study: StudyTable
    results: Mapping[str, Result]
    runs: Mapping[str, int]
    missing: Sequence[Mapping[str, Any]]
    warnings: Sequence[str] = field(default_factory=tuple)
    told: Sequence[str] = ()
    ahead: Sequence[str] = ()

    @property
    def of_citizens(self) -> bool:
        """Whether all participants of the study itself are citizens of the null model."""
        return MODELS not in kinds_of_participants(self.study)

    def with_results(
        self, more: Sequence[Result], told: Sequence[str] = (), ahead: Sequence[str] = ()
    ) -> "Findings":
        """With further tables, those that cannot be given among what is missing, and what they say
        in sentences, behind or ahead of the summary.
        """
        added = {result.name: result for result in more}
        missing = [*self.missing, *_not_given(added)]
        results = {**self.results, **added}
        return replace(self, results=results, missing=missing, told=told, ahead=ahead)

    @property
    def something(self) -> bool:
        """Whether anything could be analysed."""
        return any(one.given for name, one in self.results.items() if name not in OF_DESIGN)

    @property
    def whole(self) -> bool:
        """Whether every session that was planned is analysed."""
        silent = self.runs.get("unmeasurable", 0)
        return self.runs["planned"] == self.runs["analysed"] + silent

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table as plain values; none where the study does not give it."""
        result = self.results.get(name)
        return result.plain() if result is not None and result.given else []


def findings(
    study: StudyTable,
    draws: DrawCounts,
    steps: Sequence[Analysis] = ANALYSES,
    watch: Callable[[str, int, int], None] | None = None,
) -> Findings:
    """Every analysis of a study; `watch` is told the name of each before it begins."""
    results: dict[str, Result] = {}
    for i, analysis in enumerate(steps):
        if watch is not None:
            watch(_name(analysis), i, len(steps))
        given = analysis(study, draws)
        for result in [given] if isinstance(given, Result) else given:
            results[result.name] = result
    if "contrasts" in results:
        results["questions"] = questions(results)
    whole = counts(study, draws)
    flow = {name: int(whole.rows[name].sum()) for name in STAGES}
    silent = unmeasurable(study)
    missing = [*_missing_sessions(whole, set(silent["treatment"])), *_not_given(results)]
    flow |= {"unmeasurable": len(silent)} if len(silent) else {}
    return Findings(study, {whole.name: whole, **results}, flow, missing, _warnings(study))


def analyses(margin: float | None) -> Sequence[Analysis]:
    """Every analysis, with this smallest effect of interest on the change of the index.

    None leaves the margins that `equivalence` declares.
    """
    if margin is None:
        return ANALYSES
    margins = {**MARGINS, OutcomeMeasure("dri"): margin, OutcomeMeasure("dri_adjusted"): margin}

    def declared(study: StudyTable, draws: DrawCounts) -> Result:
        return equivalence(study, draws, margins)

    return [declared if one is equivalence else one for one in ANALYSES]


def _name(analysis: Analysis) -> str:
    return getattr(analysis, "__name__", "analysis").replace("_", " ")


def _missing_sessions(counted: Result, silent: Collection[str]) -> Iterator[dict[str, Any]]:
    """An entry for each condition with sessions that are not analysed, but could be."""
    for row in counted.plain():
        if row["treatment"] in silent:
            continue
        lacking = row["planned"] - row["analysed"]
        if lacking or row["missing"]:
            levels = (row["topic"], row["treatment"], row["model"], row["setting"])
            condition = ", ".join(str(level) for level in levels if level)
            detail = f"{condition}: {lacking} not analysed ({row['missing']})."
            named = {"condition": condition, "sessions": lacking}
            yield {**named, "reason": row["missing"], "detail": detail}


def _not_given(results: Mapping[str, Result]) -> Iterator[dict[str, Any]]:
    for name, result in results.items():
        if not result.given:
            yield {"analysis": name, "reason": result.why_not, "detail": result.detail}


def _warnings(study: StudyTable) -> list[str]:
    """What must be known before anything else is read."""
    told = []
    if list(kinds_of_participants(study)) == [CITIZENS]:
        told.append(said("study/null_only"))
    formats = study.rows["format"].dropna() if "format" in study.rows.columns else ()
    if len(formats) and (formats == "debate").all():
        told.append(said("study/debates", study=study.study))
    planned = len(study.rows)
    if lacking := int(study.rows["status"].isin(NOT_HELD).sum()):
        sessions = counted(planned, "planned session")
        told.append(said("study/not_complete", lacking=f"{lacking:,}", planned=sessions))
    return told + left_out(study)


CHECKLIST = "Checklist of reporting (GUIDE-LLM, and beyond it)"
AS_JSON = "questions noise_floor icc by_model by_topic mixed ceiling people".split()
"""The tables that are given as JSON beside the contrasts."""
KEYS = {
    "noise_floor": ("outcome",),
    "icc": ("outcome", "adjusted_for"),
    "people": ("outcome", "phase", "treatment"),
}
"""The columns by whose values tables are given as members, one within the other."""
FACTORS: Mapping[str, str] = read_data("study_table.yaml")["terms"]
"""The columns of the design, and what the page calls them."""


def study_report(found: Findings, draws: DrawCounts, record: StudyRecord | None = None) -> Report:
    """The report on one study: what its analyses found, its design, flow, methods and checklist."""
    drawn, absent = drawings(found.study, found.results)
    drawn += drawings_of("like", found.results)
    paragraphs = methods(found.study, draws, record)
    entries = checklist(found.study, record, found.runs)
    told = in_words(found)
    shown = finding(found, record, drawn)
    own = catalogue("study")
    others = [one for one in found.results.values() if one.given and one.name not in own.entries]
    last = [PagePart("others", "Further tables", tables=others)] if others else []
    last += [PagePart("methods", "Methods", paragraphs)]
    if models := models_one_by_one(found.study, record):
        last += [PagePart("models", "Models", entries=models)]
    last += [PagePart("checklist", CHECKLIST, entries=entries)]
    return Report(
        kinds=FORMATS,
        catalogue=own,
        title=found.study.study,
        results=found.results,
        about={"study": found.study.study, "runs": dict(found.runs), "finding": shown.plain()},
        told=told,
        summary=told,
        warnings=found.warnings,
        something=found.something,
        complete=found.whole,
        first=[_design(found, record), _flow(found)],
        last=[*last, _not_shown(found, absent)],
        tells_missing=False,
        finding=shown,
        drawn=lambda: drawn,
        beside=[table_of(found.study)],
        shape=partial(plain, found),
        data=found,
    )


def table_of(study: StudyTable) -> Result:
    """The table of the study itself."""
    definition = "One row a planned session; every other table is computed from it."
    meanings = {column.name: column.meaning for column in study.columns}
    title, source = "The table of the study", "docs/export.md"
    return Result("study", title, definition, source, study.rows, meanings)


def plain(found: Findings) -> dict[str, Any]:
    """The tables as plain values, as `delibsim analyze --json` prints them; None where there is no
    value.
    """
    contrasts = found.rows("contrasts")
    null = null_estimates(contrasts)
    own = []
    for row in contrasts:
        if row["population"] == contrasts[0]["population"]:
            note = row.pop("note")
            own.append(row | {"null_citizen": null.get(key_of(row)), "note": note})
            del own[-1]["family"]
    tables: dict[str, Any] = {name: found.rows(name) for name in AS_JSON}
    for name, keys in KEYS.items():
        tables[name] = _by(tables[name], *keys)
    published = found.rows("mixed_published"), found.rows("variance_components")
    mixed = {"terms": tables["mixed"], "published": published[0]}
    tables["mixed"] = mixed | {"variance_components": published[1]}
    tables["effects"] = found.rows(ON_TEXTS)
    for name in BESIDE_PEOPLE:
        if name in found.results:
            tables[name] = found.rows(name)
    return {"contrasts": own, **tables, "missing": [dict(one) for one in found.missing]}


def in_words(findings: Findings) -> list[str]:
    """The sentences of the first screen: what the tables show, then the size of the study."""
    first, *others = summary(findings.results, findings.of_citizens) or [""]
    behind = [*others, *findings.told, how_much(findings)]
    told = [*findings.ahead, first, findings.study.no_twin, *behind]
    return [sentence for sentence in told if sentence]


def _design(findings: Findings, record: StudyRecord | None) -> PagePart:
    """The factors of the study and their levels."""
    rows = findings.study.rows
    entries = []
    for column, term in FACTORS.items():
        levels = _levels_of(rows, column) if column in rows.columns else []
        if levels:
            entries.append(Entry(f"{term} ({len(levels)})", _levels(levels)))
    if record is not None:
        for topic, question in record.questions.items():
            if question:
                entries.append(Entry(f"Topic {topic}", question))
        for name, own in record.components("treatments").items():
            told = own.get("instructions") or "no instructions"
            entries.append(Entry(f"Instructions of {name}", told))
    return PagePart("design", "Design", entries=entries)


def _levels_of(rows: pd.DataFrame, column: str) -> list[str]:
    """The levels of a factor: treatments in their usual order, numbers by size."""
    if column == "treatment":
        return treatments_of(rows)
    if column in PARTS:
        found = levels_of(rows)[column].drop_duplicates().tolist()
        return [] if found == ["none"] else found
    values = rows[column].dropna().drop_duplicates()
    if pd.api.types.is_numeric_dtype(values):
        return [f"{value:g}" for value in sorted(values)]
    return [str(one) for one in values if str(one)]


def _levels(levels: Sequence[str], most: int = 24) -> str:
    shown = ", ".join(levels[:most])
    return shown if len(levels) <= most else f"{shown} and {len(levels) - most} more"


def _flow(findings: Findings) -> PagePart:
    """Planned, held, valid, analysed, and why not."""
    runs = findings.runs
    planned, held, valid, analysed = (runs[name] for name in STAGES)
    lost = f"{valid - analysed:,} of those valid have not"
    entries = [
        Entry("Planned", f"{planned:,}"),
        Entry("Held", f"{held:,}; {planned - held:,} were not"),
        Entry("Valid", f"{valid:,}; {held - valid:,} of those held are not"),
        Entry("Analysed", f"{analysed:,} have the main outcome; {lost}"),
    ]
    counts = findings.results.get("counts")
    tables = [_over_topics(counts)] if counts is not None and counts.given else []
    missing = [str(one["detail"]) for one in findings.missing if one.get("condition")]
    return PagePart("flow", "Flow of runs", (), missing[:40], entries, tables)


def _over_topics(counts: Result) -> Result:
    """The table of counts summed over topics, without the reasons, which stand in sentences."""
    by = ["model", "setting", "treatment"]
    numbers = list(STAGES)
    rows = counts.rows.groupby(by, sort=False, as_index=False)[numbers].sum()
    topics = counts.rows.groupby(by, sort=False)["topic"].nunique().to_list()
    rows.insert(len(by), "topics", topics)
    definition = f"{counts.definition} Here summed over topics; the file has each by itself."
    return replace(counts, rows=rows, definition=definition)


def _not_shown(findings: Findings, absent: Mapping[str, str]) -> PagePart:
    """The analyses and figures that this study does not give, each with its reason."""
    entries = [Entry(f"Figure {name.replace('_', ' ')}", why) for name, why in absent.items()]
    for result in findings.results.values():
        if not result.given:
            entries.append(Entry(result.title, for_readers(result.detail)))
    paragraphs = [] if entries else ["Every analysis could be given."]
    return PagePart("not-shown", "Not shown, and why", paragraphs, entries=entries)


def _by(rows: Sequence[Mapping[str, Any]], *keys: str) -> dict[str, Any]:
    """Rows as members named after the values of these columns, one within the other."""
    found: dict[str, Any] = {}
    for row in rows:
        place = found
        for key in keys[:-1]:
            place = place.setdefault(str(row[key]), {})
        rest = {name: value for name, value in row.items() if name not in keys}
        place.setdefault(str(row[keys[-1]]), rest)
    return found
