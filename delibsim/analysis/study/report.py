"""The report of a study: summary, design, flow, tables, figures, methods, what is not shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.figures.of_study import drawings
from delibsim.analysis.figures.style import FORMATS
from delibsim.analysis.pages.page import Entry, Part
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue
from delibsim.analysis.study.contrasts import key_of, null_estimates
from delibsim.analysis.study.findings import Findings
from delibsim.analysis.study.methods import checklist, methods
from delibsim.analysis.study.record import Record
from delibsim.analysis.study.sample import treatments_of
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.summary import summary
from delibsim.analysis.study.words import measured
from delibsim.domain.reason import for_readers
from delibsim.domain.text import counted

OF_CONTRASTS = (
    "population role outcome scale a b estimate unit low high df p_topics p_holm q"
    " estimate_draws low_draws high_draws df_draws p_draws p_free p_holm_draws"
    " published_low published_high published_coverage verb blocks topics models pairs draws"
    " wordings sd_wordings null_citizen note"
).split()
"""The members of a contrast as JSON."""
STAGES = ("planned", "held", "valid", "analysed")
FACTORS = {
    "topic": "Topics",
    "model": "Models or set-ups",
    "treatment": "Treatments",
    "setting": "Further settings",
    "survey": "Instruments",
    "size": "Participants a session",
    "rounds": "Rounds of speech",
    "temperature": "Temperature",
    "wording": "Wording",
    "persona": "Personas",
    "replicate": "Replicates",
}
"""The columns of the design, and what the page calls them."""
HEADLINE = (
    "a", "b", "question", "unit", "estimate", "low", "high", "df", "p", "p_holm", "null_citizen",
)  # fmt: skip


def study_report(found: Findings, draws: Draws, record: Record | None = None) -> Report:
    """The report on one study: what its analyses found, its design, flow, methods and checklist."""
    drawn, absent = drawings(found.study, found.results)
    paragraphs = methods(found.study, draws, record)
    entries = checklist(found.study, record, found.runs)
    told = in_words(found)
    own = catalogue("study")
    others = [one for one in found.results.values() if one.given and one.name not in own.entries]
    last = [Part("others", "Further tables", tables=others)] if others else []
    last += [Part("methods", "Methods", paragraphs)]
    last += [Part("checklist", "Checklist of reporting", entries=entries)]
    return Report(
        catalogue=own,
        title=found.study.study,
        results=found.results,
        about={"study": found.study.study, "runs": dict(found.runs)},
        told=told,
        summary=told,
        warnings=found.warnings,
        something=found.something,
        complete=found.whole,
        first=[_design(found, record), _flow(found)],
        last=[*last, _not_shown(found, absent)],
        tells_missing=False,
        headline=headline(found.results),
        drawn=lambda: drawn,
        kinds=FORMATS,
        beside=[table_of(found.study)],
        shape=partial(plain, found),
        data=found,
    )


def table_of(study: StudyTable) -> Result:
    """The table of the study itself."""
    return Result(
        name="study",
        title="The table of the study",
        definition="One row a planned session; every other table is computed from it.",
        source="docs/export.md",
        rows=study.rows,
        meanings={column.name: column.meaning for column in study.columns},
    )


def plain(found: Findings) -> dict[str, Any]:
    """The tables as plain values, as `delibsim analyze --json` prints them; None where there is no
    value.
    """
    contrasts = found.rows("contrasts")
    null = null_estimates(contrasts)
    own = []
    for row in contrasts:
        if row["population"] == contrasts[0]["population"]:
            whole = row | {"null_citizen": null.get(key_of(row))}
            own.append({name: whole.get(name) for name in OF_CONTRASTS})
    mixed = {"terms": "mixed", "published": "mixed_published"}
    mixed["variance_components"] = "variance_components"
    return {
        "contrasts": own,
        "questions": found.rows("questions"),
        "noise_floor": _by(found.rows("noise_floor"), "outcome"),
        "icc": _by(found.rows("icc"), "outcome", "adjusted_for"),
        "by_model": found.rows("by_model"),
        "by_topic": found.rows("by_topic"),
        "mixed": {name: found.rows(table) for name, table in mixed.items()},
        "ceiling": found.rows("ceiling"),
        "people": _by(found.rows("people"), "outcome", "phase", "treatment"),
        "missing": [dict(one) for one in found.missing],
    }


def in_words(findings: Findings) -> list[str]:
    """The sentences of the first screen: what the tables show, then the size of the study."""
    first, *others = summary(findings.results) or [""]
    told = [first, findings.study.no_twin, *others, _size(findings)]
    return [sentence for sentence in told if sentence]


def headline(results: Mapping[str, Result]) -> Result | None:
    """The effects on the primary outcome, three questions each: the table of the first screen; None
    without contrasts.
    """
    result = results.get("questions")
    if result is None or not result.given:
        return None
    rows = result.rows[result.rows["scale"] == "absolute"]
    primary = rows[rows["role"] == "primary"]
    rows = primary if len(primary) else rows[rows["outcome"] == rows["outcome"].iloc[0]]
    rows = rows[rows["population"] == rows["population"].iloc[0]]
    meanings = {name: result.meanings.get(name, "") for name in HEADLINE}
    outcome = measured(str(rows["outcome"].iloc[0]))
    return Result(
        name="questions",
        title=f"Change of the {outcome}, treatment a against treatment b",
        definition="Each effect under three questions, for the primary outcome alone.",
        source=result.source,
        rows=rows[list(HEADLINE)].reset_index(drop=True),
        meanings=meanings,
    )


def _size(findings: Findings) -> str:
    """How much was planned, held and analysed, in a sentence."""
    rows, runs = findings.study.rows, findings.runs
    factors = []
    joined = rows["model"].dropna().astype(str).str.contains("+", regex=False).any()
    for column in ("topic", "model", "treatment"):
        noun = "set-up" if column == "model" and joined else column
        factors.append(counted(rows[column].nunique(), noun))
    were = "was" if runs["planned"] == 1 else "were"
    planned = counted(runs["planned"], "session")
    return (
        f"{planned} {were} planned ({', '.join(factors)}), {runs['held']:,} held,"
        f" {runs['valid']:,} valid, {runs['analysed']:,} analysed."
    )


def _design(findings: Findings, record: Record | None) -> Part:
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
            said = own.get("instructions") or "no instructions"
            entries.append(Entry(f"Instructions of {name}", said))
    return Part("design", "Design", entries=entries)


def _levels_of(rows: pd.DataFrame, column: str) -> list[str]:
    """The levels of a factor: treatments in their usual order, numbers by size."""
    if column == "treatment":
        return treatments_of(rows)
    values = rows[column].dropna().drop_duplicates()
    if pd.api.types.is_numeric_dtype(values):
        return [f"{value:g}" for value in sorted(values)]
    return [str(one) for one in values if str(one)]


def _levels(levels: Sequence[str], most: int = 24) -> str:
    shown = ", ".join(levels[:most])
    return shown if len(levels) <= most else f"{shown} and {len(levels) - most} more"


def _flow(findings: Findings) -> Part:
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
    return Part(
        "flow",
        "Flow of runs",
        entries=entries,
        sentences=[str(one["detail"]) for one in findings.missing if one.get("condition")][:40],
        tables=tables,
    )


def _over_topics(counts: Result) -> Result:
    """The table of counts summed over topics, without the reasons, which stand in sentences."""
    by = ["model", "setting", "treatment"]
    numbers = list(STAGES)
    rows = counts.rows.groupby(by, sort=False, as_index=False)[numbers].sum()
    topics = counts.rows.groupby(by, sort=False)["topic"].nunique().to_list()
    rows.insert(len(by), "topics", topics)
    definition = f"{counts.definition} Here summed over topics; the file has each by itself."
    return replace(counts, rows=rows, definition=definition)


def _not_shown(findings: Findings, absent: Mapping[str, str]) -> Part:
    """The analyses and figures that this study does not give, each with its reason."""
    entries = [Entry(f"Figure {name.replace('_', ' ')}", why) for name, why in absent.items()]
    for result in findings.results.values():
        if not result.given:
            entries.append(Entry(result.title, for_readers(result.detail)))
    paragraphs = [] if entries else ["Every analysis could be given."]
    return Part("not-shown", "Not shown, and why", paragraphs, entries=entries)


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
