"""The settings in which two sessions differ, each with its words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from delibsim.domain.run import Session
from delibsim.domain.word_differences import Piece, word_differences

NOUNS = ("treatment", "wording", "procedure")
PLAIN = ("format", "seed", "replicate", "personas")
"""The fields of a session that are compared, beside its topic, survey, participants and models."""


@dataclass(frozen=True)
class SettingPair:
    """A setting of two sessions by its dotted name; None where a session has no such setting."""

    name: str
    a: str | None
    b: str | None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The differences in words; none where one session has no such setting."""
        if self.a is None or self.b is None:
            return ()
        return word_differences(self.a, self.b)


def settings_that_differ(a: Session, b: Session) -> tuple[SettingPair, ...]:
    """The settings in which two sessions differ, in the order of a session.

    Items of surveys are compared where both have the survey; where not, its name says it. Models of
    two names that have the same seats are compared as one, called by both names.
    """
    together = _in_the_same_seats(a, b)
    first, second = dict(_settings(a, together[0])), dict(_settings(b, together[1]))
    found = []
    for name in {**first, **second}:
        if name.startswith("survey.") and a.survey.id != b.survey.id and name != "survey.id":
            continue
        if first.get(name) != second.get(name):
            found.append(SettingPair(name, first.get(name), second.get(name)))
    return tuple(found)


def _in_the_same_seats(a: Session, b: Session) -> tuple[dict[str, str], dict[str, str]]:
    """What models of two names are called together where they have the same seats, by the name that
    each has in its session.
    """
    seats = []
    for session in (a, b):
        own: dict[str, list[str]] = {}
        for person in session.participants:
            own.setdefault(person.model, []).append(person.id)
        seats.append({name: tuple(ids) for name, ids in own.items()})
    by_seats = {ids: name for name, ids in seats[1].items()}
    in_a, in_b = {}, {}
    for name, ids in seats[0].items():
        other = by_seats.get(ids)
        if other is not None and other != name and name not in b.models and other not in a.models:
            in_a[name] = in_b[other] = f"{name}|{other}"
    return in_a, in_b


def _settings(session: Session, called: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every setting of a session as text; of participants and items by their names, of models by
    what they are `called`.
    """
    items = {item.id: item.text for item in session.survey.items}
    topic = {name: value for name, value in vars(session.topic).items() if name != "survey"}
    plain: dict[str, Any] = {"topic": topic, "survey": asdict(session.survey) | {"items": items}}
    for name in PLAIN:
        plain[name] = getattr(session, name)
    for name in NOUNS:
        plain[name] = asdict(getattr(session, name))
    yield from _leaves(plain, "")
    for name, settings in session.models.items():
        own = dict(settings)
        if name in called:
            own.pop("name", None)
            yield f"models.{called[name]}", name
        yield from _leaves(own, f"models.{called.get(name, name)}.")
    yield "participants", ", ".join(person.id for person in session.participants)
    for person in session.participants:
        own = {name: value for name, value in vars(person).items() if name != "id"}
        own["model"] = called.get(person.model, person.model)
        yield from _leaves(own, f"{person.id}.")


def _leaves(settings: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Nested settings by dotted name, as text."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{at}{name}.")
        elif isinstance(value, str):
            yield f"{at}{name}", value
        elif isinstance(value, Sequence):
            yield f"{at}{name}", json.dumps(value, ensure_ascii=False, default=list)
        else:
            yield f"{at}{name}", json.dumps(value, ensure_ascii=False)
