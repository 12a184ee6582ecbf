"""Conditions: what tells the sessions of a study apart, replicates aside."""

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.domain.consensus import ConsensusRule
from delibsim.domain.parentage import Parentage
from delibsim.domain.run import Session
from delibsim.domain.treatment import Procedure

Settings = frozenset[tuple[str, Any]]
Family = tuple[str, str, str]


@dataclass(frozen=True)
class Condition:
    """Topic, treatment and models of sessions, and the settings in which they differ from others.

    `settings` holds pairs of a dotted key and a value.
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
        settings = [f"{key}={value}" for key, value in self.settings]
        return ", ".join([self.topic, self.treatment, self.models, *settings])


@dataclass(frozen=True)
class Placed:
    """Where a session stands in the design: its name, cell, replicate and settings.

    `family` is topic, treatment and models; `settings` are those of `settings_of`.
    """

    id: str
    cell: str
    replicate: int
    family: Family
    settings: Settings


def conditions(sessions: Iterable[Session]) -> dict[str, Condition]:
    """The condition of every session, by its name.

    Replicates are the sessions of one cell of the design; of sessions that are named otherwise,
    those with equal settings. What is drawn anew for every replicate (who sits where) is no
    setting. A setting is stated where sessions of the same topic, treatment and models differ in
    it, and then of all that have it; where that does not tell two cells apart, their names do. What
    a condition is called thus depends on the study it is in; which replicates belong together does
    not.
    """
    placed = []
    for one in sessions:
        settings = frozenset(settings_of(one))
        placed.append(Placed(one.id, one.cell, one.replicate, family_of(one), settings))
    return conditions_of(placed)


def conditions_of(placed: Iterable[Placed]) -> dict[str, Condition]:
    """The condition of every session, by its name, from where each stands (see `conditions`)."""
    ordered = sorted(placed, key=lambda one: one.replicate)
    designed = [one for one in ordered if one.cell != one.id]
    others = [one for one in ordered if one.cell == one.id]
    shared: dict[str, tuple[Family, Settings]] = {}
    cells = {one.id: one.cell for one in ordered}
    for one in designed:
        settings = one.settings
        if one.cell in shared and shared[one.cell][1] is not settings:
            settings &= shared[one.cell][1]
        family = shared[one.cell][0] if one.cell in shared else one.family
        shared[one.cell] = family, settings
    by_content = {content: cell for cell, content in shared.items()}
    for one in others:
        content = one.family, one.settings
        cell = by_content.setdefault(content, one.id)
        cells[one.id] = cell
        shared[cell] = content
    found = _named(shared)
    return {name: found[cell] for name, cell in cells.items()}


def _named(shared: Mapping[str, tuple[Family, Settings]]) -> dict[str, Condition]:
    """The condition of every cell: its family, and the settings in which cells of it differ.

    The name of the cell is added where two conditions are equal otherwise.
    """
    keys = _differing(shared.values())
    found = {}
    for cell, (family, settings) in shared.items():
        stated = sorted((key, value) for key, value in settings if key in keys)
        found[cell] = Condition(*family, tuple(stated))
    counts = Counter(found.values())
    for cell, condition in found.items():
        if counts[condition] > 1:
            found[cell] = replace(condition, settings=(*condition.settings, ("sessions", cell)))
    return found


def _differing(contents: Iterable[tuple[Family, Settings]]) -> set[str]:
    """The keys of the settings in which cells of one family differ."""
    by_family: dict[Family, list[Settings]] = {}
    for family, settings in contents:
        by_family.setdefault(family, []).append(settings)
    keys = set()
    for alternatives in by_family.values():
        differing = frozenset.union(*alternatives) - frozenset.intersection(*alternatives)
        keys |= {key for key, _ in differing}
    return keys


def family_of(session: Session) -> Family:
    """Topic, treatment and models of a session, by name."""
    return session.topic.id, session.treatment.name, "+".join(session.models)


def settings_of(session: Session) -> Iterator[tuple[str, Any]]:
    """The settings of a session beside topic, treatment and models, named as at the command line.

    All values are hashable.
    """
    yield from shared_settings(session)
    for name in session.models:
        prefix = "model" if len(session.models) == 1 else f"models.{name}"
        for key, value in settings_of_model(session, name):
            yield f"{prefix}.{key}", value


def settings_of_model(session: Session, name: str) -> Iterator[tuple[str, Any]]:
    """The settings of one of its models by dotted key; hashable values."""
    return _leaves(session.models[name], "")


def shared_settings(session: Session) -> Iterator[tuple[str, Any]]:
    """The settings that are not those of a model."""
    people = session.participants
    yield "survey", session.survey.id
    yield "format", session.format
    yield "wording", session.wording.id
    yield "group.size", len(people)
    yield "persona", session.personas or _personas([person.persona for person in people])
    if session.treatment.interaction:
        yield "rounds", session.treatment.rounds
    if len(session.models) > 1:
        yield "seats", "+".join(person.model for person in people)
    yield from _of_procedure(session.procedure)
    if session.consensus is not None:
        yield from _of_consensus(session.consensus)
    if (facilitator := session.facilitator) is not None:
        yield "facilitator", facilitator.name
        yield "facilitator.model", facilitator.model or "the first model of the group"
        yield "facilitator.instructions", _digest(facilitator.instructions)
        yield "facilitator.texts", _digest(dict(facilitator.texts))
        yield from _leaves(facilitator.settings, "facilitator.model.")
    if (briefing := session.briefing) is not None:
        yield "briefing", briefing.name
        yield "briefing.text", _digest(asdict(briefing))
    if session.witnesses:
        yield "group.witnesses", "+".join(one.name for one in session.witnesses)
        yield "witnesses.texts", _digest([asdict(one) for one in session.witnesses])
    if session.parentage is not None:
        yield "branch", branch_of(session.parentage, session.cell)


def _of_consensus(rule: ConsensusRule) -> Iterator[tuple[str, Any]]:
    """How a collective statement is sought; its sentences as a hash."""
    yield "consensus", rule.name
    for name in ("candidates", "position", "critique", "words"):
        yield f"consensus.{name}", getattr(rule, name)
    yield "consensus.mediator", rule.mediator or "the first model of the group"
    yield "consensus.texts", _digest(dict(rule.texts))


def _digest(plain: Any) -> str:
    """Eight characters that stand for plain values."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:8]


def branch_of(parentage: Parentage, cell: str) -> str:
    """What tells the branches of one cell from planned sessions and from all others."""
    return f"{parentage.place} at {parentage.at} ({cell})"


@functools.lru_cache(maxsize=1024)
def _of_procedure(procedure: Procedure) -> tuple[tuple[str, Any], ...]:
    return tuple(_leaves(asdict(procedure), "procedure."))


def _personas(personas: list[str]) -> str:
    """A short name for personas: "none", or their number and a hash of their texts."""
    described = sum(bool(persona) for persona in personas)
    if not described:
        return "none"
    digest = hashlib.sha256(json.dumps(personas).encode()).hexdigest()
    return f"{described} ({digest[:8]})"


def _leaves(settings: Mapping[str, Any], at: str) -> Iterator[tuple[str, Any]]:
    """Nested settings by dotted key; values that are not plain are JSON texts."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{at}{key}.")
        elif value is None or isinstance(value, (str, int, float)):
            yield f"{at}{key}", value
        elif isinstance(value, tuple) and set(map(type, value)) == {str}:
            yield f"{at}{key}", "+".join(value)
        else:
            yield f"{at}{key}", json.dumps(value)
