"""Tables fit the terminal: at any width no line is longer, and no word and no number is broken."""

import io
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from strategies import quick

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.report import people_report
from delibsim.analysis.result import Result
from delibsim.analysis.table import DisplayColumn
from delibsim.cli import list_people
from delibsim.cli.results import print_result
from delibsim.cli.table import print_table
from delibsim.store.instruments.answers import Answers

WIDTHS = (80, 100, 140)
UNBOUNDED = 10_000

words = st.text(string.ascii_letters + "+-.,:%", min_size=1, max_size=12)
texts = st.lists(words, max_size=8).map(" ".join)
WIDE = [DisplayColumn(":" * 12, group="of people")] * 2


@st.composite
def printed(draw):
    """The columns and rows of a table, some of the columns in a group."""
    columns = []
    for _ in range(draw(st.integers(1, 12))):
        text, group = draw(st.booleans()), draw(st.sampled_from(("", "", "of people", "group")))
        columns.append(DisplayColumn(draw(texts), text, group))
    row = st.tuples(*(texts if column.text else words for column in columns))
    return columns, draw(st.lists(st.none() | row, max_size=4))


def lines_of(print_on, width):
    """What is printed on a terminal of this width, without colours."""
    file = io.StringIO()
    terminal = {"force_terminal": True, "color_system": None}
    plain = {"markup": False, "highlight": False, "emoji": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        print_on(Console(file=file, width=width, **terminal, **plain))
    return file.getvalue().splitlines()


def check(print_on, width):
    """No line is longer than the width, and the words are those of a console without an end."""
    lines = lines_of(print_on, width)
    whole = lines_of(print_on, UNBOUNDED)
    assert [line for line in lines if len(line) > width] == []
    assert set(" ".join(lines).split()) == set(" ".join(whole).split())
    return lines


@quick
@given(printed(), st.integers(30, 150))
@example(([], []), 80)
@example(([DisplayColumn("a", text=True)], []), 80)
@example(([*[DisplayColumn("")] * 5, DisplayColumn(":::", group="of people"), *WIDE], []), 30)
def test_a_table_is_no_wider_than_the_terminal_and_loses_no_word(table, width):
    check(lambda screen: print_table("", *table, screen), width)


def test_a_table_that_is_too_wide_is_continued_below_with_what_its_rows_are_about():
    columns = [
        DisplayColumn("name", text=True),
        DisplayColumn("first one"),
        DisplayColumn("second"),
        DisplayColumn("third"),
    ]
    rows = [["long name", "1.000", "2.000", "3.000"], None, ["b", "1", "2", "3"]]
    assert lines_of(lambda screen: print_table("All", columns, rows, screen), 24) == [
        "All",
        "           first",
        "name         one  second",
        "long name  1.000   2.000",
        "",
        "b              1       2",
        "",
        "name       third",
        "long name  3.000",
        "",
        "b              3",
    ]


def test_columns_of_a_group_stay_together_below_its_name():
    columns = [
        DisplayColumn("id", text=True),
        *(DisplayColumn(c, group="people") for c in ("pre", "post")),
    ]
    columns.append(DisplayColumn("after that"))
    rows = [["a", "0.1", "0.2", "0.3"]]
    assert lines_of(lambda screen: print_table("", columns, rows, screen), 16) == [
        "     people",
        "id  pre  post",
        "a   0.1   0.2",
        "",
        "id  after that",
        "a          0.3",
    ]


def test_the_tables_of_people_fit(monkeypatch, capsys):
    answers, scales = [], {}
    for k, survey in enumerate(BENCHMARK):
        rated = [[1, 2, 3 + k % 2], [5, 4, 1], [2, 2, 4], [3, 1, 1], [4, 5, 5], [1, 1, 2]]
        ranked = [[1, 2], [2, 1], [1, 2], [2, 1], [1, 2], [2, 1]]
        people = tuple(f"p{i}" for i in range(6))
        answers.append(invented(survey, people, rated, ranked))
        scales[survey] = (1, 5)
    for by in ("topic", "case"):
        report = people_report(answers, scales, by, 20)
        for width in WIDTHS:
            monkeypatch.setenv("COLUMNS", str(width))
            list_people.print_people(report)
            lines = capsys.readouterr().out.splitlines()
            assert max(map(len, lines)) <= width
            assert "Published figures" in lines
            assert any(line.startswith("Groups of five") for line in lines)


def invented(survey, people, rated, ranked):
    """Answers of invented people, who afterwards rate as another of them did before."""
    before, ranks = np.array(rated), np.array(ranked)
    return Answers(
        survey=survey,
        cases=tuple(f"Deliberation {k % 2}" for k in range(len(people))),
        participants=people,
        considerations={"pre": before, "post": before[::-1]},
        preferences={"pre": ranks, "post": ranks},
        path=Path("invented.csv"),
        lines={phase: tuple(range(len(people))) for phase in ("pre", "post")},
    )


def test_a_word_without_room_is_broken_and_nothing_of_it_is_lost():
    name = "m" * 50
    columns, rows = [DisplayColumn("model", text=True), DisplayColumn("n")], [[name, "7"]]
    lines = lines_of(lambda screen: print_table("", columns, rows, screen), 40)
    assert max(map(len, lines)) <= 40
    assert "".join(lines).count("m") == 51


@pytest.mark.parametrize("width", WIDTHS)
def test_on_a_terminal_the_width_is_that_of_the_terminal(delibsim, study, monkeypatch, width):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    heads = [line for line in delibsim("score", "s", "--all").out.splitlines() if "planned" in line]
    plain = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in heads]
    assert plain
    assert max(map(len, plain)) <= width


SESSION = "energy_futures.normative.claude_opus_4_5_with_thinking_rounds12_size7_persona-values.r1"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_name_stands_whole_above_its_row(width):
    columns = [DisplayColumn("session", text=True), DisplayColumn("state", text=True)]
    columns += [DisplayColumn(name) for name in ("calls", "before", "after", "change")]
    name = SESSION[-min(len(SESSION), width - 2) :]
    values = ["complete", "120", "0.812", "0.901", "+0.089"]
    lines = lines_of(lambda screen: print_table("", columns, [[name, *values]], screen), width)
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["session", "state", "calls", "before", "after", "change"]
    if width < 140:
        assert lines[1] == name
        assert lines[2].split() == values
    else:
        assert lines[1].split() == [name, *values]


def test_two_long_names_stay_with_the_numbers_of_their_row():
    columns = [
        DisplayColumn("model", text=True),
        DisplayColumn("topic", text=True),
        DisplayColumn("n"),
        DisplayColumn("value"),
    ]
    rows = [["m" * 50, "t" * 39, "7", "0.123"], ["m", "t", "8", "1.2"]]
    lines = lines_of(lambda screen: print_table("", columns, rows, screen), 80)
    assert lines[1] == "m" * 50
    assert lines[2].split() == ["t" * 39, "7", "0.123"]
    assert lines[3].split() == ["m", "t", "8", "1.2"]


def test_a_result_without_rows_says_so_and_prints_no_headings():
    out = io.StringIO()
    columns = ["group", "model", "estimate", "within_stance"]
    result = Result(
        name="gaps",
        title="Gaps of groups",
        definition="",
        source="docs/summaries.md",
        rows=pd.DataFrame([], columns=columns),
        notes=["No placebo was judged."],
    )
    print_result(result, Console(file=out, width=80))
    assert out.getvalue().split("\n")[1:4] == [
        "Gaps of groups",
        "no rows",
        "No placebo was judged.",
    ]
