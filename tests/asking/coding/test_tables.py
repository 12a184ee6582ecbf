"""Codes of people are read cell by cell: what is no code is named, and never taken for one."""

import pytest
from cases import cases_of
from pilot_texts import REASONS, SCHEME

from delibsim.asking.kinds.coding import (
    CellFault,
    CodeScope,
    contradictions,
    level_of,
    no_code,
    read_codes,
)
from delibsim.domain.coding import Code
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.store.tables.csv_cells import read_sheet

CASES = cases_of(__file__)
KNOWN = CodeScope(SCHEME, {"1": "sha1", "2": "sha2", "1.5": "x"}, models=("alpha",))


@pytest.fixture
def read(tmp_path):
    """Read a table of codes from its text."""

    def of(text, known=KNOWN):
        file = tmp_path / "codes.csv"
        file.write_text(text, encoding="utf-8")
        return read_codes(read_sheet(file), known)

    return of


def test_long_and_wide_give_the_same_codes(read):
    long = read(
        "text,coder,dimension,level\n1,A. B.,reasons,0\n1,A. B.,kind,plan\n2,Ben,kind,past\n"
    )
    wide = read("id;A. B..reasons;A. B..kind;Ben.kind;words\n1;0;plan;;9\n2;;;past;9\n")
    assert [code for code, _ in long.codes] == [code for code, _ in wide.codes]
    assert [code.level for code, _ in long.codes] == [0, "plan", "past"]
    assert long.codes[0][0].text_sha256 == "sha1"
    assert not long.faults
    assert not wide.faults
    assert wide.not_read == ["words"]
    assert wide.empty == 3


@pytest.mark.parametrize(("row", "fault"), CASES["what_is_no_code_is_named_with_its_line"])
def test_what_is_no_code_is_named_with_its_line(read, row, fault):
    found = read(f"text,coder,dimension,level\n2,Ben,reasons,1\n{row}\n")
    (said,) = found.faults
    assert said.startswith("line 3: ")
    assert fault in said
    assert len(found.codes) == 1


def test_everything_wrong_with_a_line_is_told_at_once(read):
    (said,) = read("text,coder,dimension,level\n9,,reasons,7\n").faults
    assert said.count(";") == 2


def test_two_codes_of_one_coder_on_one_text_are_named_with_both_lines(read):
    (said,) = read("text,coder,dimension,level\n1,Ann,reasons,1\n1,Ann,reasons,1\n").faults
    assert said == "line 3: Ann coded 1 on reasons twice, first on line 2"


def test_a_table_without_codes_says_what_it_needs(read):
    (said,) = read("id,quality\n1,2\n").faults
    assert "columns CODER.DIMENSION, such as Ann.reasons" in said


def test_a_dimension_that_does_not_apply_is_missing_and_not_level_0():
    assert level_of(REASONS, "Not applicable") == (None, Reason("not_applicable"))
    assert level_of(REASONS, "0") == (0, None)


def test_numbers_on_an_interval_scale_are_read_however_they_are_written():
    length = Dimension("length", "L", "interval", (Level(0.5, "s", "S."), Level(2, "l", "L.")))
    assert level_of(length, "2.0") == (2, None)
    assert level_of(length, ".50") == (0.5, None)
    with pytest.raises(CellFault, match=r"'1' is no level of length \(0\.5, 2\)"):
        level_of(length, "1")


def test_a_code_that_was_given_otherwise_before_is_a_contradiction():
    old = Code("1", "reasons", "Ann", "human", 0, text_sha256="a")
    same, other = old, Code("1", "reasons", "Ann", "human", 1, text_sha256="a")
    training = Code("1", "reasons", "Ann", "human", 1, training=True, text_sha256="a")
    edited = Code("1", "reasons", "Ann", "human", 0, text_sha256="b")
    assert contradictions([(same, 2)], [old]) == ([], [])
    assert contradictions([(training, 2)], [old]) == ([training], [])
    assert contradictions([(other, 2)], [old])[1] == [
        "line 2: Ann, 1, reasons: level 0 before, level 1 here"
    ]
    assert "was edited since" in contradictions([(edited, 2)], [old])[1][0]


def test_a_level_may_be_named_na():
    kinds = Dimension("na", "N", "nominal", (Level("NA", "n", "None."), Level("b", "b", "B.")))
    cell = no_code("na", Scheme("s", "S", "own", "1", (kinds,)))
    assert (cell, level_of(kinds, "na")) == (False, ("NA", None))
