"""The report on codes as a page: sentences first, then each figure with its table."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from delibsim.analysis.coding.figures import drawings
from delibsim.analysis.coding.report import LONG, CodingReport
from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part, Picture

PARTS = {
    "levels": ("Levels and certainty", ("levels", "certainty", "votes")),
    "agreement": ("Agreement of coders", ("pairs", "groups", "against", "against_trend")),
    "equivalence": (
        "The ensemble in a person's place",
        ("equivalence", "equivalence_curve", "resampled", "robustness"),
    ),
    "people": (
        "What people show",
        ("weak_dimensions", "split_texts", "calibration_scores", "calibration", "corrected_means"),
    ),
    "asking": ("Wordings, cost and failures", ("wordings", "costs", "failures", "refusals")),
    "confusion": ("Which levels are taken for which", ("confusion",)),
}
"""The parts of the page: title, and tables; the figure of a table has its name."""


def page_of_codes(report: CodingReport, drawn: Mapping[str, Picture]) -> Page:
    """The page of a report on codes; `drawn` are its figures by name."""
    scheme = report.study.coded.scheme
    told = list(report.by_dimension())
    parts = [
        Part("scheme", "The scheme", list(_scheme(report))),
        *([Part("dimensions", "Dimension by dimension", sentences=told)] if told else []),
    ]
    for id, (title, names) in PARTS.items():
        tables = [report.results[name] for name in names if name in report.results]
        missing = [f"{one.title}: {one.detail}." for one in tables if not one.given]
        pictures = [drawn[name] for name in names if name in drawn]
        given = [one for one in tables if one.given]
        parts.append(Part(id, title, sentences=missing, tables=given, pictures=pictures))
    return Page(
        title=f"{report.study.study}, coded by {scheme.id}",
        kind="Report on codes, by delibsim",
        summary=list(report.overall()),
        headline=report.results["dimensions"],
        parts=parts,
        warnings=[f"left out, damaged: {fault}" for fault in report.faults],
    )


def write_page(report: CodingReport, folder: Path) -> Path:
    """Write page, tables and figures into a folder, which takes their place as a whole; the page.

    WrongInput for a folder that holds anything but a report.
    """
    drawn = {drawing.name: drawing.picture() for drawing in drawings(report.results)}
    files = {}
    for name, picture in drawn.items():
        files[f"figures/{name}.svg"] = picture.svg.encode("utf-8")
    page = page_of_codes(report, drawn)
    return write_report(page, report.results.values(), folder, files)


def _scheme(report: CodingReport) -> Iterator[str]:
    scheme, asked = report.study.coded.scheme, report.study.coded.asked
    source = f" Source: {scheme.source}" if scheme.source else ""
    yield f"{scheme.name}, version {scheme.version}, SHA-256 {scheme.sha256}.{source}"
    if asked.models:
        yield f"Models: {', '.join(asked.models)}. The scored wording is {asked.wording}."
    long = ", ".join(f"{name}.csv" for name in LONG)
    yield f"Every table lies in tables/ at full precision, {long} too, with a codebook of columns."
