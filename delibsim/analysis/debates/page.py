"""The report on the ratings of debates as a page: the same tables, with definitions and figures."""

from collections.abc import Iterator
from pathlib import Path

from delibsim.analysis.debates.figures import drawings
from delibsim.analysis.debates.report import LONG, TITLES
from delibsim.analysis.debates.study_report import StudyReport
from delibsim.analysis.pages.html import html
from delibsim.analysis.pages.latex import latex
from delibsim.analysis.pages.markdown import markdown
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.study.report.summary import short
from delibsim.analysis.study.result import Result
from delibsim.store.files import write_atomically

SOURCE = "docs/debates.md"
DEFINITIONS = {
    "counts": "How many debates and ratings were planned, held, given and analysed.",
    "standings": "A row a debater: the share of debates won, and the mean rating of performance;"
    " intervals from resampling debates.",
    "strengths": "Bradley-Terry: the log odds of winning of each debater, with terms for the side"
    " and the motion; errors are clustered by debate.",
    "reliability": "Krippendorff's alpha and the agreement on the winner, over all raters.",
    "dimension_reliability": "ICC of the mean of k raters by dimension, from variance components,"
    " which take incomplete designs.",
    "dimension_correlations": "Correlations of the ratings of each pair of dimensions.",
    "paired_tests": "The mean difference of both sides in each dimension, tested by debate.",
    "winner_model": "Logistic regression of the winner on the differences of ten scores.",
    "stance_models": "Regression of the raters' change of stance on the winner and the debaters.",
    "stance_after": "Beta regression of the stance after the debate.",
    "rater_models": "Mixed models with an intercept for each rater, by restricted maximum"
    " likelihood.",
    "covariates": "Of how many raters and debaters each covariate is given.",
    "place_and_length": "Whether speaking first, or at greater length, went with winning.",
}


def results(report: StudyReport) -> list[Result]:
    """Every table of the report that has rows, those that are printed first."""
    found = []
    for name in [*TITLES, *LONG]:
        rows = report.tables.get(name)
        if rows is not None and not rows.empty:
            title = TITLES.get(name, name)
            definition = DEFINITIONS.get(name, f"One row a rating: {name}.")
            found.append(Result(name, title, definition, SOURCE, rows))
    return found


def page_of_debates(report: StudyReport) -> Page:
    """The page of a report on ratings."""
    given = [result for result in results(report) if result.name not in LONG]
    pooled = report.pooled
    pictures = [drawing.picture() for drawing in drawings(report.tables)]
    parts = [
        Part("whose", "Whose ratings", [pooled.whose()], sentences=report.missing()),
        Part("figures", "Figures", pictures=pictures),
        Part("tables", "Tables", tables=given),
    ]
    return Page(
        title=report.study,
        kind="Report on the ratings of debates, by delibsim",
        summary=list(_summary(report)),
        parts=parts,
        warnings=list(pooled.warned()),
        tables_in="",
        figures_in="",
    )


def write_page(report: StudyReport, folder: Path) -> None:
    """Write the page and its tables for papers beside the tables and figures of the report."""
    page, given = page_of_debates(report), results(report)
    write_atomically(folder / "report.html", html(page))
    write_atomically(folder / "report.md", markdown(page))
    papers = [result for result in given if result.name not in LONG]
    write_atomically(folder / "tables.tex", latex(report.study, papers))


def _summary(report: StudyReport) -> Iterator[str]:
    """How many debates there are, and who stands first."""
    yield f"Debates planned: {report.planned}; held: {report.planned - report.waiting}."
    placed = report.tables["standings"]
    if placed.empty:
        yield "No debate has been rated."
        return
    for row in placed.head(3).to_dict("records"):
        rate = f"{short(row['win_rate'])} [{short(row['win_low'])}, {short(row['win_high'])}]"
        yield f"{row['debater']} won a share of {rate} of its debates (rank {row['rank']:g})."
