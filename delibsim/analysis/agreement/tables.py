"""The agreement of coders for reading: what was taken for what, a table, and what to know of it."""

import re
from collections.abc import Iterator

from delibsim.analysis.agreement.agreement import (
    BY_CLUSTERS,
    AgreementReport,
    DimensionAgreement,
    Row,
)
from delibsim.analysis.agreement.code_table import WIDE, said
from delibsim.analysis.agreement.levels import NOMINAL, label_of_coefficient, number_in, words
from delibsim.analysis.table import DisplayColumn, DisplayTable, number, texts
from delibsim.domain.errors import shortened
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted
from delibsim.measures.reliability.coefficients import COEFFICIENTS

FEW_CLUSTERS = 20
"""With fewer, an interval over clusters is too short."""
HIGH, LOW = 0.8, 0.4
"""Percent agreement above the one beside a coefficient below the other has to be explained."""
FEW_TEXTS, FEW_SKEWED = 50, 200
"""With fewer texts coded twice intervals are too short; with the second, if one level is frequent
(bench/coverage_agreement.py).
"""
MANY_SINGLE = 0.1
"""With a larger share of texts with one code, intervals by t of two coefficients are too wide."""
FEWEST_RESAMPLES = 1_000
"""With fewer, percentiles of resamples change from seed to seed."""
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
NAMED = 12
"""More coders are not listed by name."""
LONGEST_LEVELS = 500
"""Levels of more characters are not written as an option to copy."""


def layout_in_words(report: AgreementReport) -> str:
    """What of the table was taken for texts, coders and codes."""
    layout = report.layout
    unused = f" Not used: {words(layout.unused)}." if layout.unused else ""
    text = f", named by '{layout.text}'" if layout.form == WIDE and layout.text else layout.text
    return said(layout.form, text=text, coder=layout.coders[0], level=layout.level, unused=unused)


def counts_in_words(found: DimensionAgreement) -> Iterator[str]:
    """What the coefficients of a dimension rest on."""
    coders = list(map(shortened, found.coders))
    yield said(
        "counts",
        coders=counted(len(coders), "coder"),
        names=f" ({words(coders)})" if 0 < len(coders) <= NAMED else "",
        texts=counted(found.texts, "text"),
        codes=counted(found.codes, "code"),
        missing=f", {found.missing} missing" if found.missing else "",
        declared="declared" if found.levels.declared else "those that occur",
        levels=", ".join(map(shortened, found.levels.labels)) or "none",
    )
    if found.left_out:
        yield said("without_code", texts=counted(found.left_out, "text"))
    if found.without_codes:
        yield said("without_codes", coders=words(list(map(shortened, found.without_codes))))
    if single := found.texts - found.paired:
        yield said("single", texts=counted(single, "text"))


def table_of(found: DimensionAgreement) -> DisplayTable:
    """The coefficients of a dimension, each with its interval and how that was made."""
    columns = [
        DisplayColumn("", text=True),
        DisplayColumn("value"),
        DisplayColumn("SE"),
        DisplayColumn("95% interval"),
        *texts("interval by", "at least"),
    ]
    rows = []
    for row in found.rows:
        label = label_of_coefficient(row.coefficient, row.weighting, len(found.coders))
        method = f"t({row.df})" if row.method == "t" else row.method
        word = row.word or "-"
        rows.append([label, number(row.value), number(row.error), _interval(row), method, word])
    return DisplayTable(columns, rows, found.name)


def _interval(row: Row) -> str:
    if row.low != row.low:
        return "-"
    return f"{number(row.low)}, {number(row.high)}"


def notes_on(found: DimensionAgreement, by: str = "") -> list[str]:
    """What must be known of the coefficients of a dimension."""
    return [*_undefined(found), *_on_levels(found), *_on_values(found), *_on_intervals(found, by)]


