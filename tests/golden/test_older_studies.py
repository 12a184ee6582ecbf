"""Studies begun before 0.2 replay equal, and the same commands find nothing left to do (see README.md)."""

import shutil
from pathlib import Path

import pytest

from delibsim import Runs
from delibsim.conduct import replay

HERE = Path(__file__).parent
STUDIES = ("study_0_1", "debates_0_1")


@pytest.mark.parametrize("study", STUDIES)
async def test_every_run_of_an_older_study_replays_equal(study, tmp_path):
    shutil.copytree(HERE / study, tmp_path / study)
    runs = Runs(tmp_path, study)
    assert len(runs.sessions()) in (2, 4)
    for session in runs.sessions():
        assert await replay(runs, session) == runs.run(session)
