"""Sessions that share their parts: thousands in memory hold a few instruments, not thousands."""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from delibsim.domain.run import Session
from delibsim.domain.treatment import Wording

T = TypeVar("T")

DESIGNS = 1024
"""Of every kind of part so many different ones are remembered."""


def shared(session: Session) -> Session:
    """An equal session whose parts are those of the first session that had equal ones."""
    return replace(
        session,
        topic=_one(session.topic),
        survey=_one(session.survey),
        participants=_group(tuple(map(_person, session.participants))),
        treatment=_one(session.treatment),
        wording=_wording(session.wording),
        procedure=_one(session.procedure),
        models=_models(session.models),
        before=None if session.before is None else shared(session.before),
    )


@functools.lru_cache(maxsize=DESIGNS)
def _one(part: T) -> T:
    """The first part that was equal to this one."""
    return part


@functools.lru_cache(maxsize=DESIGNS)
def _group(people: T) -> T:
    return people


@functools.lru_cache(maxsize=8 * DESIGNS)
def _person(person: T) -> T:
    return person


def _wording(wording: Wording) -> Wording:
    return _kept(_Known(wording, (wording.id, *wording.texts.items())))


def _models(models: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    # As text, because 0 and 0.0 are written differently.
    return _kept(_Known(models, json.dumps(models, default=repr)))


class _Known:
    """A part that has no hash of its own, known by its content."""

    def __init__(self, part: Any, content: Any) -> None:
        self.part, self.content = part, content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)


def _kept(known: _Known) -> Any:
    return _first(known).part


@functools.lru_cache(maxsize=DESIGNS)
def _first(known: _Known) -> _Known:
    return known
