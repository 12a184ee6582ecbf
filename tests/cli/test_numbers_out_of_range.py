"""Numbers that no table, sum or budget can hold are refused in words, wherever they are given."""

import pytest

HUGE = "9" * 40
TABLE = """topic,model,treatment,replicate,pre,post
a,m,none,1,0.1,0.2
a,m,normative,{},0.1,0.3
"""


@pytest.mark.parametrize("number", ["1e30", HUGE, "-9223372036854775809"])
@pytest.mark.parametrize("command", ["analyze", "plot", "power"])
def test_a_whole_number_that_no_column_holds_is_told_with_its_line(delibsim, home, command, number):
    (home / "study.csv").write_text(TABLE.format(number))
    found = delibsim(command, "study.csv")
    assert found.code == 2
    assert "line 3: replicate is" in found.err


def test_the_published_spread_is_not_taken_for_that_of_another_outcome(delibsim):
    found = delibsim("power", "--contrast", "opinion_change_p:normative,none")
    assert found.code == 2
    assert "the published spread is that of dri" in found.err
    spread = "topic=5,residual=5"
    assert delibsim("power", "--contrast", "opinion_change_p", "--sd", spread).code == 0
