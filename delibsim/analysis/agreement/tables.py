"""The agreement of coders for reading: what was taken for what, a table, and what to know of it."""

import re
from collections.abc import Iterator, Sequence

from delibsim.analysis.agreement.agreement import (
    BY_CLUSTERS,
    AgreementReport,
    DimensionAgreement,
    Row,
)
from delibsim.analysis.agreement.layout import CODERS_IN_ROWS, LONG
from delibsim.analysis.agreement.levels import NOMINAL, label_of_coefficient, number_in, words
from delibsim.analysis.table import Column, Table, number, texts
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
    if layout.form == LONG:
        said = (
            f"One row a code: texts by '{layout.text}', coders by '{layout.coders[0]}', codes in"
            f" '{layout.level}'."
        )
    elif layout.form == CODERS_IN_ROWS:
        said = "One row a coder, one column a text."
    else:
        by = f", named by '{layout.text}'" if layout.text else ""
        said = f"One row a text{by}, one column a coder."
    return said + unused


def counts_in_words(found: DimensionAgreement) -> list[str]:
    """What the coefficients of a dimension rest on."""
    coders = list(map(shortened, found.coders))
    names = f" ({words(coders)})" if 0 < len(coders) <= NAMED else ""
    declared = "declared" if found.levels.declared else "those that occur"
    levels = ", ".join(map(shortened, found.levels.labels)) or "none"
    codes = counted(found.codes, "code")
    missing = f", {found.missing} missing" if found.missing else ""
    lines = [
        f"{counted(len(found.coders), 'coder')}{names}, {counted(found.texts, 'text')}, {codes}"
        f"{missing}; levels ({declared}): {levels}"
    ]
    if found.left_out:
        lines.append(f"left out: {counted(found.left_out, 'text')} without any code")
    if found.without_codes:
        named = words(list(map(shortened, found.without_codes)))
        lines.append(f"left out: {named}, without any code")
    single = found.texts - found.paired
    if single:
        lines.append(
            f"{counted(single, 'text')} with one code only: no part of percent agreement and alpha;"
            " the other coefficients use them for chance alone"
        )
    return lines


def table_of(found: DimensionAgreement) -> Table:
    """The coefficients of a dimension, each with its interval and how that was made."""
    columns = [
        Column("", text=True),
        Column("value"),
        Column("SE"),
        Column("95% interval"),
        *texts("interval by", "at least"),
    ]
    rows = []
    for row in found.rows:
        label = label_of_coefficient(row.coefficient, row.weighting, len(found.coders))
        method = f"t({row.df})" if row.method == "t" else row.method
        word = row.word or "-"
        rows.append([label, number(row.value), number(row.error), _interval(row), method, word])
    return Table(columns, rows, found.name)


def notes_on(found: DimensionAgreement, by: str = "") -> list[str]:
    """What must be known of the coefficients of a dimension."""
    return [*_undefined(found), *_warnings(found), *_on_intervals(found, by)]


def _interval(row: Row) -> str:
    if row.low != row.low:
        return "-"
    return f"{number(row.low)}, {number(row.high)}"


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


def _warnings(found: DimensionAgreement) -> Iterator[str]:
    """Where a coefficient is likely to be misread, or was likely not meant."""
    levels = found.levels
    if found.unsaid and levels.numeric and len(levels.labels) > 2:
        yield (
            "warning: the levels are numbers in order, and these coefficients take them for names,"
            " so that 1 differs from 2 as much as from 9; say --scale ordinal (or interval,"
            " ratio), or --scale nominal if they are names"
        )
    if not levels.declared and not levels.numeric:
        yield from _on_names(list(map(shortened, levels.labels)))
    if not levels.declared and len(levels.labels) > 1:
        named = ",".join(levels.labels)
        plain = len(named) <= LONGEST_LEVELS and not re.search("[,;=]", "".join(levels.labels))
        such_as = f", such as --levels {named}" if plain else ""
        yield (
            "note: a level that nobody used would change AC and Brennan-Prediger: name all levels"
            f" there are{such_as}"
        )
    yield from _on_one_level(found)
    values = {row.coefficient: row.value for row in found.rows}
    exact = found.rows[0].value
    low = [name for name, value in values.items() if COEFFICIENTS[name].skewed and value < LOW]
    level, share = max(found.shares.items(), key=lambda of: of[1], default=("", 0.0))
    if exact >= HIGH and low and share >= HIGH:
        yield (
            f"note: coders agree in {exact:.0%} of pairs, yet kappa and alpha are low: {share:.0%}"
            f" of all codes are {shortened(level)}, so that by their definition chance agrees"
            " nearly as often. AC and Brennan-Prediger define chance otherwise; report percent"
            " agreement with them"
        )


