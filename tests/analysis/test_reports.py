"""What holds of every report and of every table of every report: contracts of `analysis.report`."""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from coded_study import coded_study
from compared_votes import STRENGTHS, compared, drawn
from planted_summaries import planted
from rich.console import Console
from tournaments import published

from delibsim.analysis.coding.report import CodeReportSettings as CodeSettings
from delibsim.analysis.debates.report import Pooled, analyses, report_of
from delibsim.analysis.pairs.fitted import Settings
from delibsim.analysis.pairs.report import pairs_report
from delibsim.analysis.report import Report
from delibsim.analysis.result import TABLES, catalogue
from delibsim.analysis.summaries.report import summaries_report
from delibsim.cli.results import print_result
from delibsim.conduct.code_report import report_on_codes

DOCS = Path(__file__).parents[2] / "docs"
CATALOGUES = sorted(path.stem for path in TABLES.glob("*.yaml"))
ENTRIES = [(name, table) for name in CATALOGUES for table in catalogue(name).entries]


def codes(folder):
    runs = coded_study(folder, 24, wordings=("coding", "coding_a"))
    return report_on_codes(runs, "", CodeSettings(column="year"))


def codes_of_models(folder):
    return report_on_codes(coded_study(folder, 12, people=()), "", CodeSettings())


def pairs(folder):
    votes = [*drawn(STRENGTHS, 0.8, 0.4), *drawn(STRENGTHS, 0.0, 0.4, "k", 4)]
    return pairs_report(compared(votes), Settings(top=3))


def pairs_of_one_judge(folder):
    return pairs_report(compared(drawn(STRENGTHS, 0.8, 0.4)), Settings())


def summaries(folder):
    return summaries_report([planted(n=40, runs=1, people=0.3), planted(2, n=40, runs=1)])


def debates(folder):
    ratings, people = published(raters=10, each=4)
    frames = {"ratings": ratings, **analyses(ratings, samples=10, people=people)}
    return report_of("oxford", frames, Pooled.of([]))


def debates_nobody_rated(folder):
    ratings, _ = published(raters=10, each=4)
    none = ratings.head(0)
    return report_of("oxford", {"ratings": none, **analyses(none, samples=10)}, Pooled.of([]))


REPORTS = {
    one.__name__: one
    for one in (
        codes,
        codes_of_models,
        pairs,
        pairs_of_one_judge,
        summaries,
        debates,
        debates_nobody_rated,
    )
}


@pytest.fixture(scope="module", params=REPORTS)
def report(request, tmp_path_factory) -> Report:
    return REPORTS[request.param](tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def written(report, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "report"
    report.write(folder)
    return folder


@pytest.mark.parametrize(("name", "table"), ENTRIES)
def test_a_table_has_a_title_a_definition_a_source_and_a_meaning_of_every_column(name, table):
    entry = catalogue(name).entries[table]
    assert all((entry.title, entry.definition, entry.source)), entry
    assert entry.columns
    assert all(isinstance(told, str) and told for told in entry.columns.values())
    assert {*entry.hidden, *entry.off_page, *entry.whole} <= entry.columns.keys()
    assert all(re.fullmatch("[a-z_0-9]+", code) and told for code, told in entry.empty.items())
    page, _, anchor = entry.source.partition("#")
    if page.startswith("docs/") and anchor:
        headings = re.findall(r"^#+ (.+)$", (DOCS.parent / page).read_text(), re.MULTILINE)
        assert anchor.partition(";")[0] in {
            heading.lower().replace(" ", "-") for heading in headings
        }


@pytest.mark.parametrize("name", CATALOGUES)
def test_a_table_stands_in_one_part_of_the_page_or_in_none(name):
    own = catalogue(name)
    shown = [table for section in own.sections for table in section.tables]
    assert len(shown) == len(set(shown))
    assert {*shown, *filter(None, [own.headline])} <= own.entries.keys()


def test_every_table_is_one_of_its_catalogue_in_its_order_with_its_columns(report):
    known = list(report.catalogue.entries)
    assert [name for name in known if name in report.results] == list(report.results)
    for result in report.results.values():
        entry = report.catalogue.entries[result.name]
        assert list(map(str, result.rows.columns)) == list(entry.columns), result.name
        assert "{" not in result.title + result.definition + result.detail, result.name


def test_a_table_that_is_not_given_has_a_reason_and_no_row(report):
    for result in report.missing:
        assert result.detail, result.name
        assert result.rows.empty, result.name
    assert all(not result.detail for result in report.given)


def test_json_and_csv_hold_the_same(report, written):
    plain = json.loads(json.dumps(report.plain(), default=float))
    assert plain["tables"].keys() == {path.stem for path in (written / "tables").glob("*.csv")}
    assert plain["not_given"].keys() == {result.name for result in report.missing}
    for name, rows in plain["tables"].items():
        text = (written / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        read = list(csv.DictReader(io.StringIO(text)))
        assert len(read) == len(rows), name
        for line, row in zip(read, rows, strict=True):
            assert line.keys() == row.keys(), name
            assert all(_equal(line[column], row[column]) for column in row), (name, line, row)


def _equal(cell, value):
    """Whether a cell holds a value; an empty cell is a missing one."""
    if value is None or value == "" or value != value:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value)
    if isinstance(value, (int, float)):
        return float(cell) == value
    return cell == str(value)


def test_nothing_is_lost_on_the_page(report, written):
    page = report.page([figure.picture() for figure in report.drawn()])
    shown = {result.name: result for result in page.tables()}
    if page.headline is not None:
        shown[page.headline.name] = page.headline
    in_files = " ".join(sentence for part in page.parts for sentence in part.sentences)
    for result in report.given:
        if result.name in shown:
            kept = set(result.rows.columns) - set(result.off_page)
            assert set(shown[result.name].rows.columns) == kept
        else:
            assert f"{result.name}.csv" in in_files
    parted = {name for section in report.catalogue.sections for name in section.tables}
    for result in report.missing:
        assert result.name not in parted or result.detail in in_files
    drawn = {picture.name for picture in page.pictures()}
    assert drawn == {figure.name for figure in report.drawn()}
    assert {f"{name}.svg" for name in drawn} == {
        path.name for path in (written / "figures").glob("*")
    }
    assert all(part.title for part in page.parts)


def test_the_codebook_says_what_every_column_of_every_file_means(report, written):
    with (written / "codebook.csv").open(encoding="utf-8", newline="") as file:
        told = {(row["table"], row["column"]): row["meaning"] for row in csv.DictReader(file)}
    for result in report.given:
        for column in result.rows.columns:
            assert told[result.name, str(column)], (result.name, column)


def test_the_screen_lacks_the_hidden_columns_alone_and_the_page_has_them(report):
    for result in report.given:
        out = io.StringIO()
        print_result(result, Console(file=out, width=400))
        assert result.title in " ".join(out.getvalue().split())
        assert all(column in result.rows.columns for column in result.hidden)
        if len(result.rows) and "estimate" in result.hidden:
            pytest.fail(f"{result.name} hides its estimate")


def test_sentences_are_whole_and_the_first_screen_has_some(report):
    assert report.summary or not report.something
    for sentence in [*report.summary, *report.told]:
        assert sentence.strip() == sentence
        assert not re.search(r"\bnan\b|None", sentence), sentence
    assert isinstance(report.results[next(iter(report.results))].rows, pd.DataFrame)
