"""Answers of the user's own: every fault is told by line, nothing is dropped unasked, and the
instrument must be the same.
"""

import csv
import dataclasses

import pytest
from cases import cases_of

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Item, Survey
from delibsim.store.instruments.own_answers import (
    check_answers,
    keep_answers,
    kept_answers,
    people_who_answered,
)

CASES = cases_of(__file__)
ITEMS = [Item(f"C{k}", "consideration", f"Trams matter for reason {k}.") for k in (1, 2, 3)]
ITEMS += [Item(f"P{k}", "preference", f"Option {k}.") for k in (1, 2)]
TRAMS = Survey("trams", tuple(ITEMS), 1, 5)
HEADER = ["participant", "stage", "C1", "C2", "C3", "P1", "P2"]
GOOD = [
    ["Ann", "pre", 1, 2, 3, 1, 2],
    ["Ben", "pre", 5, 4, 3, 2, 1],
    ["Ann", "post", 2, 2, 3, 1, 2],
    ["Ben", "post", 4, 4, 3, 1, 2],
]


@pytest.fixture
def file(tmp_path):
    """Write a file of answers; its path."""

    def write(rows, header=HEADER):
        path = tmp_path / "mine.csv"
        with path.open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened).writerows([header, *rows])
        return path

    return write


def test_good_answers_are_kept_as_they_are_and_read_back(file, tmp_path):
    checked = check_answers(file(GOOD), TRAMS)
    assert (checked.faults, checked.notes, checked.left_out) == ((), (), ())
    for found in (
        checked.answers,
        kept_answers(keep_answers(checked.answers, TRAMS, tmp_path), TRAMS),
        people_who_answered(TRAMS, tmp_path),
    ):
        assert found.participants == ("Ann", "Ben")
        assert found.considerations["pre"].tolist() == [[1, 2, 3], [5, 4, 3]]
        assert found.preferences["post"].tolist() == [[1, 2], [1, 2]]
        assert found.cases == ("trams", "trams")


@pytest.mark.parametrize(("row", "fault"), CASES["every_fault_is_told_with_line_and_participant"])
def test_every_fault_is_told_with_line_and_participant(file, row, fault):
    checked = check_answers(file([*GOOD, row]), TRAMS)
    assert any(str(found).startswith(fault) for found in checked.faults), [
        str(found) for found in checked.faults
    ]
    assert set(checked.answers.participants) == {"Ann", "Ben"} - {row[0]}, (
        "whoever has a fault is left out whole, the others are not"
    )
    assert set(checked.left_out) == ({row[0]} if row[0].isprintable() and row[0] else set())


def test_other_names_of_columns_and_stages_are_understood_and_the_rest_is_told(file):
    rows = [[*row[:1], {"pre": "Before", "post": "2"}[row[1]], *row[2:], "x"] for row in GOOD]
    path = file(rows, ["who", "wave", *HEADER[2:], "age"])
    with pytest.raises(
        WrongInput,
        match="no column participant or pnum or respondent or id; name it with participant=NAME",
    ):
        check_answers(path, TRAMS)
    checked = check_answers(path, TRAMS, participant="who")
    assert checked.notes == ("columns that are not used: age",)
    assert checked.answers.considerations["post"].tolist() == [[2, 2, 3], [4, 4, 3]]
    with pytest.raises(WrongInput, match="there is no column when"):
        check_answers(path, TRAMS, participant="who", stage="when")


def test_answers_to_another_instrument_are_refused_with_the_items_that_differ(file):
    path = file([[*row, 4] for row in GOOD], [*HEADER[:-1], "P9", "C4"])
    with pytest.raises(
        WrongInput,
        match=(
            r"another instrument than survey 'trams'. Items not in the file: P2; items not in the"
            r" survey: P9, C4"
        ),
    ):
        check_answers(path, TRAMS)


def test_a_changed_instrument_is_found_when_the_answers_are_read_again(file, tmp_path):
    keep_answers(check_answers(file(GOOD), TRAMS).answers, TRAMS, tmp_path)
    with pytest.raises(WrongInput, match="Items not in the file: C7"):
        people_who_answered(
            dataclasses.replace(
                TRAMS, items=(*TRAMS.items, Item("C7", "consideration", "One more."))
            ),
            tmp_path,
        )
    with pytest.raises(WrongInput, match="C1 has 5, outside 1 to 4; import the answers again"):
        people_who_answered(dataclasses.replace(TRAMS, scale_max=4), tmp_path)


def test_people_may_depart_from_the_distribution_of_a_q_sort(file):
    checked = check_answers(
        file(GOOD), dataclasses.replace(TRAMS, forced_distribution=(0, 0, 1, 1, 1))
    )
    assert not checked.faults
    assert checked.notes == (
        "3 of 4 sorts depart from the forced distribution; they are kept as they are",
    )


def test_rows_of_other_surveys_are_refused_by_name_or_left_where_they_are(file):
    header = [*HEADER, "survey", "C9"]
    rows = [[*row, "trams", ""] for row in GOOD] + [
        ["Cem", "pre", 1, 2, 3, 1, 2, "buses", 4],
        ["Cem", "post", 1, 2, 3, 1, 2, "", 4],
    ]
    path = file(rows, header)
    with pytest.raises(
        WrongInput,
        match=(
            r"names other surveys than trams: buses \(1 rows\), \(empty\) \(1 rows\).*with only=true"
        ),
    ):
        check_answers(path, TRAMS)
    checked = check_answers(path, TRAMS, only=True)
    assert checked.answers.participants == ("Ann", "Ben")
    assert (
        checked.notes[0] == "rows of other surveys are not taken: buses (1 rows), (empty) (1 rows)"
    )
    assert checked.faults == ()
    with pytest.raises(
        WrongInput, match=r"no row has trees in the column survey, which names: trams \(4 rows\)"
    ):
        check_answers(path, dataclasses.replace(TRAMS, id="trees"), only=True)
    published = check_answers(
        file([[*row, "trams"] for row in GOOD], [*HEADER, "survey"]),
        dataclasses.replace(TRAMS, id="deliberr.trams"),
    )
    assert (published.faults, published.notes) == ((), ())


def test_an_earlier_import_is_given_up_only_where_that_is_said(file, tmp_path):
    first, fewer = (check_answers(file(rows), TRAMS).answers for rows in (GOOD, GOOD[::2]))
    path = keep_answers(first, TRAMS, tmp_path)
    before = path.read_bytes()
    assert keep_answers(first, TRAMS, tmp_path) == path, "the same answers again are no loss"
    with pytest.raises(
        WrongInput,
        match=r"trams.csv holds other answers.*with --replace; to keep both, add the new people",
    ):
        keep_answers(fewer, TRAMS, tmp_path)
    assert path.read_bytes() == before
    keep_answers(fewer, TRAMS, tmp_path, replace=True)
    assert kept_answers(path, TRAMS).participants == ("Ann",)


def test_empty_rows_are_nobody(file):
    checked = check_answers(file([GOOD[0], [""] * 7, *GOOD[1:], [" "] * 7]), TRAMS)
    assert (checked.faults, checked.answers.participants, checked.notes) == ((), ("Ann", "Ben"), ())


def test_without_answers_the_way_to_them_is_told(tmp_path):
    with pytest.raises(
        WrongInput,
        match=(
            r"no answers of people to survey 'trams'.*delibsim import FILE --as answers survey=trams"
        ),
    ):
        people_who_answered(TRAMS, tmp_path)
