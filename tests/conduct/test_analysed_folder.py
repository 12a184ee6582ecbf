"""A study and the folder of its export give the same findings."""

from pathlib import Path

import pandas as pd
import pytest
from small_study import held_study

from delibsim.analysis.study.by_block import by_block
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effect_sizes import equivalence
from delibsim.analysis.study.report import findings
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analyse import source_of
from delibsim.conduct.analysed import wide_table
from delibsim.conduct.bench import export_bench
from delibsim.store.tables.study import export

STEPS = (contrasts, by_block, equivalence)
DRAWS = DrawCounts(permutations=200, resamples=200)
SETTINGS = (
    "topic=ccps,acp", "treatment=none,normative", "rounds=1,2", "replicate=1,2", "group.size=3",
)  # fmt: skip


def silent(*_):
    """Watch nothing."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return held_study(tmp_path_factory.mktemp("home"), *SETTINGS, study="both")


@pytest.fixture(scope="module")
def expected(runs):
    """The findings of the study itself."""
    place = source_of(str(runs.folder), Path("runs"), silent)
    return findings(place.table, DRAWS, STEPS)


@pytest.mark.parametrize("layout", ["bench", "tables"])
def test_the_folder_of_an_export_gives_the_contrasts_of_the_study(runs, expected, tmp_path, layout):
    folder = tmp_path / layout
    if layout == "bench":
        export_bench(runs, folder, ("csv",))
    else:
        export(runs, folder, more=lambda left_out: [wide_table(runs)[0]])
    other = source_of(str(folder), Path("runs"), silent)
    assert other.folder == tmp_path / f"{layout}.analysis", "where no later export removes it"
    found = findings(other.table, DRAWS, STEPS)
    assert (found.study.study, dict(found.runs)) == ("both", dict(expected.runs))
    assert found.study.paired
    for name, result in expected.results.items():
        pd.testing.assert_frame_equal(found.results[name].rows, result.rows)
        assert found.results[name].notes == result.notes
    own = found.results["contrasts"].rows
    assert own["estimate"].notna().all()
    assert set(own["blocks"]) == {4}
