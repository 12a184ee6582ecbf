"""Conditions: what tells the sessions of a study apart, replicates aside."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.domain.run import Session
from delibsim.domain.study import cell_of

Settings = frozenset[tuple[str, Any]]
Family = tuple[str, str, str]


@dataclass(frozen=True)
class Condition:
    """Topic, treatment and models of sessions, and by dotted key the settings in which they differ
    from others of the study.
    """

    topic: str
    treatment: str
    models: str
    settings: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """As it stands above a table.

        >>> str(Condition("ccps", "normative", "citizen", (("group.size", 7), ("persona", "none"))))
        'ccps, normative, citizen, group.size=7, persona=none'
        """
        return ", ".join(
            [
                self.topic,
                self.treatment,
                self.models,
                *(f"{key}={value}" for key, value in self.settings),
            ]
        )


def conditions(sessions: Iterable[Session]) -> dict[str, Condition]:
    """The condition of every session, by its name.

    Replicates are the sessions of one cell of the design; of sessions that are named otherwise,
    those with equal settings. What is drawn anew for every replicate (who sits where) is no
    setting. A setting is told where sessions of the same topic, treatment and models differ in it,
    and then of all that have it; where that does not tell two cells apart, their names do. What a
    condition is called thus depends on the study it is in; which replicates belong together does
    not.
    """
    shared: dict[str, tuple[Family, Settings]] = {}
    sessions = sorted(sessions, key=lambda session: session.replicate)
    cells = {session.id: cell_of(session) for session in sessions}
    for session in sessions:
        family, settings = family_of(session), frozenset(settings_of(session))
        if cells[session.id] != session.id:
            family, others = shared.get(cells[session.id], (family, settings))
            shared[cells[session.id]] = family, settings & others
    by_content = {content: cell for cell, content in shared.items()}
    for session in sessions:
        if cells[session.id] == session.id:  # named by somebody else
            content = family_of(session), frozenset(settings_of(session))
            cells[session.id] = by_content.setdefault(content, session.id)
            shared[cells[session.id]] = content
    found = _told(shared)
    return {name: found[cell] for name, cell in cells.items()}


def _told(shared: Mapping[str, tuple[Family, Settings]]) -> dict[str, Condition]:
    """The condition of every cell: its family, what differs, and its name where that tells it from
    no other.
    """
    families: dict[Family, list[Settings]] = defaultdict(list)
    for family, settings in shared.values():
        families[family].append(settings)
    unlike = {
        key
        for found in families.values()
        for key, _ in frozenset.union(*found) - frozenset.intersection(*found)
    }
    found = {
        cell: Condition(*family, tuple(sorted(pair for pair in settings if pair[0] in unlike)))
        for cell, (family, settings) in shared.items()
    }
    alike = Counter(found.values())
    return {
        cell: replace(condition, settings=(*condition.settings, ("sessions", cell)))
        if alike[condition] > 1
        else condition
        for cell, condition in found.items()
    }


def family_of(session: Session) -> Family:
    """Topic, treatment and models of a session, by name."""
    return session.topic.id, session.treatment.name, "+".join(session.models)


def settings_of(session: Session) -> Iterator[tuple[str, Any]]:
    """What a session is made of beside topic, treatment and models, named as at the command line;
    hashable values.
    """
    yield from shared_settings(session)
    for name in session.models:
        for key, value in settings_of_model(session, name):
            yield (f"model.{key}" if len(session.models) == 1 else f"models.{name}.{key}"), value


def settings_of_model(session: Session, name: str) -> Iterator[tuple[str, Any]]:
    """The settings of one of its models by dotted key; hashable values."""
    return _leaves(session.models[name], "")


def shared_settings(session: Session) -> Iterator[tuple[str, Any]]:
    """The settings that are not those of a model."""
    yield from {
        "survey": session.survey.id,
        "format": session.format,
        "wording": session.wording.id,
    }.items()
    yield "group.size", len(session.participants)
    yield (
        "persona",
        session.personas
        or _personas([participant.persona for participant in session.participants]),
    )
    if session.treatment.interaction:
        yield "rounds", session.treatment.rounds
    if len(session.models) > 1:
        yield "seats", "+".join(participant.model for participant in session.participants)
    yield from _leaves(asdict(session.procedure), "procedure.")


def _personas(personas: list[str]) -> str:
    """A short name for who is described how: none, or how many are and a hash of the
    descriptions.
    """
    described = sum(map(bool, personas))
    return (
        f"{described} ({hashlib.sha256(json.dumps(personas).encode()).hexdigest()[:8]})"
        if described
        else "none"
    )


def _leaves(settings: Mapping[str, Any], at: str) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{at}{key}.")
        else:
            plain = value is None or isinstance(value, (str, int, float))
            yield f"{at}{key}", value if plain else json.dumps(value)
