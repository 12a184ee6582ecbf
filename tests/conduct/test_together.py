"""Sessions held at once: one that fails does not cost the others what they were about to bring
home.
"""

from dataclasses import replace

import pytest

from delibsim import Runs, WrongInput, compose
from delibsim.conduct.hold import hold_all


async def test_one_session_that_is_refused_lets_the_others_finish(tmp_path):
    runs = Runs(tmp_path, "together")
    first, second = (
        replace(compose("topic=ccps", "group.size=2", "rounds=1"), id=name)
        for name in ("first", "second")
    )
    runs.plan(replace(first, seed=1))
    with pytest.raises(WrongInput, match="planned differently"):
        await hold_all([first, second], runs, at_once=2)
    assert not runs.held("first")
    assert runs.run("second").status == "complete"
