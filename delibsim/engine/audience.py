"""Who hears whom: a networkx graph over the participants, complete by default."""

import functools

import networkx as nx

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Session
from delibsim.domain.treatment import Audience

NETWORKS = ("complete", "star", "ring", "small_world", "edges")


def audience_of(session: Session) -> nx.Graph:
    """The graph whose edges join those who hear each other; in a star, the first participant is the
    centre.
    """
    audience = session.procedure.audience
    seed = session.seed_for("audience") % 2**32 if audience.network == "small_world" else 0
    return _graph(audience, tuple(p.id for p in session.participants), seed)


@functools.lru_cache(maxsize=256)  # the sessions of a study have few audiences between them
def _graph(audience: Audience, names: tuple[str, ...], seed: int) -> nx.Graph:
    n = len(names)
    if audience.edges and audience.network != "edges":
        raise WrongInput(
            f"audience.edges are given, but audience.network is {audience.network}; set"
            " procedure.audience.network=edges"
        )
    match audience.network:
        case "complete":
            graph = nx.complete_graph(n)
        case "star":
            graph = nx.star_graph(n - 1)
        case "ring":
            graph = nx.cycle_graph(n)
        case "small_world":
            if not 2 <= audience.neighbours < n or audience.neighbours % 2:
                raise WrongInput(
                    f"audience.neighbours must be an even number from 2 to {n - 1}, not"
                    f" {audience.neighbours}"
                )
            if not 0 <= audience.rewiring <= 1:
                raise WrongInput(
                    f"audience.rewiring is a probability from 0 to 1, not {audience.rewiring}"
                )
            graph = nx.watts_strogatz_graph(n, audience.neighbours, audience.rewiring, seed=seed)
        case "edges":
            outside = [
                edge
                for edge in audience.edges
                if edge[0] == edge[1] or not all(1 <= seat <= n for seat in edge)
            ]
            if outside or not audience.edges:
                raise WrongInput(
                    f"audience.edges needs pairs of different seats from 1 to {n}; wrong:"
                    f" {[list(e) for e in outside] or 'none given'}"
                )
            graph = nx.empty_graph(n)
            graph.add_edges_from((a - 1, b - 1) for a, b in audience.edges)
        case other:
            raise unknown("network", other, NETWORKS)
    return nx.freeze(nx.relabel_nodes(graph, dict(enumerate(names))))
