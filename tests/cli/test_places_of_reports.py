"""Where reports, figures and tables may be written, and how a user learns where they may not."""

import os
import shutil

import pytest
from small_study import held_study

FEW = ("--draws", "20", "--figures", "none")
TABLE = """topic,model,treatment,replicate,pre,post,study
a,m,none,1,0.1,0.2,{0}
a,m,normative,1,0.1,0.3,{0}
b,m,none,1,0.1,0.2,{0}
b,m,normative,1,0.1,0.4,{0}
"""


@pytest.fixture
def read_only(home):
    """The folder of a study that is not scored, in which nothing may be written."""
    folder = held_study(home, study="locked").folder
    shutil.rmtree(folder / "scores", ignore_errors=True)
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        folder.chmod(0o755)
        pytest.skip("this user may write anywhere")
    yield folder
    folder.chmod(0o755)


def test_a_study_that_may_not_be_written_is_analysed_elsewhere(delibsim, home, read_only):
    before = sorted(read_only.iterdir())
    refused = delibsim("analyze", "locked", *FEW)
    assert refused.code == 2
    assert "no folder can be written in" in refused.err
    assert "-o FOLDER" in refused.err
    scored = delibsim("score", "locked")
    assert scored.code == 4
    assert "delibsim analyze locked -o FOLDER scores it" in scored.err
    drawn = delibsim("plot", "locked", "before_after", "-o", "figure.svg")
    assert drawn.code == 0, drawn.err
    assert (home / "figure.svg").is_file()
    told = delibsim("power", "locked", "--sd", "topic=.1,residual=.1", "--json")
    assert told.code == 0, told.err
    assert delibsim("export", "locked", "--as", "bench", "-o", "bench").code == 0
    assert sorted(read_only.iterdir()) == before


@pytest.mark.parametrize("name", ["../../outside", "x" * 300])
def test_the_name_of_a_study_leads_to_no_other_folder(delibsim, home, name):
    (home / "here").mkdir()
    for file in ("first.csv", "second.csv"):
        (home / "here" / file).write_text(TABLE.format(name))
    os.chdir(home / "here")
    outside = sorted(home.parent.iterdir())
    drawn = delibsim("plot", "first.csv", "effects")
    assert drawn.code == 0, drawn.err
    (figure,) = (home / "here").glob("*.svg")
    assert "-effects.svg" in figure.name
    both = delibsim("analyze", "first.csv", "second.csv", *FEW)
    assert both.code in (0, 3), both.err
    assert list((home / "here").glob("analysis_with_*/report.html"))
    assert sorted(path.name for path in home.iterdir()) == ["here"]
    assert sorted(home.parent.iterdir()) == outside


def test_every_reader_of_a_study_takes_a_folder_of_tables(delibsim, home):
    held_study(home, study="small")
    assert delibsim("export", "small", "--as", "bench", "-o", "bench").code == 0
    listed = delibsim("plot", "bench", "--json")
    assert listed.code == 0, listed.err
    told = delibsim("power", "bench", "--sd", "topic=.1,residual=.1")
    assert told.code == 0, told.err
