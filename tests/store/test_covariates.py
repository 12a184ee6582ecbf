"""Covariates of debaters and raters from a CSV file; what is wrong is refused with its line."""

import pytest
from cases import cases_of

from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.own_answers import Covariates, read_covariates

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
