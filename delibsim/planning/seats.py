"""Who sits where: models moved on with every replicate, personas assigned or drawn in groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.participant import (
    Drawn,
    Participant,
    Personas,
    group_of_diversity,
    models_in_seats,
    personas_in_seats,
)
from delibsim.domain.seed import seed_of
from delibsim.domain.study import Group
from delibsim.domain.survey import Survey, Topic
from delibsim.planning.config import GroupConfig, PersonaConfig
from delibsim.prompts.blocks import starting_answers
from delibsim.store.instruments.library import Library

if TYPE_CHECKING:
    from delibsim.store.instruments.answers import Answers


@dataclass(frozen=True)
class SessionContext:
    """Where a group meets: topic and survey, replicate, seed of the study, folder of the user."""

    topic: Topic
    survey: Survey
    replicate: int
    seed: int
    home: Path


@dataclass(frozen=True)
class Seated:
    """A group, and what its study keeps of the personas.

    `drawn` says how the personas of this very group were drawn; {} where they sit in turn.
    """

    group: Group
    personas: Mapping[str, Any]
    drawn: Mapping[str, Any]


@dataclass(frozen=True)
class _PersonaSet:
    """A set of personas, what each is called in the record, and what the study keeps of the set."""

    personas: Personas
    ids: Sequence[Any]
    kept: Mapping[str, Any]


def seated(
    group: GroupConfig,
    persona: PersonaConfig,
    models: Sequence[Mapping[str, Any]],
    context: SessionContext,
    label: str = "",
) -> Seated:
    """The group of one session: its replicate decides which model and which persona sits where.

    `label` gives, in the name of the session, the settings in which it differs from others.
    WrongInput for what cannot be seated.
    """
    try:
        personas = _persona_set(persona, context)
        drawn = _drawn(group, persona, personas.personas, context)
    except WrongInput:
        raise
    except ValueError as error:
        raise WrongInput(str(error)) from None
    names = [model["name"] for model in models]
    texts = [personas.personas.texts[own] for own in drawn.seats] or [""] * group.size
    in_seats = models_in_seats(names, group.size, context.replicate)
    participants = []
    for seat, (text, model) in enumerate(zip(texts, in_seats, strict=True), 1):
        participants.append(Participant(f"Participant {seat}", persona=text, model=model))
    of_models = "+".join(dict.fromkeys(names))
    found = Group(
        label=f"{of_models}_{label}" if label else of_models,
        participants=tuple(participants),
        models={model["name"]: model for model in models},
    )
    in_turn = group.diversity is None and personas.personas.seating == "in_turn"
    return Seated(found, personas.kept, {} if in_turn else _record(drawn, personas.ids))


def instrument_of(topic: Topic, survey: str | None, library: Library) -> Survey:
    """The survey that people answered on a topic.

    The one named, else the published one where it is imported, else the topic's own.
    """
    published = f"deliberr.{topic.id}"
    if survey is None and published in library.surveys():
        return library.survey(published)
    return library.survey(survey or topic.survey or topic.id)


def _drawn(
    group: GroupConfig, persona: PersonaConfig, personas: Personas, context: SessionContext
) -> Drawn:
    """The personas of one group."""
    seed = seed_of(context.seed, context.topic.id, "personas")
    if group.diversity is not None:
        people = _diversity_of_people(persona, context)
        replicate = (context.replicate, seed)
        return group_of_diversity(personas, group.size, group.diversity, people, replicate)
    if not personas.texts:
        return Drawn(())
    return Drawn(personas_in_seats(personas, group.size, context.replicate, seed))


def _persona_set(config: PersonaConfig, context: SessionContext) -> _PersonaSet:
    """The set of personas that a session's own are taken from."""
    if config.people:
        return _people(config.people, context)
    if config.seating == "people":
        given = config.name if config.people is None else f"{config.name}:"
        raise refused("persona_needs_topic", given=given, id=context.topic.id)
    kept: dict[str, Any] = {"name": config.name, "personas": config.personas}
    if config.seating != "in_turn":
        kept["seating"] = config.seating
    for key in ("sizes", "topic", "built"):
        if getattr(config, key):
            kept[key] = getattr(config, key)
    means = (config.built or {}).get("means") or ()
    answers = tuple(tuple(map(float, row)) for row in means)
    sizes = tuple(config.sizes or ())
    personas = Personas(config.name, tuple(config.personas), config.seating, sizes, answers)
    return _PersonaSet(personas, range(1, len(config.personas) + 1), kept)


