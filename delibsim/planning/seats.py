"""Who sits where: models moved on with every replicate, personas dealt out, groups of a wanted
diversity, real people's answers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Participant
from delibsim.domain.personas import (
    Diversity,
    Drawn,
    Personas,
    Seating,
    group_of_diversity,
    models_in_seats,
    personas_in_seats,
)
from delibsim.domain.seed import seed_of
from delibsim.domain.study import Group
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.prompts.blocks import starting_answers
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.own_answers import FOLDER, fingerprint, people_who_answered


class PersonaConfig(BaseModel):
    """A file of conf/persona: `topic` is the only one they are for, `people` the topic whose
    participants give their answers, `built` says where the texts come from.
    """

    model_config = ConfigDict(extra="forbid")
    name: str
    personas: list[str]
    seating: Seating = "in_turn"
    sizes: list[int] | None = None
    topic: str | None = None
    people: str | None = None
    built: dict[str, Any] | None = None


class GroupConfig(BaseModel):
    """A file of conf/group."""

    model_config = ConfigDict(extra="forbid")
    size: int = Field(ge=2, le=1000)
    models: list[str] | None = Field(default=None, min_length=1)
    diversity: Diversity | None = None


@dataclass(frozen=True)
class SessionContext:
    """Where a group is to meet: what its personas are drawn for, and by which seed of the study."""

    topic: Topic
    survey: Survey
    replicate: int
    seed: int
    home: Path


@dataclass(frozen=True)
class Seated:
    """A group, what its study keeps of the personas, and how those of this very group were drawn
    ({} where in turn).
    """

    group: Group
    personas: Mapping[str, Any]
    drawn: Mapping[str, Any]


def seated(
    group: GroupConfig,
    persona: PersonaConfig,
    models: Sequence[Mapping[str, Any]],
    place: SessionContext,
    unlike: str = "",
) -> Seated:
    """The group of one session: its replicate decides which model and which persona sits where.
    WrongInput for what cannot be seated.

    `unlike` says, in the name of the session, what else tells it from others.
    """
    try:
        personas, ids, kept = _personas(persona, place)
        seed = seed_of(place.seed, place.topic.id, "personas")
        if group.diversity is not None:
            people = _diversity_of_people(persona, place)
            drawn = group_of_diversity(
                personas, group.size, group.diversity, people, (place.replicate, seed)
            )
        else:
            seats = (
                personas_in_seats(personas, group.size, place.replicate, seed)
                if personas.texts
                else ()
            )
            drawn = Drawn(seats)
    except WrongInput:
        raise
    except ValueError as error:
        raise WrongInput(str(error)) from None
    names = [model["name"] for model in models]
    texts = [personas.texts[own] for own in drawn.seats] or [""] * group.size
    participants = tuple(
        Participant(f"Participant {seat}", persona=text, model=model)
        for seat, (text, model) in enumerate(
            zip(texts, models_in_seats(names, group.size, place.replicate), strict=True), 1
        )
    )
    label = "+".join(dict.fromkeys(names)) + (f"_{unlike}" if unlike else "")
    return Seated(
        Group(label, participants, {model["name"]: model for model in models}),
        kept,
        _record(drawn, ids) if group.diversity or personas.seating != "in_turn" else {},
    )


def instrument_of(topic: Topic, survey: str | None, library: Library) -> Survey:
    """The survey that people answered on a topic: the one named, else the published one where it is
    imported, else the topic's own.
    """
    published = f"deliberr.{topic.id}"
    return library.survey(
        survey or (published if published in library.surveys() else topic.survey or topic.id)
    )


def _personas(
    config: PersonaConfig, place: SessionContext
) -> tuple[Personas, Sequence[Any], dict[str, Any]]:
    """The set, what its personas are called in the record, and what the study keeps of it."""
    if config.people:
        return _people(config.people, place)
    if config.seating == "people":
        given = config.name if config.people is None else f"{config.name}:"
        raise WrongInput(
            f"persona={given} needs the topic whose participants are meant, such as"
            f" persona=human:{place.topic.id}"
        )
    kept: dict[str, Any] = {"name": config.name, "personas": config.personas}
    kept |= {"seating": config.seating} if config.seating != "in_turn" else {}
    kept |= {"sizes": config.sizes} if config.sizes else {}
    kept |= {"topic": config.topic} if config.topic else {}
    kept |= {"built": config.built} if config.built else {}
    answers = tuple(
        tuple(float(mean) for mean in row) for row in (config.built or {}).get("means") or ()
    )
    personas = Personas(
        config.name, tuple(config.personas), config.seating, tuple(config.sizes or ()), answers
    )
    return personas, range(1, len(config.personas) + 1), kept


def _diversity_of_people(config: PersonaConfig, place: SessionContext) -> float:
    """The diversity of all the people a set comes from; NaN where their answers are not here, or it
    comes from nobody's.
    """
    survey = (config.built or {}).get("survey")
    try:
        named = (
            _answered(config.people, place)
            if config.people
            else Library(place.home).survey(str(survey))
        )
        return _diversity(_rows(people_who_answered(named, place.home)))
    except WrongInput:
        return math.nan


def _people(topic: str, place: SessionContext) -> tuple[Personas, Sequence[Any], dict[str, Any]]:
    """The participants of a topic as personas, one each."""
    survey = _answered(topic, place)
    _same_instrument(survey, place, topic)
    answers = people_who_answered(survey, place.home)
    rows = _rows(answers)
    ids = [item.id for item in (*survey.considerations, *survey.preferences)]
    texts = tuple(
        starting_answers(
            {item: int(value) for item, value in zip(ids, row, strict=True)}, place.survey
        )
        for row in rows
    )
    kept = {"survey": survey.id, "participants": len(rows), "answers_sha256": fingerprint(answers)}
    personas = Personas(f"human:{topic}", texts, "people", answers=rows)
    return personas, answers.participants, {"name": personas.name, "personas": [], "people": kept}


def _answered(topic: str, place: SessionContext) -> Survey:
    """The survey that the people of a topic answered: the session's, where the user has answers to
    it, else as in `instrument_of`.
    """
    library, ours = Library(place.home), place.survey
    about = library.topic(topic)
    own = (
        ours.id == (about.survey or about.id) and (place.home / FOLDER / f"{ours.id}.csv").is_file()
    )
    return ours if own else instrument_of(about, None, library)


def _same_instrument(theirs: Survey, place: SessionContext, topic: str) -> None:
    """Refuse people's answers to other items than the session's survey has; advise the topic where
    theirs is another.
    """
    ours = place.survey
    here, there = ({item.id: item.text for item in survey.items} for survey in (ours, theirs))
    differing = [
        item for item in dict.fromkeys([*there, *here]) if here.get(item) != there.get(item)
    ]
    if differing or ours.scale != theirs.scale:
        scale = (
            f"; the scale is {theirs.scale_min} to {theirs.scale_max}, and not {ours.scale_min} to"
            f" {ours.scale_max}"
        )
        about = Library(place.home).topic(topic)
        advice = [f"topic={topic}"] if topic != place.topic.id else []
        advice += (
            [f"survey={theirs.id}"] if not advice or theirs.id != (about.survey or about.id) else []
        )
        raise WrongInput(
            f"the people of '{topic}' answered another instrument ({theirs.id}) than this session's"
            f" survey ({ours.id}). Items that differ:"
            f" {', '.join(differing) or 'none'}{scale if ours.scale != theirs.scale else ''}. Give"
            f" {' '.join(advice)}"
        )


def _rows(answers: Answers) -> tuple[tuple[float, ...], ...]:
    """Each participant's raw answers before the deliberation, considerations first."""
    both = zip(
        answers.considerations["pre"].tolist(), answers.preferences["pre"].tolist(), strict=True
    )
    return tuple((*rated, *ranked) for rated, ranked in both)


def _diversity(rows: Sequence[Sequence[float]]) -> float:
    pairs = [math.dist(a, b) for a, b in combinations(rows, 2)]
    return sum(pairs) / len(pairs) if pairs else math.nan


def _record(drawn: Drawn, ids: Sequence[Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"personas": [ids[own] for own in drawn.seats]}
    if drawn.wanted:
        values = {"target": drawn.target, "reached": drawn.reached, "people": drawn.people}
        record["diversity"] = {"wanted": drawn.wanted} | {
            k: None if math.isnan(v) else round(v, 6) for k, v in values.items()
        }
    return record
