"""Rows of a CSV file with the line on which each begins."""

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.store.rows import read_rows


@pytest.fixture
def write(tmp_path):
    def written(text, encoding="utf-8"):
        path = tmp_path / "rows.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return written


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_rows_have_the_lines_on_which_they_begin(write, separator):
    text = "id,level\n\na, 1 \n'two\nlines',2\nc,3\n".replace("'", '"').replace(",", separator)
    found = read_rows(write(text))
    assert found.header == ["id", "level"]
    assert found.rows == [["a", "1"], ["two\nlines", "2"], ["c", "3"]]
    assert found.lines == [3, 4, 6]


def test_a_mark_of_byte_order_and_other_ends_of_lines_are_read(write):
    found = read_rows(write("\ufeffid,level\r\na,1\r\n"))
    assert (found.header, found.rows, found.lines) == (["id", "level"], [["a", "1"]], [2])


def test_columns_without_a_heading_have_a_name(write):
    found = read_rows(write(",level,\n1,0,x\n"))
    assert found.header == ["row", "level", "column 3"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no row below a header"),
        ("id,level\n\n", "no row below a header"),
        ("id,level\na,1\nb\n", "line 3: 1 cells under 2 headings"),
        ("id,id\na,1\n", "2 columns named 'id'"),
        ('id,level\n"a,1\n', "line 2: unexpected end of data"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(write, text, fault):
    with pytest.raises(WrongInput, match=fault):
        read_rows(write(text))


def test_another_encoding_is_refused(write):
    with pytest.raises(WrongInput, match="is not UTF-8"):
        read_rows(write("id,level\né,1\n", "latin-1"))
