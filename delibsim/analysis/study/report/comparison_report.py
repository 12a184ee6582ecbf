"""The report on two studies beside each other, as a page."""

from delibsim.analysis.pages.page import Entry, Page, Part
from delibsim.analysis.result import Result
from delibsim.analysis.study.report.comparison import Comparison, names_of
from delibsim.analysis.study.report.summary import summary
from delibsim.analysis.study.report.words import (
    measured,
    missing,
    named,
    sentence,
    short,
    with_interval,
)
from delibsim.domain.text import counted


def page_of_both(found: Comparison) -> Page:
    """The page: what differs between the studies, their contrasts, what cannot be compared."""
    first, second = found.first, found.second
    names = names_of(first, second)
    parts = [Part("not-compared", "What cannot be compared", sentences=list(found.not_compared))]
    given = [one for one in found.results if one.given]
    parts.append(Part("tables", "Both studies", tables=given))
    for own, name, id in ((first, names[0], "first"), (second, names[1], "second")):
        entries = [Entry(what, f"{n:,}") for what, n in own.runs.items()]
        sentences = [*own.warnings, *summary(own.results)]
        parts.append(Part(id, f"{name} alone", sentences=sentences, entries=entries))
    absent = [Entry(one.title, one.detail) for one in found.results if not one.given]
    if absent:
        parts.append(Part("not-shown", "Not shown, and why", entries=absent))
    return Page(
        title=f"{names[0]} and {names[1]}",
        kind="Report on two studies, by delibsim",
        summary=in_words(found) or ["The studies share nothing that could be compared."],
        parts=parts,
        warnings=list(dict.fromkeys([*first.warnings, *second.warnings])),
    )


def in_words(found: Comparison) -> list[str]:
    """The differences between the studies in the index, a sentence for each treatment."""
    names = names_of(found.first, found.second)
    sentences = []
    for result in found.results:
        if result.name == "differences" and result.given:
            sentences += _differences(result, names)
    return sentences


def _differences(result: Result, names: tuple[str, str]) -> list[str]:
    rows = [row for row in result.plain() if row["outcome"] == "dri"]
    told = []
    for row in rows:
        where = counted(row["topics"], "topic")
        both = f"{short(row['second'])} in {names[1]} and {short(row['first'])} in {names[0]}"
        said = (
            f"{sentence(named(row['treatment']))}: the {measured('dri')} changed by {both}, over"
            f" {where} that both have"
        )
        if missing(row["low"]):
            told.append(f"{said}; no interval, and no difference is claimed.")
            continue
        numbers = with_interval(row["difference"], row["low"], row["high"])
        clear = "a difference of" if row["low"] > 0 or row["high"] < 0 else "no clear difference:"
        told.append(f"{said}; {clear} {numbers}, without correction for several tests.")
    return told
