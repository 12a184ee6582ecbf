"""Texts of a CSV file: read as they are, written with values beside them, and what is refused."""

import math

import pytest

from delibsim import WrongInput
from delibsim.conduct.texts import check_place, write_values
from delibsim.store.tables.csv_cells import read_sheet


def test_rows_stay_as_they_were_and_undefined_values_are_empty(tmp_path):
    file, out = tmp_path / "texts.csv", tmp_path / "out.csv"
    file.write_text('id;text\n1;"Yes; no"\n\n2;No\n', encoding="utf-8-sig")
    texts = read_sheet(file, ["text"])
    assert texts.rows == [["1", "Yes; no"], ["2", "No"]]
    write_values(out, texts, [{"s.score": 1.5, "s.note": ""}, {"s.score": math.nan, "s.note": "x"}])
    lines = ["id;text;s.score;s.note", '1;"Yes; no";1.5;', "2;No;;x"]
    assert out.read_text(encoding="utf-8").splitlines() == lines


def test_a_result_never_replaces_the_texts(tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("id,text\n1,Yes\n", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(file)
    check_place(tmp_path / "out.csv", file)
    for place in (file, tmp_path / "link.csv", tmp_path, tmp_path / "nowhere" / "out.csv"):
        with pytest.raises(WrongInput):
            check_place(place, file)