def _undefined(found: DimensionAgreement) -> Iterator[str]:
    """Which coefficients and intervals are undefined, by reason."""
    by_reason: dict[str, list[str]] = {}
    for row in found.rows:
        label = label_of_coefficient(row.coefficient, row.weighting, len(found.coders))
        if row.reason:
            by_reason.setdefault(f"undefined: {in_words(row.reason)}", []).append(label)
        if row.no_interval:
            by_reason.setdefault(f"no interval: {in_words(row.no_interval)}", []).append(label)
        if row.undefined:
            parts = [f"{n:,} {in_words(why)}" for why, n in row.undefined.items()]
            said = f"resamples without a value, of {row.resamples:,}: {', '.join(parts)}"
            by_reason.setdefault(said, []).append(label)
    for said, labels in by_reason.items():
        yield f"{said}: {'all' if len(labels) == len(found.rows) else words(labels)}"


def _on_levels(found: DimensionAgreement) -> Iterator[str]:
    """Levels that are likely no names, or one name in two spellings, or lack one."""
    levels = found.levels
    if found.unsaid and levels.numeric and len(levels.labels) > 2:
        yield said("numbers_as_names")
    if levels.declared:
        return
    labels = list(map(shortened, levels.labels))
    others = [label for label in labels if number_in(label) is None]
    commas = [label for label in others if DECIMAL_COMMA.fullmatch(label)]
    if commas:
        yield said("commas", levels=words(commas[:NAMED]))
    elif others and len(labels) > 2 * len(others):
        yield said("names", levels=words(others[:NAMED]))
    for folded in dict.fromkeys(label.casefold() for label in others):
        alike = [label for label in others if label.casefold() == folded]
        if len(alike) > 1:
            yield said("spelled", levels=words(alike))
    if len(labels) > 1:
        named = ",".join(levels.labels)
        plain = len(named) <= LONGEST_LEVELS and not re.search("[,;=]", "".join(levels.labels))
        yield said("undeclared", such_as=f", such as --levels {named}" if plain else "")


def _on_values(found: DimensionAgreement) -> Iterator[str]:
    """Where a coefficient is likely to be misread: at perfect agreement, or with one frequent
    level.
    """
    used = [level for level, share in found.shares.items() if share]
    defined = [row for row in found.rows if not row.reason]
    if found.paired and len(used) == 1 and len(defined) > 1:
        yield said("one_level", level=used[0])
    if any(row.error == 0 for row in found.rows):
        yield said("no_width")
    skewed = [row for row in found.rows if COEFFICIENTS[row.coefficient].skewed]
    level, share = max(found.shares.items(), key=lambda of: of[1], default=("", 0.0))
    exact = found.rows[0].value
    if exact >= HIGH and share >= HIGH and any(row.value < LOW for row in skewed):
        yield said("skewed", exact=exact, share=share, level=shortened(level))


def _on_intervals(found: DimensionAgreement, by: str) -> Iterator[str]:
    """How intervals were made, and where they are too short."""
    defined = [row for row in found.rows if row.method]
    drawn = [row for row in defined if row.resamples]
    resamples = drawn[0].resamples if drawn else 0
    if len(drawn) < len(defined):
        yield said("by_t")
    if drawn and drawn[0].method == BY_CLUSTERS:
        clusters = found.clusters
        yield said("by_clusters", resamples=resamples, clusters=clusters, by=by or "the column")
        if clusters < FEW_CLUSTERS:
            yield said("few_clusters", clusters=clusters)
    elif drawn:
        yield said("by_bootstrap", resamples=resamples)
    if 0 < resamples < FEWEST_RESAMPLES:
        yield said("few_resamples", resamples=counted(resamples, "resample"))
    skewed = max(found.shares.values(), default=0.0) >= HIGH
    if defined and found.paired < (FEW_SKEWED if skewed else FEW_TEXTS):
        why = " of which most have one level," if skewed else ""
        yield said("few_texts", texts=counted(found.paired, "text"), why=why)
    if len(drawn) < len(defined) and found.texts - found.paired > MANY_SINGLE * found.texts:
        yield said("many_single")
    if any(row.word for row in defined):
        yield said("at_least")
    if found.scale == NOMINAL and found.weighting == "own":
        yield said("own_weights")