def _diversity_of_people(config: PersonaConfig, context: SessionContext) -> float:
    """The diversity of all the people a set comes from.

    NaN where their answers are not here, or the set comes from nobody's answers.
    """
    from delibsim.store.instruments.own_answers import (
        people_who_answered,  # numpy is slow to import
    )

    try:
        if config.people:
            survey = _answered(config.people, context)
        else:
            survey = Library(context.home).survey(str((config.built or {}).get("survey")))
        return _diversity(_rows(people_who_answered(survey, context.home)))
    except WrongInput:
        return math.nan


def _people(topic: str, context: SessionContext) -> _PersonaSet:
    """The participants of a topic as personas, one each."""
    from delibsim.store.instruments.own_answers import (  # numpy is slow to import
        fingerprint,
        people_who_answered,
    )

    survey = _answered(topic, context)
    _same_instrument(survey, context, topic)
    answers = people_who_answered(survey, context.home)
    rows = _rows(answers)
    ids = [item.id for item in (*survey.considerations, *survey.preferences)]
    texts = []
    for row in rows:
        given = {item: int(value) for item, value in zip(ids, row, strict=True)}
        texts.append(starting_answers(given, context.survey))
    personas = Personas(f"human:{topic}", tuple(texts), "people", answers=rows)
    people = {
        "survey": survey.id,
        "participants": len(rows),
        "answers_sha256": fingerprint(answers),
    }
    kept = {"name": personas.name, "personas": [], "people": people}
    return _PersonaSet(personas, answers.participants, kept)


def _answered(topic: str, context: SessionContext) -> Survey:
    """The survey that the people of a topic answered.

    The session's where the user has answers to it, else as in `instrument_of`.
    """
    from delibsim.store.instruments.own_answers import FOLDER  # numpy is slow to import

    library, ours = Library(context.home), context.survey
    about = library.topic(topic)
    answers = context.home / FOLDER / f"{ours.id}.csv"
    if ours.id == (about.survey or about.id) and answers.is_file():
        return ours
    return instrument_of(about, None, library)


def _same_instrument(theirs: Survey, context: SessionContext, topic: str) -> None:
    """WrongInput where people answered another instrument than the session's survey.

    The message advises the topic and the survey that fit their answers.
    """
    ours = context.survey
    here = {item.id: item.text for item in ours.items}
    there = {item.id: item.text for item in theirs.items}
    items = dict.fromkeys([*there, *here])
    differing = [item for item in items if here.get(item) != there.get(item)]
    if not differing and ours.scale == theirs.scale:
        return
    scale = ""
    if ours.scale != theirs.scale:
        scale = (
            f"; the scale is {theirs.scale_min} to {theirs.scale_max}, and not {ours.scale_min} to"
            f" {ours.scale_max}"
        )
    about = Library(context.home).topic(topic)
    advice = [f"topic={topic}"] if topic != context.topic.id else []
    if not advice or theirs.id != (about.survey or about.id):
        advice.append(f"survey={theirs.id}")
    raise WrongInput(
        f"the people of '{topic}' answered another instrument ({theirs.id}) than this session's"
        f" survey ({ours.id}). Items that differ: {', '.join(differing) or 'none'}{scale}. Give"
        f" {' '.join(advice)}"
    )


def _rows(answers: "Answers") -> tuple[tuple[float, ...], ...]:
    """Each participant's raw answers before the deliberation, considerations first."""
    rated, ranked = answers.considerations["pre"].tolist(), answers.preferences["pre"].tolist()
    return tuple((*ratings, *ranks) for ratings, ranks in zip(rated, ranked, strict=True))


def _diversity(rows: Sequence[Sequence[float]]) -> float:
    """The mean Euclidean distance between two rows; NaN where there are not two."""
    pairs = [math.dist(a, b) for a, b in combinations(rows, 2)]
    return sum(pairs) / len(pairs) if pairs else math.nan


def _record(drawn: Drawn, ids: Sequence[Any]) -> dict[str, Any]:
    """Which personas a group has, and how its diversity compares with what was wanted."""
    record: dict[str, Any] = {"personas": [ids[own] for own in drawn.seats]}
    if drawn.wanted:
        diversity: dict[str, Any] = {"wanted": drawn.wanted}
        for key in ("target", "reached", "people"):
            value = getattr(drawn, key)
            diversity[key] = None if math.isnan(value) else round(value, 6)
        record["diversity"] = diversity
    return record
