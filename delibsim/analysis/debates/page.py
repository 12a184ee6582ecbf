"""The report on the ratings of debates as a page: the same tables, with definitions and figures."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from delibsim.analysis.debates.figures import drawings
from delibsim.analysis.debates.findings import VERBS, findings
from delibsim.analysis.debates.notes import in_sentences
from delibsim.analysis.debates.report import LONG, TITLES
from delibsim.analysis.debates.study_report import StudyReport
from delibsim.analysis.pages.html import html
from delibsim.analysis.pages.latex import latex
from delibsim.analysis.pages.markdown import markdown
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.study.report.words import with_interval
from delibsim.analysis.study.result import Result
from delibsim.store.files import write_atomically

SOURCE = "docs/debates.md"
WHOLE = ("df", "rank", "performance_rank", "k")
"""Columns of numbers that are mostly whole."""
DEFINITIONS = {
    "counts": "How many debates and ratings were planned, held, given and analysed.",
    "standings": "A row a debater: the share of ratings that named it the winner, and the mean"
    " rating of performance. Intervals are by t over motions or, with fewer than five, over"
    " debates. The published intervals resample debates.",
    "contrasts": "What one debater got less what the other got, three rows each: over motions like"
    " these, on these motions, over motions and raters like these. Unit and degrees of freedom (df)"
    " stand in the row. Winning is a difference of shares of ratings, performance is in points.",
    "strengths": "Bradley-Terry: the log odds of winning of each debater, with terms for the side"
    " and the motion; errors are clustered by debate, t with the degrees of freedom in the row.",
    "reliability": "Krippendorff's alpha and the agreement on the winner, over all raters; ICC of"
    " performance with its 95% interval.",
    "dimension_reliability": "ICC of the mean of k raters by dimension with its 95% interval, from"
    " variance components, which take incomplete designs; how far the raters of one side of a"
    " debate lie apart (within SD).",
    "dimension_correlations": "Correlations of the ratings of each pair of dimensions, by kind of"
    " debater.",
    "dimension_correlation_tests": "The same, each with its 95% interval and p; ratings are taken"
    " one by one, as published.",
    "paired_tests": "The mean difference of both sides in each dimension: interval and p by t over"
    " motions (or debates), and the published t test of single ratings.",
    "winner_model": "Logistic regression of the winner on the differences of ten scores.",
    "stance_models": "Regression of the raters' change of stance on the winner and the debaters.",
    "stance_after": "Beta regressions of the stance after the debate.",
    "rater_models": "Mixed models with an intercept for each rater, by restricted maximum"
    " likelihood. Performance by kind is the published model: is_human x the debater's expertise.",
    "expertise": "Mean and SD by the expertise of the person who debates; rows of models carry"
    " that of their opponent.",
    "expertise_contrasts": "Differences between these groups, by least squares with errors"
    " clustered by debate, and by the person who debates.",
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
            found.append(Result(name, title, definition, SOURCE, _in_words(rows)))
    return found


def _in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with notes and verbs in words, and whole numbers as such; files keep the codes."""
    for column in WHOLE:
        if column in rows.columns and (rows[column].dropna() % 1 == 0).all():
            rows = rows.assign(**{column: rows[column].astype("Int64")})
    for column, words in (("note", in_sentences), ("verb", VERBS.get)):
        if column in rows.columns:
            rows = rows.assign(**{column: rows[column].map(words)})
    return rows


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
    """How many debates there are, who stands first, and what may be said of differences."""
    yield f"Debates planned: {report.planned}; held: {report.planned - report.waiting}."
    placed = report.tables["standings"]
    if placed.empty:
        yield "No debate has been rated."
        return
    for row in placed.head(3).to_dict("records"):
        rate = with_interval(row["win_rate"], row["win_low"], row["win_high"])
        of = f"{row['df'] + 1:g} {row['unit']}s" if row["win_low"] == row["win_low"] else ""
        over = f", 95% interval by t over {of}" if of else ""
        told = f"{row['debater']} was named the winner in a share of {rate} of its ratings"
        yield f"{told}{over} (rank {row['rank']:g})."
    yield from findings(report.tables["contrasts"])
