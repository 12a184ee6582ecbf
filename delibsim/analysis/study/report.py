"""The report of a study as a page: summary, design, flow, tables, figures, methods, what is not
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from delibsim.analysis.pages.page import Entry, Page, Part, Picture
from delibsim.analysis.result import Result, catalogue
from delibsim.analysis.study.findings import Findings
from delibsim.analysis.study.methods import checklist, methods
from delibsim.analysis.study.record import Record
from delibsim.analysis.study.sample import treatments_of
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.summary import summary
from delibsim.analysis.study.words import measured
from delibsim.domain.reason import for_readers
from delibsim.domain.text import counted

HEADLINE = (
    "a", "b", "question", "unit", "estimate", "low", "high", "df", "p", "p_holm", "null_citizen",
)  # fmt: skip


def page_of(
    findings: Findings,
    draws: Draws,
    record: Record | None = None,
    pictures: Sequence[Picture] = (),
    absent: Mapping[str, str] | None = None,
) -> Page:
    """The report; `absent` says by the name of a figure why the study has none."""
    results = findings.results
    parts = [_design(findings, record), _flow(findings)]
    own = catalogue("study")
    for section in own.sections:
        tables = [results[name] for name in section.tables if name in results]
        given = [one for one in tables if one.given]
        drawn = [one for one in pictures if own.place_of(one.name) == section]
        if given or drawn:
            parts.append(Part(section.id, section.title, tables=given, pictures=drawn))
    others = [one for one in results.values() if one.given and one.name not in own.entries]
    if others:
        parts.append(Part("others", "Further tables", tables=others))
    parts.append(Part("methods", "Methods", methods(findings.study, draws, record)))
    entries = checklist(findings.study, record, findings.runs)
    parts.append(Part("checklist", "Checklist of reporting", entries=entries))
    parts.append(_not_shown(findings, absent or {}))
    return Page(
        title=findings.study.study,
        kind=own.kind,
        summary=in_words(findings),
        parts=parts,
        warnings=findings.warnings,
        headline=headline(results),
    )


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
    for column, term in (
        ("topic", "Topics"),
        ("model", "Models or set-ups"),
        ("treatment", "Treatments"),
        ("setting", "Further settings"),
        ("survey", "Instruments"),
        ("size", "Participants a session"),
        ("rounds", "Rounds of speech"),
        ("temperature", "Temperature"),
        ("wording", "Wording"),
        ("persona", "Personas"),
        ("replicate", "Replicates"),
    ):
        if column in rows.columns:
            levels = _levels_of(rows, column)
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
    entries = [
        Entry("Planned", f"{runs['planned']:,}"),
        Entry("Held", f"{runs['held']:,}; {runs['planned'] - runs['held']:,} were not"),
        Entry(
            "Valid", f"{runs['valid']:,}; {runs['held'] - runs['valid']:,} of those held are not"
        ),
        Entry(
            "Analysed",
            f"{runs['analysed']:,} have the main outcome;"
            f" {runs['valid'] - runs['analysed']:,} of those valid have not",
        ),
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
    numbers = ["planned", "held", "valid", "analysed"]
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