def _on_names(labels: Sequence[str]) -> Iterator[str]:
    """Levels that are likely no names, or one name in two spellings."""
    numbers = [label for label in labels if number_in(label) is not None]
    others = [label for label in labels if label not in numbers]
    commas = [label for label in others if DECIMAL_COMMA.fullmatch(label)]
    if commas:
        yield (
            f"warning: {words(commas[:NAMED])} are taken for names; if they are numbers, write"
            " them with a point: 0.5"
        )
    elif len(numbers) > len(others):
        yield (
            f"warning: all levels are taken for names, because {words(others[:NAMED])} is no"
            " number; if no code is meant, leave the cell empty"
        )
    spelled: dict[str, list[str]] = {}
    for label in labels:
        spelled.setdefault(label.casefold(), []).append(label)
    for alike in spelled.values():
        if len(alike) > 1:
            yield f"warning: {words(alike)} differ in capitals alone, and count as different levels"


def _on_one_level(found: DimensionAgreement) -> Iterator[str]:
    """What perfect agreement does and does not say."""
    used = [level for level, share in found.shares.items() if share]
    defined = [row for row in found.rows if not row.reason]
    if found.paired and len(used) == 1 and len(defined) > 1:
        yield (
            f"note: all codes are {used[0]}: whether coders can tell levels apart does not show in"
            " such texts"
        )
    if any(row.error == 0 for row in found.rows):
        yield (
            "note: an interval has no width where nothing varies in these texts; other texts may"
            " well differ"
        )


def _on_intervals(found: DimensionAgreement, by: str) -> Iterator[str]:
    """How intervals were made, and where they are too short."""
    defined = [row for row in found.rows if row.method]
    drawn = [row for row in defined if row.resamples]
    if any(not row.resamples for row in defined):
        yield "t: from the standard error in closed form, over texts; the upper end is cut at 1"
    if drawn and drawn[0].method == BY_CLUSTERS:
        yield (
            f"cluster bootstrap: percentiles of {drawn[0].resamples:,} resamples of"
            f" {found.clusters} values of {by or 'the column'}, each with all its texts"
        )
        if found.clusters < FEW_CLUSTERS:
            yield f"warning: with {found.clusters} of them the intervals are too short"
    elif drawn:
        yield f"bootstrap: percentiles of {drawn[0].resamples:,} resamples of the texts"
    if drawn and drawn[0].resamples < FEWEST_RESAMPLES:
        resamples = counted(drawn[0].resamples, "resample")
        yield f"warning: {resamples} are too few for an interval; take --draws 10000"
    skewed = max(found.shares.values(), default=0.0) >= HIGH
    if defined and found.paired < (FEW_SKEWED if skewed else FEW_TEXTS):
        why = " of which most have one level," if skewed else ""
        texts_in_words = counted(found.paired, "text")
        yield f"warning: with {texts_in_words} coded twice,{why} intervals tend to be too short"
    single = found.texts - found.paired
    if len(drawn) < len(defined) and single > MANY_SINGLE * found.texts:
        yield (
            "note: with so many texts with one code, t makes the intervals of AC and"
            " Brennan-Prediger too wide; take --draws 10000"
        )
    if any(row.word for row in defined):
        yield (
            "at least: the highest word of Landis and Koch that holds with a probability of 95%,"
            " not the word of the value itself"
        )
    if found.scale == NOMINAL and found.weighting == "own":
        yield "note: alpha is nominal: a weighting of one's own has no alpha of its own"
