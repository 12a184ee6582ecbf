"""The one reader of tables: what is read, with its lines, and what is refused, in one short line.
Covariates of debaters and raters from a CSV file; what is wrong is refused with its line. The
columns of the Habermas Machine data as records.
"""

import gzip
import os
import socket
from pathlib import Path

import duckdb
import pytest
from cases import cases_of

from delibsim.conduct.trained.records import records_of_file
from delibsim.domain.errors import WrongInput, told
from delibsim.domain.summary import Triple
from delibsim.store.instruments.own_answers import Covariates, read_covariates
from delibsim.store.reading import file_text, read_json, read_yaml
from delibsim.store.tables import csv_cells
from delibsim.store.tables.csv_cells import read_sheet


@pytest.fixture
def write(tmp_path):
    def written(text, encoding="utf-8"):
        path = tmp_path / "rows.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return written


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_rows_have_the_lines_on_which_they_begin(write, separator):
    text = "id,level\n\na, 1 \n'two\nlines',2\n,\nc,3\n".replace("'", '"').replace(",", separator)
    found = read_sheet(write(text))
    assert found.header == ("id", "level")
    assert found.rows == [["a", " 1 "], ["two\nlines", "2"], ["c", "3"]]
    assert (found.lines, found.delimiter) == ([3, 4, 7], separator)
    assert next(found.records()) == (3, {"id": "a", "level": "1"})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_mark_of_byte_order_and_every_end_of_lines_are_read(write, end):
    found = read_sheet(write(f"\ufeff{end}id,level{end}a,1{end}"))
    assert (found.header, found.rows, found.lines) == (("id", "level"), [["a", "1"]], [3])


def test_columns_without_a_heading_have_a_name(write):
    assert read_sheet(write(",level,\n1,0,x\n")).header == ("row", "level", "column 3")
    assert read_sheet(write("\tlevel\n1\t0\n")).header == ("row", "level")


def test_a_cell_may_be_longer_than_the_default_of_python(write):
    assert len(read_sheet(write(f"id,text\n1,{'x' * 200_000}\n")).rows[0][1]) == 200_000


def test_the_columns_that_are_wanted_decide_between_separators(write):
    path = write("a;b,c;d,text\n1;2,3;4,5\n")
    assert read_sheet(path, ["text"]).delimiter == ","
    assert read_sheet(path, ["d,text"]).delimiter == ";"


REFUSED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n\n", "is empty"),
    "only a header": (b"id,level\n\n,\n", "has a header and no rows"),
    "ragged": (b"id,level\na,1\nb\n", "line 3: 1 cell, but 2 columns"),
    "names twice": (b"id,id\na,1\n", "2 columns named 'id'"),
    "a quotation mark": (b'id,level\n"a,1\n', "line 2: not readable as CSV: unexpected end of data"),
    "Latin-1": ("id,level\né,1\n".encode("latin-1"), "line 2 is not UTF-8; save the file as UTF-8"),
    "UTF-16": ("id,level\na,1\n".encode("utf-16"), "is in UTF-16"),
    "UTF-16 without a mark": ("id,level\n".encode("utf-16-le"), "line 1 holds NUL characters, as UTF-16 has"),
    "a workbook": (b"PK\3\4rest", "is a workbook or another archive, no text"),
    "compressed": (gzip.compress(b"id\n1\n"), "is compressed, no text"),
    "binary": (bytes(range(256)) * 9, "is not UTF-8"),
    "too wide": (b"a," * 20_000, "has 20,001 columns"),
    "a name of a megabyte": (b"a" * 10**6 + b"\n1\n", "column whose name has 1,000,000 characters"),
    "a long name twice": (b"a" * 900 + b"," + b"a" * 900 + b"\n1,2\n", "2 columns named"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_in_one_short_line(write, case):
    content, fault = REFUSED[case]
    with pytest.raises(WrongInput) as error:
        read_sheet(write(content))
    message = told(str(error.value))
    assert fault in message
    assert "\n" not in message
    assert len(message) < 500


def place_of(kind):
    path = Path(kind)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(kind)
    elif kind == "loop":
        path.symlink_to(path)
    return path


@pytest.mark.parametrize("read", [read_sheet, read_json, read_yaml, file_text])
@pytest.mark.parametrize(
    "kind",
    ["folder", "pipe", "device", "socket", "loop", "n" * 300, "no file"],
    ids=lambda k: k[:7],
)
def test_only_regular_files_are_read_and_nothing_is_waited_for(tmp_path, monkeypatch, read, kind):
    monkeypatch.chdir(tmp_path)
    path = place_of(kind)
    with pytest.raises(WrongInput, match="cannot be read: ") as error:
        read(path)
    assert "\n" not in str(error.value)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, write, monkeypatch):
    """A sparse file of ten gigabytes; and the limit itself, to the byte."""
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(WrongInput, match="larger than 268,435,456 bytes"):
        read_sheet(tmp_path / "large.csv")
    path = write("id\n1\n")
    monkeypatch.setattr(csv_cells, "MOST", 5)
    assert read_sheet(path).rows == [["1"]]
    monkeypatch.setattr(csv_cells, "MOST", 4)
    with pytest.raises(WrongInput, match="larger than 4 bytes"):
        read_sheet(path)


