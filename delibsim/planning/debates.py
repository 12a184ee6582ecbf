"""Debates in the configuration: which settings a debate takes, how its sides are seated, and how a
tournament becomes debates.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.participant import SIDES, Participant
from delibsim.domain.rules import DEMANDS
from delibsim.domain.run import Session
from delibsim.domain.study import Group
from delibsim.domain.topic import Motion, Topic
from delibsim.domain.tournament import DESIGNS, Match, against_baseline, lopsided, round_robin
from delibsim.models.clients.settings import KINDS
from delibsim.planning.overrides import Job, Sweep
from delibsim.planning.presets import FOR_DEBATES
from delibsim.planning.seats import PersonaConfig, Seated
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

PRESETS = {group: FOR_DEBATES[group][0] for group in ("treatment", "wording", "procedure")}
"""The options a debate takes where none is named."""
PLACED = ("format", "motion", "proposition", "opposition", "tournament")
"""Settings of a debate that stand in its name already."""
MEANINGLESS = {
    "topic": "a debate is about a motion: motion=voting",
    "survey": "the survey of a debate is the stance on its motion",
    "rounds": "a debate has three rounds: opening, rebuttal and closing",
    "group": "a debate has two sides; to have listeners, set audience=N",
    "group.size": "a debate has two sides; to have listeners, set audience=N",
    "group.diversity": "the sides of a debate are named, not drawn",
    "group.models": (
        "a debate names its models by side, proposition=NAME opposition=NAME; model=NAME voices the"
        " audience"
    ),
}
"""Settings of a deliberation that say nothing about a debate, and what to set instead."""


class Tournament(BaseModel):
    """Who debates whom: a design, its debaters (or a baseline and its challengers), motions,
    meetings of each pair.
    """

    model_config = ConfigDict(extra="forbid")
    design: str | None
    debaters: list[str]
    baseline: str | None
    motions: list[str] | None
    meetings: int | None = Field(strict=True)


class Sampling(BaseModel):
    """What models are asked for in a debate unless the command line says otherwise; None is not
    sent.
    """

    model_config = ConfigDict(extra="forbid")
    temperature: float | None = Field(ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(ge=1, strict=True)


def drawn(asked: Sweep, sweep: bool, base: Mapping[str, Any], library: Library) -> Sweep:
    """What was asked for, with the options of a debate where it is one, and every tournament drawn
    as its debates.

    `base` is the configuration without any override.
    """
    jobs: list[Job] = []
    usual = {"temperature": base["debate"]["temperature"]}
    for job in asked.jobs:
        _refuse_defaults(job)
        if job.values.get("format") != "debate":
            jobs.append(job)
            continue
        for key in (*job.values, *job.choices):
            if key in MEANINGLESS:
                raise WrongInput(f"'{key}' has no effect on a debate: {MEANINGLESS[key]}")
        job = replace(job, choices=PRESETS | dict(job.choices), values=usual | dict(job.values))
        own = {
            key.partition(".")[2]: value
            for key, value in job.values.items()
            if key.startswith("tournament.")
        }
        known = {key: value for key, value in own.items() if key in base["tournament"]}
        plan = _checked({**base["tournament"], **known})
        if plan.design is None:
            jobs.append(job)
            continue
        if "replicate" in job.values:
            raise WrongInput(
                "a tournament counts its own replicates: tournament.meetings=N says how often a"
                " pair meets"
            )
        if not sweep:
            raise WrongInput(
                "a tournament holds many debates: delibsim run -m format=debate"
                " tournament.design=..."
            )
        named = job.values.get("seed", base["seed"])
        seed = named if isinstance(named, int) else base["seed"]
        jobs += [_job(job, match) for match in _matches(plan, seed, library)]
    return replace(asked, jobs=tuple(jobs))


def _refuse_defaults(job: Job) -> None:
    for key in job.values:
        if key.partition(".")[0] == "debate":
            advice = "at the command line a debate takes temperature=X and model.max_tokens=N"
            raise WrongInput(f"'{key}' stands in conf/debate/default.yaml; {advice}")


def bounded(model: Mapping[str, Any], sampling: Sampling) -> dict[str, Any]:
    """The settings of a model in a debate, with its max_tokens where it is hosted.

    Other kinds have no such setting. Raises WrongInput where the model is told to think with more
    tokens than that.
    """
    if sampling.max_tokens is None or model.get("kind") not in KINDS:
        return dict(model)
    extra = model.get("extra")
    thinking = extra.get("thinking") if isinstance(extra, Mapping) else None
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    if isinstance(budget, int) and budget >= sampling.max_tokens:
        more = model.get("max_tokens") or 2 * budget
        raise WrongInput(
            f"model '{model['name']}' is to think with up to {budget} tokens, and a debate allows "
            f"{sampling.max_tokens} for thinking and speech together: set model.max_tokens={more}, "
            "or a smaller model.extra.thinking.budget_tokens"
        )
    return {**model, "max_tokens": sampling.max_tokens}


def stated(setting: Any) -> Any:
    """A setting of the procedure as a study keeps it: demands that are off are left out."""
    if not isinstance(setting, Mapping):
        return setting
    off = [name for name in DEMANDS if setting.get(name) is False]
    return {name: value for name, value in setting.items() if name not in off}


def _checked(plain: Mapping[str, Any]) -> Tournament:
    try:
        return Tournament.model_validate(plain)
    except ValidationError as error:
        first = error.errors()[0]
        raise WrongInput(
            f"tournament.{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}, found"
            f" {first['input']!r}"
        ) from None


def _matches(plan: Tournament, seed: int, library: Library) -> tuple[Match, ...]:
    motions = plan.motions if plan.motions is not None else _taken_by_default(library)
    if plan.design == "round_robin":
        return round_robin(plan.debaters, motions, plan.meetings, seed)
    if plan.design == "against_baseline":
        if plan.baseline is None:
            raise WrongInput("a tournament against a baseline needs one: tournament.baseline=NAME")
        return against_baseline(plan.baseline, plan.debaters, motions, plan.meetings, seed)
    raise unknown("design of a tournament", str(plan.design), DESIGNS)


def _motions(library: Library) -> list[str]:
    return [id for id in library.topics() if isinstance(library.entry(id), Motion)]


def _taken_by_default(library: Library) -> list[str]:
    """The motions of a tournament that names none."""
    found = {id: library.entry(id) for id in _motions(library)}
    return [id for id, motion in found.items() if isinstance(motion, Motion) and motion.tournament]


def _job(job: Job, match: Match) -> Job:
    placed = {
        "motion": match.motion,
        "proposition": match.proposition,
        "opposition": match.opposition,
        "replicate": match.replicate,
    }
    return replace(job, values={**job.values, **placed})


def motion_of(id: str | None, library: Library) -> Motion:
    """The motion of a debate; WrongInput if none was named, or there is none of that id."""
    if id is None:
        raise WrongInput(
            f"a debate needs a motion: motion=NAME. There are: {', '.join(_motions(library))}"
        )
    found = library.entry(id)
    if isinstance(found, Topic):
        raise WrongInput(
            f"'{id}' is a topic to deliberate on, not a motion; motions are listed by: delibsim"
            " topics"
        )
    return found


def sides(job: Job) -> list[str]:
    """The models named for the sides of a debate."""
    return [str(job.values[side]) for side in SIDES if job.values.get(side) is not None]


def voices(config: Any, job: Job) -> list[str]:
    """The models of a debate: the proposition's, the opposition's, and the one named for everybody
    else.
    """
    own = job.choices.get("model", config.model.name)
    return [config.proposition or own, config.opposition or own, own]


def seats(
    debaters: Sequence[Mapping[str, Any]], audience: int, persona: PersonaConfig, unlike: str
) -> Seated:
    """The two sides in order, then so many listeners, voiced by the third model; personas are dealt
    out in that order, in turn.
    """
    if persona.people is not None or persona.seating != "in_turn":
        raise WrongInput(
            f"the personas '{persona.name}' are drawn from people's answers, which they gave to"
            " surveys and not on motions"
        )
    texts = persona.personas or [""]
    names = [(side.capitalize(), side) for side in SIDES] + [
        (f"Listener {i + 1}", "audience") for i in range(audience)
    ]
    people = tuple(
        Participant(name, texts[i % len(texts)], debaters[min(i, 2)]["name"], role)
        for i, (name, role) in enumerate(names)
    )
    used = debaters if audience else debaters[:2]
    label = "-v-".join(m["name"] for m in debaters[:2]) + (f"_{unlike}" if unlike else "")
    return Seated(
        Group(label, people, {m["name"]: m for m in used}),
        {"name": persona.name, "personas": persona.personas},
        {},
    )


def enlarged(sessions: Sequence[Session], runs: Runs) -> str:
    """What is not balanced once these debates join those that a study has beside them; "" if
    nothing is, or it has no others.
    """
    own = {session.id for session in sessions}
    others = []
    for name in runs.sessions() if runs.folder.is_dir() else ():
        with suppress(WrongInput):  # a plan that cannot be read is told of elsewhere
            others += [runs.planned(name)] if name not in own else []
    if not any(session.format == "debate" for session in others):
        return ""
    debates = [session for session in (*others, *sessions) if session.format == "debate"]
    sides = [{p.role: p.model for p in session.participants} for session in debates]
    return lopsided(
        [
            Match(s.topic.id, d["proposition"], d["opposition"], s.replicate)
            for s, d in zip(debates, sides, strict=True)
        ]
    )
