"""Who hears whom in a session, and who names whom in what was said."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.run import Run, Session
from delibsim.engine.network import network_of

Pair = tuple[str, str]


@dataclass(frozen=True)
class Heard:
    """The participants in the order of seats, the pairs of those who hear each other, and whether
    everybody hears everybody. `naming` counts, for a speaker and another participant, the
    statements of the one that name the other.
    """

    people: tuple[str, ...]
    edges: tuple[Pair, ...]
    naming: Mapping[Pair, int]

    @property
    def complete(self) -> bool:
        """Whether everybody hears everybody."""
        n = len(self.people)
        return len(self.edges) == n * (n - 1) // 2


def heard_in(run: Run) -> Heard:
    """Who hears whom in the session of a run, and who names whom in it.

    In a debate and in a complete network everybody hears everybody.
    """
    session = run.session
    people = tuple(person.id for person in session.participants)
    return Heard(people, _edges(session), naming(run))


def _edges(session: Session) -> tuple[Pair, ...]:
    graph = network_of(session)
    seats = {person.id: seat for seat, person in enumerate(session.participants)}
    edges = [sorted(edge, key=seats.__getitem__) for edge in graph.edges]
    return tuple(sorted(((a, b) for a, b in edges), key=lambda e: (seats[e[0]], seats[e[1]])))


def naming(run: Run) -> dict[Pair, int]:
    """How many statements of each speaker name each other participant, by (speaker, named).

    A name counts where it stands as words of its own: "Participant 1" is not in "Participant 10",
    and "Ann" not in "Ann Lee" where that is a participant too.
    """
    names = sorted((person.id for person in run.session.participants), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    found: Counter[Pair] = Counter()
    for statement in run.transcript:
        speaker = statement.turn.speaker
        for name in set(pattern.findall(statement.text)) - {speaker}:
            found[speaker, name] += 1
    return dict(found)