def test_rows_at_fault_are_left_out_where_others_are_told_beside_them(write):
    faults = []
    found = read_sheet(write("id,level\na\nb,1\nc,1,2\n"), (), faults)
    assert found.rows == [["b", "1"]]
    assert [fault.rpartition(", line ")[2] for fault in faults] == [
        "2: 1 cell, but 2 columns", "4: 3 cells, but 2 columns",
    ]  # fmt: skip


CASES = cases_of(__file__)
IDS = ("human", "panel 1", "panel 2")


def read(tmp_path, text):
    (tmp_path / "people.csv").write_text(text)
    return read_covariates(tmp_path / "people.csv", IDS)


def test_columns_may_stand_in_any_order_and_be_left_out(tmp_path):
    found = read(tmp_path, "age,id,gender,expertise\n31,human,woman,2.5\n,panel 1,NA,0\n")
    assert found == {
        "human": Covariates(age=31, expertise=2.5, gender="woman"),
        "panel 1": Covariates(expertise=0),
    }


@pytest.mark.parametrize(("text", "message"), CASES["what_is_wrong_is_refused_with_its_line"])
def test_what_is_wrong_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(WrongInput) as error:
        read(tmp_path, text)
    assert message in str(error.value)


def test_candidates_that_people_rated_are_records(tmp_path):
    file = tmp_path / "hm.parquet"
    duckdb.execute(
        f"""
        copy (select 'Why?' as "question.text", 'Trams are quiet.' as "own_opinion.text",
            ['One.', 'Two.', ''] as "candidates.text",
            ['STRONGLY_AGREE', '[MOCK]', 'AGREE'] as "ratings.agreement",
            ['NEUTRAL', 'STRONGLY_DISAGREE', 'AGREE'] as "ratings.quality",
            'w1' as "worker_id", 3 as other) to '{file}' (format parquet)
        """
    )
    first, second = records_of_file(file)
    assert (first.triple, first.rater) == (Triple("Why?", "Trams are quiet.", "One."), "w1")
    assert (first.scores, second.scores) == ({"rep": 0.75, "inf": 0.5}, {"inf": 0.25})
    assert first.instance == second.instance


def test_other_files_are_refused(tmp_path):
    file = tmp_path / "x.parquet"
    duckdb.execute(f"copy (select 1 as a) to '{file}' (format parquet)")
    with pytest.raises(WrongInput, match=r"lacks the columns question.text, own_opinion.text"):
        records_of_file(file)
    file.write_text("text")
    with pytest.raises(WrongInput, match="cannot be read as Parquet"):
        records_of_file(file)
