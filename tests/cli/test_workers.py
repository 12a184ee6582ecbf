"""`delibsim run -m hydra/launcher=...`: what is refused before anything is begun; tests/launchers
holds what is held.
"""

import pytest

SWEEP = ("run", "-m", "study=s", "topic=ccps", "group.size=2", "rounds=1")


def test_a_setting_the_launcher_has_not_is_refused_before_anything_is_written(delibsim, home):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="needs the extra joblib")
    answer = delibsim(*SWEEP, "hydra/launcher=joblib", "hydra.launcher.jobs=2")
    assert (answer.code, "hydra.launcher.jobs" in answer.err) == (2, True)
    assert list(home.iterdir()) == []


def test_one_process_is_a_launcher_too(delibsim, home):
    answer = delibsim(*SWEEP, "hydra/launcher=delibsim")
    assert answer.code == 0
    assert sorted(
        path.name for path in (home / "runs" / "s").iterdir() if not path.name.startswith(".")
    ) == ["ccps.normative.citizen_rounds1_size2.r1", "sessions.jsonl", "study.json"]
