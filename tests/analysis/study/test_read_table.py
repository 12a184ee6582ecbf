"""Tables of others are read whole or refused with every fault and its line."""

import numpy as np
import pandas as pd
import pytest
from small_study import break_sessions, held_study

from delibsim.analysis.study.read_table import read_table
from delibsim.conduct.analysed import study_table, wide_table
from delibsim.domain.errors import WrongInput
from delibsim.measures.dri import relative_change
from delibsim.store.tables.study import export

HEAD = "topic,model,treatment,replicate,pre,post"
ROWS = ("a,m,none,1,0.25,0.5", "a,m,normative,1,0.25,0.125", "b,m,none,1,-0.5,-0.75")


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "mine.csv"
    path.write_bytes(text.encode(encoding))
    return path


def table(tmp_path, *rows, head=HEAD):
    return read_table(written(tmp_path, "\n".join([head, *rows]) + "\n"))


def test_before_and_after_become_the_index(tmp_path):
    found = table(tmp_path, *ROWS)
    rows = found.rows
    assert rows["dri_change"].tolist() == [0.25, -0.125, -0.25]
    expected = relative_change([0.25, 0.25, -0.5], [0.5, 0.125, -0.75])
    assert rows["dri_relative_change"].to_numpy() == pytest.approx(expected)
    assert set(rows["setting"]) == {""}
    assert set(rows["status"]) == {"complete"}
    assert rows["session"].tolist()[0] == "a.m.none.r1"
    assert not rows["null"].any()
    assert rows["reasoning"].isna().all()
    assert found.paired  # by draw, whether seeds are shared or not
    assert found.study == "mine"
    assert [column.name for column in found.columns] == list(rows.columns)


@pytest.mark.parametrize(
    ("encoding", "delimiter", "point"),
    [("utf-8-sig", ",", "."), ("utf-8", ";", ","), ("utf-8", "\t", "."), ("utf-8", ";", ".")],
)
def test_marks_semicolons_tabs_and_decimal_commas_are_read(tmp_path, encoding, delimiter, point):
    lines = [HEAD, *ROWS]
    cells = [line.split(",") for line in lines]
    text = "\r\n".join(delimiter.join(row).replace(".", point) for row in cells)
    found = read_table(written(tmp_path, text, encoding))
    assert found.rows["dri_change"].tolist() == [0.25, -0.125, -0.25]


def test_another_measure_and_several_at_once(tmp_path):
    rows = ["a,m,x,1,12,11,diversity", "a,m,x,1,0.5,0.75,dri", "b,m,x,1,9,10,diversity"]
    found = table(tmp_path, *rows, head=f"{HEAD},outcome").rows
    assert len(found) == 2
    assert found["diversity_change"].tolist() == [-1, 1]
    assert found["dri_change"][0] == 0.25
    assert np.isnan(found["dri_change"][1])
    assert found["dri_note"][1] == "not_given"


def test_a_measure_that_nobody_declares_is_kept_under_its_name(tmp_path):
    found = table(tmp_path, "a,m,x,1,120,110,trust", head=f"{HEAD},outcome")
    assert found.rows["trust_change"].tolist() == [-10]
    meaning = next(column.meaning for column in found.columns if column.name == "trust_change")
    assert "no scorer" in meaning


def test_known_columns_are_kept_and_unknown_ones_named(tmp_path):
    head = f"{HEAD},null,family,reasoning,persona,seed,mood"
    found = table(
        tmp_path, "a,m,x,1,0,0,TRUE,gpt,no,p1,7,glad", "a,m,y,1,0,0,0,gpt,,p1,7,", head=head
    )
    rows = found.rows
    assert rows["null"].tolist() == [True, False]
    assert rows["reasoning"].tolist() == [False, pd.NA]
    assert rows["mood"].tolist() == ["glad", None]
    unknown = [column.name for column in found.columns if "does not know" in column.meaning]
    assert unknown == ["mood"]
    assert found.paired  # both treatments have one seed


def test_a_missing_value_has_a_reason(tmp_path):
    found = table(tmp_path, "a,m,x,1,0.5,", "a,m,y,1,1,1", "a,m,z,1,NA,NaN").rows
    assert found["dri_note"].tolist() == ["not_given", None, "not_given"]
    assert found["dri_relative_note"].tolist() == ["not_given", "zero_denominator", "not_given"]


def test_all_faults_are_told_at_once_with_their_lines(tmp_path):
    rows = ["a,m,x,1,0,0", "a,m,x,1,0,1", "b,m,x,one,0,0", "c,m,x,1,zero,5", ",m,x,1,0,inf"]
    with pytest.raises(WrongInput) as refusal:
        table(tmp_path, *rows)
    told = str(refusal.value)
    for fault in (
        "line 3: the same session as line 2 (topic a, model m, treatment x, replicate 1)",
        "line 4: replicate is 'one', not a whole number",
        "line 5: pre is 'zero', not a number",
        "line 5: post is 5, out of the range of dri",
        "line 6: topic is missing",
        "line 6: post is 'inf', not a number",
    ):
        assert fault in told, told


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        (HEAD, "a header and no rows"),
        ("topic,pre\na,1\n", "no column model, treatment, replicate"),
        ("topic,model,treatment,replicate\na,m,x,1\n", "no columns pre and post"),
        (f"{HEAD},pre\na,m,x,1,0,0,0\n", "2 columns named 'pre'"),
        (f"{HEAD}\na,m,x,1,0\n", "line 2: 5 cells, but 6 columns"),
        (f"{HEAD},status\na,m,x,1,0,0,done\n", "line 2: status is 'done', none of complete"),
        (f"{HEAD},refusals\na,m,x,1,0,0,-1\n", "line 2: refusals is -1, less than 0"),
        (f"{HEAD},null\na,m,x,1,0,0,maybe\n", "line 2: null is 'maybe', not TRUE or FALSE"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, problem):
    with pytest.raises(WrongInput, match="mine.csv") as refusal:
        read_table(written(tmp_path, text))
    assert problem in str(refusal.value)


def test_a_text_of_another_encoding_is_named_by_its_line(tmp_path):
    with pytest.raises(WrongInput, match="line 2 is not UTF-8"):
        read_table(written(tmp_path, f"{HEAD}\nZürich,m,x,1,0,0\n", "latin-1"))
    with pytest.raises(WrongInput, match="cannot be read"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(WrongInput, match="is a folder"):
        read_table(tmp_path)


def test_the_exported_study_table_reads_back_equal(tmp_path):
    runs = held_study(tmp_path)
    study_table(runs)
    break_sessions(runs)
    first = study_table(runs)
    export(runs, tmp_path / "out", ("csv", "parquet"), more=lambda faults: [wide_table(runs)[0]])
    again = read_table(tmp_path / "out" / "runs_wide.csv")
    pd.testing.assert_frame_equal(again.rows, first.rows)
    assert list(again.columns) == list(first.columns)
    assert (again.study, again.paired) == (first.study, first.paired)
    lines = (tmp_path / "out" / "codebook.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("runs_wide,") for line in lines) == len(first.columns)
    assert (tmp_path / "out" / "runs_wide.parquet").is_file()


@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("hostile", ["a\nreport: forged.html", "a\x1b[31m", "a\0"])
def test_names_hold_no_line_break_and_no_command_for_a_terminal(tmp_path, column, hostile):
    cells = ROWS[0].split(",")
    cells[column] = f'"{hostile}"'
    with pytest.raises(WrongInput, match="line 2: .* holds a line break or another control"):
        table(tmp_path, ",".join(cells))
