"""A study with several rounds of speech, held offline, as its report takes it."""

import pytest
from small_study import held_study

from delibsim.analysis.study.record import record_of
from delibsim.conduct.analysed import study_table

SETTINGS = (
    "topic=ccps,acp", "treatment=none,normative", "rounds=1,3", "replicate=1,2", "group.size=3",
    "seed=7",
)  # fmt: skip


@pytest.fixture(scope="session")
def rounds_runs(tmp_path_factory):
    return held_study(tmp_path_factory.mktemp("rounds"), *SETTINGS, study="rounds")


@pytest.fixture(scope="session")
def rounds_study(rounds_runs):
    return study_table(rounds_runs)


@pytest.fixture(scope="session")
def rounds_record(rounds_runs):
    return record_of(rounds_runs)
