"""Who hears whom: as it reaches the prompts, and as it is refused."""

from dataclasses import replace

import networkx as nx
import pytest

from delibsim import Network, WrongInput, hold
from delibsim.engine.network import network_of


def name(seat):
    return f"Participant {seat}"


def neighbours(graph, seat):
    return {int(other.removeprefix("Participant ")) for other in graph[name(seat)]}


RING = {seat: {(seat - 2) % 5 + 1, seat % 5 + 1} for seat in range(1, 6)}
NETWORKS = [
    (Network("complete"), {seat: {1, 2, 3, 4, 5} - {seat} for seat in range(1, 6)}),
    (Network("star"), {1: {2, 3, 4, 5}, 2: {1}, 3: {1}, 4: {1}, 5: {1}}),
    (Network("ring"), RING),
    (Network("small_world", neighbours=2, rewiring=0.0), RING),
    (Network("edges", edges=((1, 2), (3, 2))), {1: {2}, 2: {1, 3}, 3: {2}, 4: set(), 5: set()}),
]
IDS = ["complete", "star", "ring", "small_world", "edges"]


@pytest.mark.parametrize(("audience", "hears"), NETWORKS, ids=IDS)
async def test_each_hears_its_neighbours_and_itself_in_turns_and_in_the_second_survey(
    session_of, held, heard_in, audience, hears
):
    session = session_of(5, audience=audience)
    run, voice = await held(
        session,
        lambda prompt: (
            f"{prompt.purpose.participant} at {prompt.purpose.occasion}"
            if "turn" in prompt.purpose.occasion
            else None
        ),
    )
    said = [(s.turn.speaker, s.text) for s in run.transcript]
    assert len(said) == 10
    for seat in range(1, 6):
        heard_by_seat = {name(other) for other in hears[seat] | {seat}}
        expected = [pair for pair in said if pair[0] in heard_by_seat]
        (post,) = voice.prompts(name(seat), "post")
        assert heard_in(post) == expected
        for prompt in voice.prompts(name(seat), "turn"):
            index = int(prompt.purpose.occasion.removeprefix("turn "))
            assert heard_in(prompt) == [
                pair for pair in said[: index - 1] if pair[0] in heard_by_seat
            ]
        (pre,) = voice.prompts(name(seat), "pre")
        assert heard_in(pre) == []


@pytest.mark.parametrize("n", [2, 3, 9])
@pytest.mark.parametrize("network", ["complete", "star", "ring"])
def test_every_group_size_has_a_connected_audience(session_of, n, network):
    graph = network_of(session_of(n, audience=Network(network)))
    assert set(graph) == {name(seat) for seat in range(1, n + 1)}
    assert nx.is_connected(graph)
    assert not list(nx.selfloop_edges(graph))
    degrees = {"complete": {n - 1}, "star": {1, n - 1}, "ring": {min(2, n - 1)}}
    assert {degree for _, degree in graph.degree} == degrees[network]


def test_a_small_world_is_drawn_from_the_seed(session_of):
    session = session_of(9, audience=Network("small_world", neighbours=4, rewiring=0.8))
    edges = nx.to_dict_of_lists(network_of(session))
    assert edges == nx.to_dict_of_lists(network_of(session))
    assert edges != nx.to_dict_of_lists(network_of(replace(session, seed=8)))
    assert network_of(session).number_of_edges() == 9 * 4 / 2


@pytest.mark.parametrize(
    ("audience", "fault"),
    [
        (Network("rnig"), "unknown network 'rnig'; did you mean ring"),
        (
            Network("small_world", neighbours=3),
            "neighbours must be an even number from 2 to 4, not 3",
        ),
        (
            Network("small_world", neighbours=6),
            "neighbours must be an even number from 2 to 4, not 6",
        ),
        (Network("small_world", neighbours=0), "neighbours must be an even number"),
        (Network("small_world", rewiring=7.0), "rewiring"),
        (Network("small_world", rewiring=-0.1), "rewiring"),
        (Network("edges"), "none given"),
        (Network("edges", edges=((0, 1),)), r"seats from 1 to 5; wrong: \[\[0, 1\]\]"),
        (Network("edges", edges=((1, 2), (5, 6))), r"seats from 1 to 5; wrong: \[\[5, 6\]\]"),
    ],
    ids=lambda value: (
        value
        if isinstance(value, str)
        else "-".join(map(str, (value.network, value.neighbours, value.rewiring, value.edges)))
    ),
)
async def test_an_audience_that_cannot_be_is_refused_before_anything_is_asked(
    session_of, scripted, audience, fault
):
    voice = scripted()
    with pytest.raises(WrongInput, match=fault):
        await hold(session_of(5, audience=audience), {"citizen": voice})
    assert voice.asked == []
