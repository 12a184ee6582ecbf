"""Deliberation: everybody speaks once a round, in an order that is drawn anew from the session's
seed.
"""

import random
from dataclasses import replace

import numpy as np
import pytest

from delibsim.engine.debate import Deliberation


def agenda(session, voice=None):
    """All turns of a session, as its forum names them."""
    forum = Deliberation(session, {"citizen": voice}, lambda moment: None)
    try:
        return list(forum.agenda())
    finally:
        forum.leave()


def orders(session):
    """Who speaks in each round."""
    turns = agenda(session)
    return [
        [turn.speaker for turn in turns if turn.round == k]
        for k in range(1, session.treatment.rounds + 1)
    ]


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_every_participant_speaks_once_a_round(session_of, n, rounds):
    session = session_of(n, rounds)
    everybody = sorted(p.id for p in session.participants)
    turns = agenda(session)
    assert [turn.index for turn in turns] == list(range(1, n * rounds + 1))
    assert [turn.round for turn in turns] == [k for k in range(1, rounds + 1) for _ in range(n)]
    for order in orders(session):
        assert sorted(order) == everybody


def test_the_order_is_drawn_anew_each_round(session_of):
    drawn = orders(session_of(5, rounds=8))
    assert len({tuple(order) for order in drawn}) >= 6


def test_the_order_comes_from_the_seed(session_of):
    session = session_of(5, rounds=4)
    assert orders(session) == orders(session)
    assert orders(session) != orders(replace(session, seed=8))
    assert orders(session) != orders(replace(session, replicate=2))


def test_treatments_of_one_replicate_share_their_order(session_of):
    session = session_of(5, rounds=4)
    other = replace(
        session,
        id="other",
        treatment=replace(session.treatment, name="basic", instructions="Talk."),
    )
    assert orders(session) == orders(other)


def test_fewer_rounds_are_the_beginning_of_more(session_of):
    assert orders(session_of(5, rounds=2)) == orders(session_of(5, rounds=6))[:2]


@pytest.mark.parametrize("seat", [0, 4])
def test_no_seat_is_favoured(session_of, seat):
    session = session_of(5, rounds=1)
    first = [orders(replace(session, replicate=k))[0][0] for k in range(1, 201)]
    share = first.count(session.participants[seat].id) / len(first)
    assert 0.1 < share < 0.3  # 1/5, three and a half standard errors to either side


@pytest.mark.parametrize(("rounds", "interaction"), [(0, True), (2, False), (0, False)])
async def test_without_rounds_or_interaction_nobody_speaks(session_of, held, rounds, interaction):
    session = session_of(3, rounds, interaction)
    assert agenda(session) == []
    run, voice = await held(session)
    assert run.transcript == ()
    assert len(run.responses) == 6
    assert run.status == "complete"
    assert voice.prompts(occasion="turn") == []


def test_no_global_random_state_is_read_or_moved(session_of):
    session = session_of(5, rounds=3)
    expected = orders(session)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global state is what must not matter
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert orders(session) == expected
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002
