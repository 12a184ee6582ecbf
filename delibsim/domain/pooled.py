"""Pooling: what differs, beyond motion and debaters, between debates that are analysed together."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from delibsim.domain.condition import settings_of_model, shared_settings
from delibsim.domain.effect import WORDING, as_text
from delibsim.domain.participant import AUDIENCE, SIDES
from delibsim.domain.run import Session

OF_THE_DEBATE = ("survey", "seats", "group.size", WORDING)
"""Settings that follow from motion and debaters, or are named otherwise here."""


def differing(sessions: Iterable[Session]) -> dict[str, tuple[str, ...]]:
    """The settings in which debates differ beyond motion and debaters, with their values as texts.

    The settings of a model are compared between the debates in which it sat; what one model has
    otherwise than another belongs to the debaters.
    """
    values: dict[tuple[str, str], dict[Any, str]] = defaultdict(dict)
    for session in sessions:
        for key, value, text in _shared(session):
            values[key, ""][value] = text
        for model in session.models:
            for key, value in settings_of_model(session, model):
                values[key, model][value] = as_text(value)
    found: dict[str, dict[Any, str]] = defaultdict(dict)
    for (key, _), own in values.items():
        if len(own) > 1:
            found[key] |= own
    return {key: _distinct(own) for key, own in found.items()}


def _shared(session: Session) -> Iterator[tuple[str, Any, str]]:
    """The settings of a debate that are no model's: name, value and the value as text."""
    treatment, wording = session.treatment, session.wording
    content = json.dumps([treatment.instructions, treatment.interaction])
    yield "treatment", (treatment.name, content), treatment.name
    yield WORDING, (wording.id, digest_of(wording.texts)), wording.id
    people = session.participants
    listeners = [person for person in people if person.role == AUDIENCE]
    yield AUDIENCE, len(listeners), str(len(listeners))
    sides = tuple(person for person in people if person.role in SIDES)
    for key, value in shared_settings(replace(session, participants=sides)):
        if key not in OF_THE_DEBATE:
            yield key, value, as_text(value)


def _distinct(values: Mapping[Any, str]) -> tuple[str, ...]:
    """The texts of values; equal texts of different values are marked with a hash of the value."""
    texts = list(values.values())
    distinct = []
    for value, text in values.items():
        mark = hashlib.sha256(repr(value).encode()).hexdigest()[:8]
        distinct.append(text if texts.count(text) == 1 else f"{text} ({mark})")
    return tuple(distinct)


def digest_of(texts: Mapping[str, str]) -> str:
    """SHA-256 of texts by name, in whichever order they stand."""
    return hashlib.sha256(json.dumps(dict(texts), sort_keys=True).encode()).hexdigest()
