"""Building personas from people's answers: clusters, profiles written by a model, a blind check."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.analysis.personas import (
    Clusters,
    Items,
    ProfileCheck,
    clusters_of,
    compared,
    departures,
    shortcomings,
    template_profile,
)
from delibsim.asking.nouns import Question
from delibsim.asking.record import ExchangeRecord, could_not_be_asked, reply_to
from delibsim.conduct.study import Notify, proven_pool
from delibsim.domain.data import read_data
from delibsim.domain.errors import refused
from delibsim.domain.participant import Personas
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey, Topic
from delibsim.models.base import LanguageModel
from delibsim.models.pool import PlannedCalls
from delibsim.models.replay import Replay, exchanges_in
from delibsim.planning.compose import StudyPlan, plan
from delibsim.planning.dry_run import DryRunCall, DryRunModel
from delibsim.planning.estimate import CostEstimate, estimate_loads
from delibsim.planning.load import load_of
from delibsim.planning.seats import instrument_of
from delibsim.prompts.blocks import block, items_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose
from delibsim.store.files import read_lines
from delibsim.store.instruments.library import FOLDER, Library, keep_personas
from delibsim.store.instruments.own_answers import people_who_answered

LONGEST = 220
"""Words of a profile, at most."""
REASKS = 3
_WORDS = read_data("prompts.yaml")["profile"]


TEMPLATE = "template"
"""The writer that is no language model: profiles are put together from the considerations."""


PROFILE_WORDS = (80, 180)
"""Words of a profile, as its writer is asked for them."""


class NoProfile(RuntimeError):
    """A language model wrote or read no profile; the message says for which cluster and why.

    What was recorded is kept.
    """


@dataclass(frozen=True)
class Recipe:
    """How a set of personas is to be built from the people who answered a survey on a topic."""

    topic: str
    k: int = 5
    items: Items = "considerations"
    seed: int = 0
    writer: str = TEMPLATE
    reader: str = "citizen"
    name: str = ""

    @property
    def label(self) -> str:
        """The name of the set."""
        suffix = "_all" if self.items == "all" else ""
        return self.name or f"{self.topic}_{self.k}{suffix}"


@dataclass(frozen=True)
class Built:
    """A set of personas that was built: its name, its file, whether that is new, and the check."""

    name: str
    path: Path
    new: bool
    readings: tuple[ProfileCheck, ...]

    @property
    def checked(self) -> bool:
        """Whether every profile could be checked."""
        return not any(reading.reason for reading in self.readings)


async def build_personas(
    recipe: Recipe,
    overrides: Sequence[str] = (),
    home: Path | None = None,
    notify: Notify = lambda line: None,
) -> Built:
    """Cluster people, have a profile written for each cluster, and check the profiles.

    What is asked of models is recorded beside the set, and not asked twice. `overrides` are
    settings such as "survey=ID" and "limits.budget_usd=2"; `notify` is called with every issue of
    the preflight. Raises WrongInput before anything is asked, NotWritten where a model could not
    write or read a profile.
    """
    home = home or Path.cwd()
    planned, clusters = _clustered(recipe, overrides, home)
    survey = planned.session.survey
    record = _record(home, recipe)
    profiles, readings = await _written_and_read(planned, recipe, clusters, record, notify)
    personas = Personas(recipe.label, tuple(profiles), "balanced", clusters.sizes)
    warnings = shortcomings(profiles, readings)
    origin = _origin(recipe, survey, clusters, readings, warnings)
    path, new = keep_personas(personas, home, origin)
    return Built(recipe.label, path, new, tuple(readings))


async def estimate_personas(
    recipe: Recipe, overrides: Sequence[str] = (), home: Path | None = None
) -> tuple[StudyPlan, CostEstimate]:
    """What building a set of personas takes that is not on record: the plan with its limits, and
    the calls of the writer and of the reader. Nobody is asked. WrongInput as for building it.
    """
    home = home or Path.cwd()
    planned, clusters = _clustered(recipe, overrides, home)
    session = planned.session
    known, _ = exchanges_in(read_lines(_record(home, recipe))[0])
    names = list(session.models)
    dry: list[list[DryRunCall]] = []
    for words in PROFILE_WORDS:
        asked: list[DryRunCall] = []
        voices = [Replay(name, known, DryRunModel(name, words, asked.append)) for name in names]
        writer = None if recipe.writer == TEMPLATE else voices[0]
        profiles = await write_profiles(session.topic, session.survey, clusters, writer)
        await read_profiles(session.topic, session.survey, clusters, profiles, voices[-1])
        dry.append(asked)
    loads = {}
    for name in names:
        brief, long = (_asked_of(name, asked) for asked in dry)
        if long:
            loads[name] = replace(load_of(brief, long, 1, repeated=True), sessions=len(long))
    both = estimate_loads(loads, session.models, planned.limits, planned.addresses)
    return planned, both


def _clustered(recipe: Recipe, overrides: Sequence[str], home: Path) -> tuple[StudyPlan, Clusters]:
    """The plan of a set, and the people who answered its survey in clusters."""
    planned = _plan(Library().topic(recipe.topic), recipe, overrides)
    survey = planned.session.survey
    people = people_who_answered(survey, home)
    return planned, clusters_of(people, survey, recipe.k, recipe.items, recipe.seed)


def _asked_of(name: str, asked: "Sequence[DryRunCall]") -> "list[DryRunCall]":
    """The calls to one model."""
    return [call for call in asked if call.model == name]


async def write_profiles(
    topic: Topic, survey: Survey, clusters: Clusters, writer: LanguageModel | None
) -> list[str]:
    """The profile of each cluster, by a language model or, without one, by the template; NotWritten
    where a model gives none.
    """
    found = [departures(clusters, survey, cluster) for cluster in range(len(clusters.sizes))]
    if writer is None:
        return [template_profile(own) for own in found]
    questions = []
    for cluster, own in enumerate(found):
        lines = "\n".join(departure.line for departure in own)
        questions.append(profile_question(topic, clusters.seed, cluster, lines))
    profiles = []
    for profile in await asyncio.gather(*(reply_to(one, writer) for one in questions)):
        if profile.value is None:
            raise NoProfile(f"{writer.name} wrote no profile of {profile.unit}: {profile.reason}")
        profiles.append(str(profile.value))
    return profiles


async def read_profiles(
    topic: Topic, survey: Survey, clusters: Clusters, profiles: Sequence[str], reader: LanguageModel
) -> list[ProfileCheck]:
    """What a reader finds in each profile; NotWritten where the reader could not be asked at
    all.
    """
    asked = []
    for cluster, profile in enumerate(profiles):
        question = reading_question(topic, clusters.seed, survey, cluster, profile)
        asked.append(reply_to(question, reader))
    readings = []
    for cluster, answer in enumerate(await asyncio.gather(*asked)):
        if could_not_be_asked(answer):
            fault = f"{reader.name} could not read the profile of {answer.unit}"
            raise NoProfile(f"{fault}: {answer.reason}")
        if answer.value is None:
            readings.append(ProfileCheck.missing(str(answer.reason)))
        else:
            answers = np.array([answer.value[item] for item in clusters.items], dtype=float)
            readings.append(compared(answers, clusters, cluster))
    return readings


def _record(home: Path, recipe: Recipe) -> Path:
    """The file of what was asked for a set."""
    return home / FOLDER / f"{recipe.label}.exchanges.jsonl"


def _plan(topic: Topic, recipe: Recipe, overrides: Sequence[str]) -> StudyPlan:
    """Survey and models as a session has them, with limits and addresses; no such session is
    held.
    """
    writer, reader = recipe.writer, recipe.reader
    models = [reader] if writer == TEMPLATE else list(dict.fromkeys([writer, reader]))
    seats = [f"group.models=[{','.join(models)}]", "group.size=2"]
    fixed = [f"topic={topic.id}", *seats, "treatment=none"]
    if not any(override.startswith("survey=") for override in overrides):
        fixed.append(f"survey={instrument_of(topic, None, Library()).id}")
    given = {override.partition("=")[0] for override in overrides} - {"topic"}
    fixed = [setting for setting in fixed if setting.partition("=")[0] not in given]
    planned = plan([*fixed, *overrides])
    first = next(iter(planned.session.models.values()))
    if writer != TEMPLATE and first["kind"] == "citizen":
        raise refused("writer_rule_based", writer=writer, template=TEMPLATE)
    return planned


async def _written_and_read(
    planned: StudyPlan, recipe: Recipe, clusters: Clusters, file: Path, notify: Notify
) -> tuple[list[str], list[ProfileCheck]]:
    """Profiles and what a reader finds in them, from the record or asked for now."""
    session = planned.session
    topic, survey = session.topic, session.survey
    models = {name: {**own, "structured": False} for name, own in session.models.items()}
    calls = PlannedCalls(f"the profiles of {topic.id}", models, _longest(session))
    pool = await proven_pool([calls], planned.limits, planned.addresses, notify=notify)
    population = session.seed_for("population")
    try:
        with closing(ExchangeRecord(file, planned.limits.durable)) as record:
            # Writer and reader are the first and the last of the models, whatever their presets
            # call them.
            asked = []
            for name, settings in session.models.items():
                asked.append(record.before(pool.model(name, settings, population)))
            writer = None if recipe.writer == TEMPLATE else asked[0]
            profiles = await write_profiles(topic, survey, clusters, writer)
            return profiles, await read_profiles(topic, survey, clusters, profiles, asked[-1])
    finally:
        await pool.close()


def _longest(session: Session) -> Prompt:
    """The longest prompt: that of the reader of a long profile."""
    return reading_question(session.topic, 0, session.survey, 0, "profile " * LONGEST).prompt()


def _origin(
    recipe: Recipe,
    survey: Survey,
    clusters: Clusters,
    readings: Sequence[ProfileCheck],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """How a set came about: everything needed to build it again, and to judge it."""
    found = []
    for cluster in range(len(clusters.sizes)):
        own = departures(clusters, survey, cluster)
        found.append([{"item": one.item, "z": round(one.z, 3)} for one in own])
    return {
        "topic": recipe.topic,
        "items": recipe.items,
        "writer": recipe.writer,
        "reader": recipe.reader,
        "survey": survey.id,
        "k": len(clusters.sizes),
        "seed": clusters.seed,
        "answers_sha256": clusters.answers,
        "versions": dict(clusters.versions),
        "warnings": [*clusters.warnings, *warnings],
        "departures": found,
        "check": [_check(reading) for reading in readings],
        "participants": list(clusters.participants),
        "labels": [label + 1 for label in clusters.labels],
        "clustered": list(clusters.items),
        "centroids": _rounded(clusters.centroids),
        "answered": [item.id for item in (*survey.considerations, *survey.preferences)],
        "means": _rounded(clusters.means),
    }


def _check(reading: ProfileCheck) -> dict[str, Any]:
    """A reading as plain values."""
    plain: dict[str, Any] = {
        "r": _number(reading.r),
        "rho": _number(reading.rho),
        "recognised": reading.recognised,
    }
    if reading.reason:
        plain["reason"] = reading.reason
    return plain


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)


def _rounded(rows: np.ndarray) -> list[list[float]]:
    """A table of numbers with four decimals."""
    table = []
    for row in rows:
        table.append([round(float(value), 4) for value in row])
    return table


def profile_question(topic: Topic, clustering: int, cluster: int, departures: str) -> Question:
    """Write the profile of a cluster by its departures, one a line."""
    form = Words(LONGEST)
    question = block("topic", topic.question.strip())
    parts = [question, block("statements", departures), _WORDS["order"], form.describe()]
    messages = (Message("system", _WORDS["task"]), Message("user", "\n\n".join(parts)))
    return _question(clustering, Prompt(messages, form, Purpose(_named(cluster), "profile")))


def reading_question(
    topic: Topic, clustering: int, survey: Survey, cluster: int, profile: str
) -> Question:
    """Answer the survey from a profile alone; the reader is not told the cluster."""
    form = SurveyAnswers(survey)
    parts = [
        block("topic", topic.question.strip()),
        block("you", "the person of the portrait"),
        block("persona", profile),
        _WORDS["answer"],
        items_block("considerations", survey.considerations),
        items_block("preferences", survey.preferences),
        form.describe(),
    ]
    messages = (Message("system", _WORDS["reader"]), Message("user", "\n\n".join(parts)))
    return _question(clustering, Prompt(messages, form, Purpose(_named(cluster), "reading")))


def _question(clustering: int, prompt: Prompt) -> Question:
    """A question with seeds from what is asked: another prompt is another call. `clustering` is the
    seed of the clusters.
    """

    def seed(asked: Prompt) -> int:
        purpose = asked.purpose
        names = (purpose.participant, purpose.occasion, purpose.attempt, asked.text)
        return seed_of("personas", clustering, *names)

    def again(fault: str) -> str:
        return _WORDS["again"].format(fault=fault)

    return Question(prompt.purpose.participant, lambda: prompt, seed, again, REASKS)


def _named(cluster: int) -> str:
    """The name of a cluster, counted from 0; its name counts from 1."""
    return f"cluster {cluster + 1}"
