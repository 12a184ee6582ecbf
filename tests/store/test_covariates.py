"""Covariates of debaters and raters from a CSV file; what is wrong is refused with its line."""

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.own_answers import Covariates, read_covariates

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age\n3\n", "line 1: column id is missing"),
        ("id,agee\nhuman,3\n", "line 1: unknown column 'agee'; did you mean age"),
        ("id,age\npanel 3,3\n", "line 2: unknown id 'panel 3'; did you mean panel"),
        ("id,age\nhuman,3\nhuman,4\n", "line 3: id 'human' occurs more than once"),
        ("id,age\nhuman,old\n", "line 2: age: 'old' is no number"),
        ("id,age\nhuman,nan\n", "line 2: age: 'nan' is no number"),
        ("id,age\nhuman,130\n", "line 2: age: 130 is not from 0 to 120"),
        ("id,education\nhuman,PhD\n", "line 2: education: 'PhD' is no number"),
        ("id,gender\nhuman,a\x1bb\n", "line 2: gender: 'a\\x1bb' holds a control character"),
        ("id,age\nhuman\n", "line 2: 1 cell, but 2 columns"),
        ("id,age\n", "has a header and no rows"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(WrongInput) as error:
        read(tmp_path, text)
    assert message in str(error.value)


def test_every_wrong_line_is_named(tmp_path):
    with pytest.raises(WrongInput) as error:
        read(tmp_path, "id,age\nnobody,x\nhuman,1\nhuman,200\n")
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0].rpartition(", ")[2] for line in lines] == ["line 2"] * 2 + [
        "line 4"
    ] * 2


def test_a_file_that_is_not_there_is_wrong_input(tmp_path):
    with pytest.raises(WrongInput, match="cannot be read"):
        read_covariates(tmp_path / "none.csv", IDS)
