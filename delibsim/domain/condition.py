"""Conditions: what tells the sessions of a study apart, replicates aside."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.domain.run import Session

Settings = frozenset[tuple[str, Any]]


@dataclass(frozen=True)
class Condition:
    """Topic, treatment and models of sessions, and by dotted key the settings in which they differ from others of the study."""

    topic: str
    treatment: str
    models: str
    settings: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """As it stands above a table.

        >>> str(Condition("ccps", "normative", "citizen", (("group.size", 7), ("persona", "none"))))
        'ccps, normative, citizen, group.size=7, persona=none'
        """
        return ", ".join([self.topic, self.treatment, self.models, *(f"{key}={value}" for key, value in self.settings)])


def conditions(sessions: Iterable[Session]) -> dict[str, Condition]:
    """The condition of every session, by its name.

    A setting is told where sessions of the same topic, treatment and models differ in it, and then of all sessions that have
    it. What a condition is called thus depends on the study it is in; which replicates belong together does not.
    """
    placed: dict[str, tuple[tuple[str, str, str], Settings]] = {}
    families: dict[tuple[str, str, str], dict[Settings, Settings]] = defaultdict(dict)
    for session in sessions:
        family = session.topic.id, session.treatment.name, "+".join(session.models)
        settings = frozenset(_settings(session))
        placed[session.id] = family, families[family].setdefault(settings, settings)  # one copy for all replicates
    unlike = {key for found in families.values() for key, _ in frozenset.union(*found) - frozenset.intersection(*found)}
    return {
        name: Condition(*family, tuple(sorted(pair for pair in settings if pair[0] in unlike)))
        for name, (family, settings) in placed.items()
    }


def _settings(session: Session) -> Iterator[tuple[str, Any]]:
    """What a session is made of beside topic, treatment and models, named as at the command line; hashable values."""
    yield from {"survey": session.survey.id, "format": session.format, "wording": session.wording.id}.items()
    yield "group.size", len(session.participants)
    yield "persona", _personas([participant.persona for participant in session.participants])
    if session.treatment.interaction:
        yield "rounds", session.treatment.rounds
    if len(session.models) > 1:
        yield "seats", "+".join(participant.model for participant in session.participants)
    yield from _leaves(asdict(session.procedure), "procedure.")
    for name, settings in session.models.items():
        yield from _leaves(settings, "model." if len(session.models) == 1 else f"models.{name}.")


def _personas(personas: list[str]) -> str:
    """A short name for who is described how: none, or how many are and a hash of the descriptions."""
    described = sum(map(bool, personas))
    return f"{described} ({hashlib.sha256(json.dumps(personas).encode()).hexdigest()[:8]})" if described else "none"


def _leaves(settings: Mapping[str, Any], at: str) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{at}{key}.")
        else:
            plain = value is None or isinstance(value, (str, int, float))
            yield f"{at}{key}", value if plain else json.dumps(value)
