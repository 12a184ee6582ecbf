"""Tournaments in the configuration: one job that asks for a tournament becomes its debates."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.tournament import DESIGNS, Match, against_baseline, round_robin
from delibsim.planning.config import Tournament
from delibsim.planning.debates import PRESETS, motions_of, refuse_defaults, refuse_meaningless
from delibsim.planning.model_settings import refuse_overwritten
from delibsim.planning.overrides import Job, Sweep
from delibsim.store.instruments.library import Library


def drawn(asked: Sweep, sweep: bool, base: Mapping[str, Any], library: Library) -> Sweep:
    """The same sweep, with the usual options of its debates, and every tournament drawn.

    `base` is the configuration without any override.
    """
    jobs: list[Job] = []
    for job in asked.jobs:
        refuse_defaults(job)
        refuse_overwritten(job)
        if job.is_debate:
            jobs += _debates(_with_usual(job, base), sweep, base, library)
        else:
            jobs.append(job)
    return replace(asked, jobs=tuple(jobs))


def _with_usual(job: Job, base: Mapping[str, Any]) -> Job:
    """A debate with the usual options and temperature where it names no others."""
    refuse_meaningless(job)
    usual = {"temperature": base["debate"]["temperature"]}
    return replace(job, choices=PRESETS | dict(job.choices), values=usual | dict(job.values))


def _debates(job: Job, sweep: bool, base: Mapping[str, Any], library: Library) -> list[Job]:
    """The debates of a tournament; the job itself where it is one debate."""
    settings = dict(base["tournament"])
    for key in base["tournament"]:
        if f"tournament.{key}" in job.values:
            settings[key] = job.values[f"tournament.{key}"]
    plan = _checked(settings)
    if plan.design is None:
        return [job]
    if "replicate" in job.values:
        raise WrongInput(
            "a tournament counts its own replicates: tournament.meetings=N says how often a pair"
            " meets"
        )
    if not sweep:
        raise WrongInput(
            "a tournament holds many debates: delibsim run -m format=debate tournament.design=..."
        )
    named = job.values.get("seed", base["seed"])
    seed = named if isinstance(named, int) else base["seed"]
    return [_of_match(job, match) for match in _matches(plan, seed, library)]


def _checked(plain: Mapping[str, Any]) -> Tournament:
    try:
        return Tournament.model_validate(plain)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise WrongInput(
            f"tournament.{key}: {first['msg'].lower()}, found {first['input']!r}"
        ) from None


def _matches(plan: Tournament, seed: int, library: Library) -> tuple[Match, ...]:
    """The debates of a tournament, drawn by the seed."""
    motions = plan.motions
    if motions is None:
        motions = [motion.id for motion in motions_of(library) if motion.tournament]
    if plan.design == "round_robin":
        return round_robin(plan.debaters, motions, plan.meetings, seed)
    if plan.design == "against_baseline":
        if plan.baseline is None:
            raise WrongInput("a tournament against a baseline needs one: tournament.baseline=NAME")
        return against_baseline(plan.baseline, plan.debaters, motions, plan.meetings, seed)
    raise unknown("design of a tournament", str(plan.design), DESIGNS)


def _of_match(job: Job, match: Match) -> Job:
    """The job of one debate of a tournament."""
    values = {
        **job.values,
        "motion": match.motion,
        "proposition": match.proposition,
        "opposition": match.opposition,
        "replicate": match.replicate,
    }
    return replace(job, values=values)
