"""Whether a session can be held, what its replicates are asked alike, and what holds it.

Nothing here imports Mesa or networkx, which take half a second: plans are checked without them.
"""

import functools
import hashlib
import platform
from collections.abc import Callable
from importlib.metadata import version

from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.phases import CONSENSUS, PLENARY, rounds_shared
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.domain.treatment import Network
from delibsim.prompts.blocks import rehearse
from delibsim.prompts.consensus import check_consensus_texts, fixed_consensus_prompts
from delibsim.prompts.session import check_facilitator, fixed_prompts

NETWORKS = ("complete", "star", "ring", "small_world", "edges")


def check(session: Session) -> None:
    """Refuse a session with an unusable format, network or wording; WrongInput."""
    CHECKS[session.kind.name](session)
    parts, people = session.procedure.small_groups, len(session.participants)
    if parts is not None and people < 2 * parts:
        raise refused("small_group_of_one", parts=parts, people=people, most=people // 2)
    check_network(session.procedure.audience, len(session.participants))
    rehearse(session)
    if session.facilitator is not None:
        check_facilitator(session.facilitator)
    if session.consensus is not None:
        check_consensus_texts(session.consensus)


def prompt_hash(session: Session) -> str:
    """SHA-256 of what every replicate of a session is asked alike, forms of reply included."""
    prompts = list(fixed_prompts(session))
    if session.consensus is not None:
        prompts += fixed_consensus_prompts(session, session.consensus)
    asked = [f"{prompt.text}\f{prompt.reply.describe()}" for prompt in prompts]
    return hashlib.sha256("\f".join(asked).encode(errors="surrogatepass")).hexdigest()


@functools.cache
def provenance() -> dict[str, str]:
    """The versions that held a run."""
    packages = {name: version(name) for name in ("delibsim", "mesa", "networkx", "numpy")}
    return {"python": platform.python_version(), **packages}


def check_network(network: Network, n: int) -> None:
    """Refuse a network that cannot be laid over `n` participants; WrongInput."""
    if network.edges and network.network != "edges":
        raise refused("edges_without_network", network=network.network)
    if not 0 <= network.rewiring <= 1:
        raise WrongInput(f"audience.rewiring is a probability from 0 to 1, not {network.rewiring}")
    match network.network:
        case "small_world":
            _check_small_world(network, n)
        case "edges":
            _check_edges(network, n)
        case other if other not in NETWORKS:
            raise unknown("network", other, NETWORKS)


def _check_small_world(network: Network, n: int) -> None:
    if not 2 <= network.neighbours < n or network.neighbours % 2:
        raise refused("odd_neighbours", most=n - 1, neighbours=network.neighbours)


def _check_edges(network: Network, n: int) -> None:
    seats = range(1, n + 1)
    wrong = [[a, b] for a, b in network.edges if a == b or a not in seats or b not in seats]
    if wrong or not network.edges:
        raise refused("edges_of_no_seats", n=n, wrong=wrong or "none given")


def _check_deliberation(session: Session) -> None:
    """Refuse phases that lack what they need, and what no phase holds; WrongInput."""
    phases, treatment = session.procedure.phases, session.treatment
    if phases is None:
        return
    needs = {
        "briefing": (session.briefing is not None, "briefing=FILE"),
        "witnesses": (bool(session.witnesses), "group.witnesses=[NAME]"),
        "small_groups": (session.procedure.small_groups is not None, "procedure.small_groups=2"),
        CONSENSUS: (session.consensus is not None, "consensus=schulze"),
    }
    for name, (there, setting) in needs.items():
        if name in phases and not there:
            raise refused("phase_without_setting", named=name, setting=setting)
        if there and name not in phases:
            raise refused("setting_without_phase", setting=setting.partition("=")[0], named=name)
    parts, rounds = phases.count(PLENARY), rounds_shared(session)
    if parts > 1 and treatment.interaction and rounds < parts:
        raise refused("too_few_rounds", parts=parts, rounds=rounds)
    if PLENARY not in phases and treatment.interaction and treatment.rounds:
        raise refused("rounds_without_plenary", counted=counted(treatment.rounds, "round"))


def _check_debate(session: Session) -> None:
    """Refuse a debate without both sides, without rules or with another network; WrongInput."""
    procedure, format = session.procedure, session.kind
    roles = [participant.role for participant in session.participants]
    counts = [roles.count(side) for side in format.sides]
    if any(count != 1 for count in counts) or not set(roles) <= set(format.roles):
        raise refused("roles_of_no_debate", listed=", ".join(roles))
    if session.consensus is not None:
        raise WrongInput("the sides of a debate seek no collective statement: consensus=none")
    if procedure.phases is not None:
        raise refused("phases_in_a_debate")
    if session.facilitator is not None or session.briefing is not None or session.witnesses:
        raise WrongInput("a debate has neither a facilitator nor a briefing nor witnesses")
    if procedure.rules is None:
        raise WrongInput(
            "a debate needs rules for its speeches: procedure=oxford, or procedure.rules"
        )
    if procedure.words is not None:
        raise refused("words_in_a_debate")
    if procedure.audience.network != "complete":
        raise WrongInput(
            "in a debate everybody hears both sides: procedure.audience.network must be complete"
        )


CHECKS: dict[str, Callable[[Session], None]] = {
    DELIBERATION.name: _check_deliberation,
    DEBATE.name: _check_debate,
}
"""The check of every format."""
