"""The report on a comparison as a page: sentences first, then tables with their figures."""

from dataclasses import replace
from pathlib import Path

from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.pairs.figures import drawings
from delibsim.analysis.pairs.report import BY_PLACE, LONG, PairsReport
from delibsim.analysis.study.result import Result

PARTS = {
    "scores": ("Scores", ("scores", "conditions", "differences", "groups")),
    "people": ("Beside people", ("against", "against_labels", "against_tests")),
    "judges": ("Judges", ("judges", "agreement", "judge_models", "crowd_bt", "runs")),
    "places": ("Places and transitivity", ("order", "transitivity")),
    "stability": ("Stability", ("stability", "curve")),
    "votes": ("Votes", ("counts",)),
}
"""The parts of the page: title, and tables."""
FIGURES = {"scores": "scores_", "stability": "curve"}
"""What the names of the figures of a part begin with."""


def write_page(report: PairsReport, folder: Path) -> Path:
    """Write page, tables and figures into a folder, which takes their place as a whole; the page.

    WrongInput for a folder that holds anything but a report.
    """
    drawn = [drawing.picture() for drawing in drawings(report)]
    files = {f"figures/{one.name}.svg": one.svg.encode("utf-8") for one in drawn}
    parts = []
    for id, (title, names) in PARTS.items():
        found = [report.results[name] for name in names]
        missing = [f"{one.title}: {one.detail}." for one in found if not one.given]
        tables = [_shown(one) for one in found if one.given]
        begins = FIGURES.get(id)
        pictures = [one for one in drawn if begins and one.name.startswith(begins)]
        parts.append(Part(id, title, sentences=missing, tables=tables, pictures=pictures))
    long = ", ".join(f"{name}.csv" for name in LONG if report.results[name].given)
    parts[-1] = replace(parts[-1], sentences=[f"Further tables lie in tables/: {long}."])
    page = Page(
        title=f"{report.compared.study}, compared in pairs ({report.compared.name})",
        kind="Report on a comparison, by delibsim",
        summary=list(report.sentences()),
        parts=parts,
        warnings=[f"left out, damaged: {fault}" for fault in report.faults],
    )
    return write_report(page, report.given, folder, files)


def _shown(result: Result) -> Result:
    """A table as the page shows it: without ranks by score alone, which tell neighbours apart that
    cannot be.
    """
    kept = [name for name in result.rows.columns if name not in BY_PLACE]
    return replace(result, rows=result.rows[kept])
