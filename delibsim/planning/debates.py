"""Debates in the configuration: the settings of a debate, the seats of its sides and listeners."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.format import Match, lopsided
from delibsim.domain.participant import AUDIENCE, SIDES, Participant
from delibsim.domain.run import Session
from delibsim.domain.study import Group
from delibsim.domain.survey import Motion
from delibsim.domain.treatment import DEMANDS
from delibsim.models.clients.settings import KINDS
from delibsim.planning.config import Config, PersonaConfig, SamplingConfig
from delibsim.planning.effects import effects_of
from delibsim.planning.overrides import Job
from delibsim.planning.presets import FOR_DEBATES
from delibsim.planning.seats import Seated
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

PRESETS = {group: FOR_DEBATES[group][0] for group in ("treatment", "wording", "procedure")}
"""The options a debate takes where none is named."""
MEANINGLESS: Mapping[str, str] = read_data("settings.yaml")["debate"]
"""Settings of a deliberation that have no meaning in a debate, and what to set instead."""


def refuse_meaningless(job: Job) -> None:
    """WrongInput for a setting of deliberations in a debate."""
    for key in (*job.values, *job.choices):
        if key in MEANINGLESS:
            raise WrongInput(f"'{key}' has no effect on a debate: {MEANINGLESS[key]}")


def refuse_defaults(job: Job) -> None:
    """WrongInput for a default of debates at the command line."""
    for key in job.values:
        if key.partition(".")[0] == "debate":
            raise refused("no_setting_of_debates", key=key)


def bounded(model: Mapping[str, Any], sampling: SamplingConfig) -> dict[str, Any]:
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
        raise refused(
            "too_much_thinking",
            model=model["name"],
            budget=budget,
            max_tokens=sampling.max_tokens,
            more=more,
        )
    return {**model, "max_tokens": sampling.max_tokens}


def without_demands_off(setting: Any) -> Any:
    """A setting of the procedure as a study keeps it: demands that are off are left out."""
    if not isinstance(setting, Mapping):
        return setting
    off = [name for name in DEMANDS if setting.get(name) is False]
    return {name: value for name, value in setting.items() if name not in off}


def motions_of(library: Library) -> list[Motion]:
    """The motions that can be debated, in order of their ids."""
    entries = [library.entry(id) for id in library.topics()]
    return [entry for entry in entries if isinstance(entry, Motion)]


def motion_of(id: str | None, library: Library) -> Motion:
    """The motion of a debate; WrongInput if none was named, or there is none of that id."""
    if id is None:
        known = ", ".join(motion.id for motion in motions_of(library))
        raise WrongInput(f"a debate needs a motion: motion=NAME. There are: {known}")
    return library.motion(id)


def sides(job: Job) -> list[str]:
    """The models named for the sides of a debate."""
    return [str(job.values[side]) for side in SIDES if job.values.get(side) is not None]


def model_names(config: Config, job: Job) -> list[str]:
    """The models of a debate: the proposition's, the opposition's, and that of the listeners."""
    own = job.choices.get("model", config.model.name)
    return [config.proposition or own, config.opposition or own, own]


def seats(
    models: Sequence[Mapping[str, Any]], audience: int, persona: PersonaConfig, label: str
) -> Seated:
    """The two sides in order, then the listeners, who all have the third model.

    Personas are assigned in that order, in turn. `label` gives, in the name of the session, the
    settings in which it differs from others.
    """
    if persona.people is not None or persona.seating != "in_turn":
        raise refused("personas_not_for_motions", named=persona.name)
    texts = persona.personas or [""]
    sides = [(side.capitalize(), side) for side in SIDES]
    listeners = [(f"Listener {i + 1}", AUDIENCE) for i in range(audience)]
    people = []
    for i, (name, role) in enumerate([*sides, *listeners]):
        text = texts[i % len(texts)]
        people.append(Participant(name, text, models[min(i, 2)]["name"], role))
    debaters = "-v-".join(model["name"] for model in models[:2])
    used = models if audience else models[:2]
    group = Group(
        label=f"{debaters}_{label}" if label else debaters,
        participants=tuple(people),
        models={model["name"]: model for model in used},
    )
    return Seated(group, {"name": persona.name, "personas": persona.personas}, {})


def doubts(sessions: Sequence[Session], runs: Runs) -> list[str]:
    """What is doubtful about the sessions of a sweep, in sentences: a tournament that is not
    balanced with what the study holds already, and settings without effect.
    """
    lines = effects_of(sessions).lines()
    if counts := enlarged(sessions, runs):
        text = "with what the study holds already this tournament is not balanced"
        lines.insert(0, f"warning: {text}: {counts}")
    return lines


def enlarged(sessions: Sequence[Session], runs: Runs) -> str:
    """What is unbalanced once these debates join those that a study has already.

    "" if nothing is, or if the study has no other debates.
    """
    own = {session.id for session in sessions}
    others = []
    for name in runs.sessions() if runs.folder.is_dir() else ():
        if name not in own:
            with suppress(WrongInput):  # other commands name a plan that cannot be read
                others.append(runs.planned(name))
    before = _matches(others)
    return lopsided([*before, *_matches(sessions)]) if before else ""


def _matches(sessions: Iterable[Session]) -> list[Match]:
    """The debates among some sessions, as matches of a tournament."""
    found = []
    for session in sessions:
        if session.kind.sides:
            models = {person.role: person.model for person in session.participants}
            sides = (models["proposition"], models["opposition"])
            found.append(Match(session.topic.id, *sides, session.replicate))
    return found
