"""An estimate as rows and sentences: everything that `delibsim estimate` prints, without printing."""

import asyncio

from delibsim import Runs
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan
from delibsim.planning.estimate import estimate
from delibsim.planning.estimate_tables import heading, heads, notes, plain, rows

SWEEP = ["study=s", "topic=ccps", "model=citizen,gpt_5_1", "group.size=2", "rounds=1"]


def test_rows_have_the_width_of_their_heads_and_end_with_the_total(tmp_path):
    planned = plan(SWEEP, tmp_path, sweep=True)
    runs = Runs(planned.root, planned.study)
    found = asyncio.run(estimate(planned.sessions, runs, planned.limits, planned.addresses))
    assert heading(planned, found) == "study s: 2 sessions, 0 held already, 2 to be held"
    table = rows(found)
    assert {len(row) for row in table} == {len(heads())}
    assert [row[0] for row in table] == ["citizen", "gpt_5_1", "total"]
    assert [row[2] for row in table] == ["6", "6", "12"]
    assert table[0][-1] == "0"
    assert plain(planned, found)["total"]["calls"] == 12


def test_a_budget_that_may_be_exceeded_is_noted(tmp_path):
    planned = plan([*SWEEP, "limits.budget_tokens=10"], tmp_path, sweep=True)
    runs = Runs(planned.root, planned.study)
    found = asyncio.run(estimate(planned.sessions, runs, Limits(), planned.addresses))
    (line,) = [note for note in notes(planned, found) if note.startswith("Budget")]
    assert "limits.budget_tokens=10 is less than this may use" in line
