"""The null study: its grid is balanced, its networks limit who is heard, and its parameters do what
the page says of them.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from delibsim import DRI, Agreement, Network, Procedure, hold, models_for
from delibsim.planning.compose import plan
from delibsim.prompts.blocks import read_transcript


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Every session of the null study, by condition, topic and replicate."""
    sessions = plan(["experiment=null_model"], tmp_path_factory.mktemp("home"), sweep=True).sessions
    return {
        (cell_of(session), session.topic.id, session.replicate): session for session in sessions
    }


def cell_of(session):
    (settings,) = session.models.values()
    return settings["susceptibility"], settings["openness"], session.procedure.audience.network


def run_of(session):
    return asyncio.run(hold(session, models_for(session)))


@dataclass
class Overheard:
    """The session's own citizen, and every prompt it was sent."""

    citizen: object
    name: str = "citizen"
    prompts: list = field(default_factory=list)

    async def complete(self, prompt, seed):
        self.prompts.append(prompt)
        return await self.citizen.complete(prompt, seed)


def test_the_grid_is_complete_and_balanced(grid):
    cells, topics, replicates = (Counter(key[part] for key in grid) for part in range(3))
    assert (len(cells), len(topics), set(replicates)) == (5 * 3 * 4, 12, {1, 2, 3, 4, 5})
    assert len(grid) == 3_600
    assert len({session.id for session in grid.values()}) == 3_600
    assert set(cells.values()) == {60}
    assert {len(session.participants) for session in grid.values()} == {7}


def ring(seat):
    return {(seat - 2) % 7 + 1, seat % 7 + 1}


HEARS = {
    "complete": lambda seat: set(range(1, 8)) - {seat},
    "ring": ring,
    "star": lambda seat: set(range(2, 8)) if seat == 1 else {1},
}


@pytest.mark.parametrize("network", ["complete", "small_world", "ring", "star"])
def test_citizens_are_shown_what_their_neighbours_say_and_nothing_else(grid, network):
    session = grid[(0.4, 4, network), "ccps", 1]
    voice = Overheard(models_for(session)["citizen"])
    asyncio.run(hold(session, {"citizen": voice}))
    shown = {seat: set() for seat in range(1, 8)}
    for prompt in voice.prompts:
        text = "\n".join(message.content for message in prompt.messages)
        shown[int(prompt.purpose.participant[-1])] |= {
            int(said.turn.speaker[-1]) for said in read_transcript(text)
        }
    others = {seat: speakers - {seat} for seat, speakers in shown.items()}
    if network in HEARS:
        assert others == {seat: HEARS[network](seat) for seat in range(1, 8)}
    else:
        assert sum(map(len, others.values())) == 7 * 4
        assert all(seat in others[other] for seat, heard in others.items() for other in heard)
        assert others != {seat: ring(seat) for seat in range(1, 8)}


def test_a_citizen_whom_nobody_reaches_answers_as_if_nobody_could_move(grid):
    still, moved = (grid[(susceptibility, 4, "complete"), "ccps", 1] for susceptibility in (0, 0.4))
    apart = Procedure(
        audience=Network("edges", edges=tuple((a, b) for a in range(1, 7) for b in range(a + 1, 7)))
    )
    still, moved, apart = map(run_of, (still, moved, replace(moved, procedure=apart)))
    assert apart.response("Participant 7", "post") == still.response("Participant 7", "post")
    assert moved.response("Participant 7", "post") != still.response("Participant 7", "post")
    assert apart.response("Participant 6", "post") != still.response("Participant 6", "post")


CELLS = [
    (0, 4, "complete"),
    (0.1, 4, "complete"),
    (0.4, 4, "complete"),
    (0.4, 1, "complete"),
    (0.4, 4, "ring"),
    (0, 1, "ring"),
]


@pytest.fixture(scope="module")
def changes(grid):
    """The change of every measure by condition: one group on each of the twelve topics, the same
    people in all conditions.
    """
    found = {}
    for cell in CELLS:
        runs = [
            run_of(session)
            for (its, _, replicate), session in grid.items()
            if its == cell and replicate == 1
        ]
        scores = [
            s
            for scorer in (DRI(), Agreement())
            for s in scorer.score(runs)
            if s.unit == "run" and s.phase == "change"
        ]
        found[cell] = {
            measure: np.array([s.value for s in scores if s.measure == measure])
            for measure in {s.measure for s in scores}
        }
    return found


@pytest.mark.parametrize(
    "measure",
    [
        "opinion_change_c",
        "opinion_change_p",
        "consideration_agreement",
        "preference_agreement",
        "dri",
    ],
)
def test_more_susceptible_groups_change_more(changes, measure):
    none, some, much = (
        changes[susceptibility, 4, "complete"][measure] for susceptibility in (0, 0.1, 0.4)
    )
    assert len(none) == len(some) == len(much) == 12
    assert none.mean() < some.mean() < much.mean()
    assert (much > none).sum() >= 10  # of twelve groups; by chance one time in fifty (sign test)


@pytest.mark.parametrize("less", [(0.4, 1, "complete"), (0.4, 4, "ring")], ids=["bound", "ring"])
def test_groups_converge_less_with_a_narrow_bound_and_with_fewer_neighbours(changes, less):
    whole, part = (
        changes[0.4, 4, "complete"]["consideration_agreement"],
        changes[less]["consideration_agreement"],
    )
    assert part.mean() < whole.mean()
    assert (part < whole).sum() >= 10


def test_where_nobody_moves_neither_bound_nor_network_matters(changes):
    for measure, values in changes[0, 4, "complete"].items():
        np.testing.assert_array_equal(values, changes[0, 1, "ring"][measure], err_msg=measure)
