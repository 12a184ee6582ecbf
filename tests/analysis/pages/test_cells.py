"""Tables for reading: estimates with intervals, p values, what all rows share."""

import pandas as pd
import pytest

from delibsim.analysis.pages.cells import cell, decimals, interval, p_value, reading
from delibsim.analysis.result import Result


def result(rows, **more):
    return Result("contrasts", "Contrasts", "What a row is.", "doi:1", pd.DataFrame(rows), **more)


def test_an_estimate_has_its_interval_beside_it_and_p_is_printed_as_in_papers():
    rows = [{"a": "normative", "estimate": 0.0286, "low": -0.004, "high": 0.0761, "p": 0.0002}]
    read = reading(result(rows, meanings={"estimate": "a minus b"}))
    assert [head.name for head in read.heads] == ["a", "estimate", "95% interval", "p"]
    assert list(read.rows[0]) == ["normative", ".029", "[−.004, .076]", "< .001"]
    assert read.heads[1].meaning == "a minus b"
    assert [head.text for head in read.heads] == [True, False, False, False]


def test_a_table_with_a_sentence_in_a_cell_is_told_from_one_of_numbers():
    assert not reading(result([{"a": "normative", "n": 3}])).is_prose
    assert reading(
        result([{"a": "I trust neither the optimistic nor the gloomy forecasts, and I say so."}])
    ).is_prose


def test_a_ninety_percent_interval_is_called_so():
    rows = [{"estimate": 0.0, "low_90": -0.1, "high_90": 0.1, "equivalent": True}]
    read = reading(result(rows))
    assert [head.name for head in read.heads] == ["estimate", "90% interval", "equivalent"]
    assert list(read.rows[0]) == [".000", "[−.100, .100]", "yes"]


def test_what_all_rows_share_stands_once_and_an_empty_note_nowhere():
    rows = [
        {"outcome": "dri", "a": "x", "n": 3, "note": ""},
        {"outcome": "dri", "a": "y", "n": 4, "note": ""},
    ]
    read = reading(result(rows))
    assert read.in_words == "In all rows: outcome DRI."
    assert [head.name for head in read.heads] == ["a", "n"]
    assert [list(row) for row in read.rows] == [["x", "3"], ["y", "4"]]


def test_a_long_table_is_cut_and_says_by_how_much():
    read = reading(result([{"n": i} for i in range(100)]), longest=10)
    assert (len(read.rows), read.left_out) == (10, 90)


def test_a_table_without_rows_is_read():
    read = reading(result([]))
    assert (list(read.rows), read.left_out) == ([], 0)


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (float("nan"), "", "–"),
        (None, "", "–"),
        (pd.NA, "", "–"),
        ("", "", "–"),
        (True, "", "yes"),
        (5.0, "n", "5"),
        (5.5, "n", "5.500"),
        (1234, "", "1,234"),
        (float("inf"), "", "∞"),
        (-0.00001, "", ".000"),
        (0.0004, "p_holm", "< .001"),
        (0.05, "p", ".050"),
        (0.05, "persona", ".050"),
    ],
)
def test_a_value_as_text(value, name, text):
    assert cell(value, name) == text


def test_numbers_keep_three_digits():
    assert [decimals(x) for x in (0.5, -12.345, 4831.4)] == [".500", "−12.35", "4,831"]
    assert interval(None, 1.0) == "–"
    assert p_value(0.9996) == "1.000"


def test_notes_of_rows_are_footnotes_each_once():
    rows = [{"n": 1, "note": "too few"}, {"n": 2, "note": ""}, {"n": 3, "note": "too few"}]
    read = reading(result(rows))
    assert [head.name for head in read.heads] == ["n", "note"]
    assert [list(row) for row in read.rows] == [["1", "a"], ["2", ""], ["3", "a"]]
    assert read.footnotes == {"a": "too few"}
    coded = reading(result([{"n": 1, "note": "no_ties always_a"}, {"n": 2, "note": ""}]))
    assert coded.footnotes["a"].startswith("nobody gave a tie, every vote that")
