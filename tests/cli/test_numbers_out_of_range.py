"""Numbers that no table, sum or budget can hold are refused in words, wherever they are given."""

import pytest

HUGE = "9" * 40
TOO_LONG = "9" * 5000
TABLE = """topic,model,treatment,replicate,pre,post
a,m,none,1,0.1,0.2
a,m,normative,{},0.1,0.3
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("power", "--effect", "1e308"), "--effect is 1e+308"),
        (("power", "--effect", "nan"), "--effect is nan"),
        (("power", "--size", "topics=1e300"), "at most 1e+06"),
        (("power", "--size", f"topics={HUGE}"), "at most 1e+06"),
        (("power", "--size", "topics=1.7"), "topics is a whole number"),
        (("power", "--sd", "topic=1e308"), "at most 1e+06"),
        (("power", "--sd", "residual=1e-320"), "at least 1e-06"),
        (("estimate", "topic=ccps", f"replicate={HUGE}"), "replicate: input should be less"),
        (("estimate", "topic=ccps", f"seed={TOO_LONG}"), "too many digits"),
        (("run", "topic=ccps", "limits.budget_usd=nan"), "budget_usd and budget_tokens are finite"),
        (("run", "topic=ccps", "procedure.audience.rewiring=nan"), "from 0 to 1, not nan"),
        (("run", "topic=ccps", "procedure.audience.rewiring=1.5"), "from 0 to 1, not 1.5"),
        (("run", "topic=ccps", "temperature=1e30"), "temperature: input should be less than or"),
        (("run", "topic=ccps", "limits.budget_usd=1e400"), "are finite numbers"),
        (("run", "topic=ccps", "rounds=true"), "rounds: input should be a number, found true"),
        (("run", "topic=ccps", "group.size=true"), "group.size: input should be a number, found"),
        (("run", "topic=ccps", "limits.tries=true"), "limits.tries: input should be a number"),
        (("run", "topic=ccps", "procedure.reasks=false"), "procedure.reasks: input should be a"),
        (("run", "study=é"), "cannot read the setting: study=é; settings look like"),
        (("estimate", "topic=ccps", "--latency", "1e400"), "less than or equal to 86400"),
        (("rate", "handout", "s", "--online", "--hand-on", "inf"), "less than or equal to 10000"),
        (("code", "report", "s", "bound=1e400"), "bound=1e400: give a number from 0.001 to 2"),
        (("agreement", "ok.csv", "--draws", HUGE), "at most 1,000,000, not 9999"),
        (("analyze", "ok.csv", "--draws", HUGE), "less than or equal to 1000000"),
        (("analyze", "ok.csv", "--margin", "1e400"), "--margin is inf; it must be above 0"),
    ],
)
def test_a_number_out_of_range_is_refused_with_its_range(delibsim, home, files, words, said):
    (home / "ok.csv").write_text(TABLE.format(1))
    before = files()
    found = delibsim(*words)
    assert (found.code, said in " ".join(found.err.split())) == (2, True), found.err
    assert files() == before


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
