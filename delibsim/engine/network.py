"""Who hears whom: a networkx graph over the participants, complete by default."""

import functools

import networkx as nx

from delibsim.domain.run import Session
from delibsim.domain.treatment import Network
from delibsim.engine.check import check_network


def network_of(session: Session) -> nx.Graph:
    """The graph whose edges join those who hear each other.

    In a star, the first participant is the centre. WrongInput for a network that cannot be.
    """
    network = session.procedure.audience
    seed = session.seed_for("audience") % 2**32 if network.network == "small_world" else 0
    return _graph(network, session.seats, seed)


@functools.lru_cache(maxsize=256)  # the sessions of a study have few networks between them
def _graph(network: Network, names: tuple[str, ...], seed: int) -> nx.Graph:
    n = len(names)
    check_network(network, n)
    match network.network:
        case "star":
            graph = nx.star_graph(n - 1)
        case "ring":
            graph = nx.cycle_graph(n)
        case "small_world":
            graph = _small_world(network, n, seed)
        case "edges":
            graph = _listed(network, n)
        case _:
            graph = nx.complete_graph(n)
    return nx.freeze(nx.relabel_nodes(graph, dict(enumerate(names))))


def _small_world(network: Network, n: int, seed: int) -> nx.Graph:
    """A small world after Watts and Strogatz (1998), https://doi.org/10.1038/30918."""
    return nx.watts_strogatz_graph(n, network.neighbours, network.rewiring, seed=seed)


def _listed(network: Network, n: int) -> nx.Graph:
    """The graph of an edge list of seats, counted from 1."""
    graph = nx.empty_graph(n)
    graph.add_edges_from((a - 1, b - 1) for a, b in network.edges)
    return graph
