"""Tournaments in the configuration: one job that asks for a tournament becomes its debates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError

from delibsim.domain.data import read_data
from delibsim.domain.errors import NotImported, WrongInput, each_of, refused, told_once, unknown
from delibsim.domain.format import DESIGNS, Match, against_baseline, round_robin
from delibsim.domain.hosting import PERSON
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.study import shared
from delibsim.models.limits import Limits
from delibsim.planning.cell import Cell, Composer, digest
from delibsim.planning.config import OF_THE_STUDY, Tournament, built
from delibsim.planning.debates import PRESETS, motions_of, refuse_defaults, refuse_meaningless
from delibsim.planning.model_settings import refuse_overwritten
from delibsim.planning.overrides import SEATS, Job, Sweep, read
from delibsim.store.instruments.library import Library
from delibsim.store.manifest import Manifest


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
    return replace(asked, jobs=(*jobs, *_of_people(jobs, sweep, base)))


def _of_people(jobs: Sequence[Job], sweep: bool, base: Mapping[str, Any]) -> Iterator[Job]:
    """The sessions that people hold beside those of models, where a share of them is asked for.

    Each condition has its draw: of its replicates, counted from a drawn place, every 1/share-th. So
    each session has this chance, whatever replicates are asked for.
    """
    known: set[tuple[str, Any]] = set()
    for job in jobs:
        share = job.values.get("people", base["people"])
        if share is None:
            continue
        if not sweep or job.is_debate or not isinstance(share, float) or not 0 < share < 1:
            raise refused("people_no_share")
        seats = {key for key in job.values if key in SEATS or key.startswith("model.")}
        values = {key: value for key, value in job.values.items() if key not in seats}
        choices = {key: value for key, value in job.choices.items() if key != "model"}
        own = {**choices, **values}
        told = own.keys() - {*OF_THE_STUDY, "replicate"}
        condition = " ".join(f"{key}={own[key]}" for key in sorted(told))
        replicate = values.get("replicate", base["replicate"])
        start = Random(seed_of(values.get("seed", base["seed"]), "people", condition)).random()
        drawn = floor(start + replicate * share) > floor(start + (replicate - 1) * share)
        if drawn and (condition, replicate) not in known:
            known.add((condition, replicate))
            yield replace(job, choices=choices | {"model": PERSON}, values=values)


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
        raise refused("tournament_has_no_replicates")
    if not sweep:
        raise refused("tournament_needs_sweep")
    named = job.values.get("seed", base["seed"])
    seed = named if isinstance(named, int) else base["seed"]
    return [_of_match(job, match) for match in _matches(plan, seed, library)]


def _checked(plain: Mapping[str, Any]) -> Tournament:
    try:
        return Tournament.model_validate(plain)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise refused(
            "tournament_setting_wrong", key=key, problem=first["msg"].lower(), value=first["input"]
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


SHOWN = 10
"""How many different faults of a sweep are listed."""
UNNAMED = "unnamed"
"""What the name of a sweep begins with that has none."""
REPEATED = "{} combinations are the same session as another, such as more rounds without speech."
"""What a command says of `Plan.repeated`."""


@dataclass(frozen=True)
class StudyPlan:
    """The sessions of a command, their study and its folder, and what the study keeps fixed.

    store/manifest.py says what that is. `repeated` counts combinations that are no session of their
    own, such as more rounds where nobody speaks. `limits` and `addresses` (the base_url of models
    by name) are for this process and recorded nowhere.
    """

    sessions: tuple[Session, ...]
    root: Path
    manifest: Manifest
    limits: Limits
    addresses: Mapping[str, str]
    sweep: Sweep
    repeated: int = 0

    @property
    def session(self) -> Session:
        """The first session, which is the only one without a sweep."""
        return self.sessions[0]

    @property
    def study(self) -> str:
        """The name of the study."""
        return self.manifest.study


def compose(*overrides: str, home: Path | None = None) -> Session:
    """The session that `delibsim run` with the same overrides would hold.

    Overrides are texts such as "topic=acp", "group.size=7". Raises WrongInput, with the closest
    names, for anything that does not exist or cannot be.
    """
    return plan(overrides, home).session


def plan(
    overrides: Sequence[str],
    home: Path | None = None,
    sweep: bool = False,
    named: bool = True,
) -> StudyPlan:
    """The sessions and their study, from overrides and the files of the user and the package.

    Of a sweep, every combination that cannot be is named before anything is begun. `named`: a sweep
    without a name is refused, as what is held needs one.
    """
    composer = Composer(home or Path.cwd())
    asked = read(overrides, composer.presets, composer.topics, sweep)
    base = composer.presets.config()
    asked = drawn(asked, sweep, base, composer.library)
    cells = _cells(composer, asked.jobs, sweep)
    sessions, parts, config = cells.sessions, cells.parts, cells.first.config
    _refuse_idle(asked.jobs, tuple(sessions.values()))
    settings: dict[str, Any] = {"seed": config.seed}
    if config.people is not None:
        settings["people"] = config.people
    more = [list(sessions)] if sweep else []
    study = config.study if config.study is not None else asked.experiment
    if study == "":
        if sweep and named:
            raise refused("sweep_needs_name")
        first = cells.first.session.id.removesuffix(".r1")
        study = f"{UNNAMED if sweep else first}_{digest([settings, parts, *more])[:8]}"
    return StudyPlan(
        sessions=tuple(sessions.values()),
        root=composer.home / config.runs,
        manifest=Manifest(str(study), settings, parts, tuple(sessions)),
        limits=built(Limits, "limits", config.limits),
        addresses=cells.addresses,
        sweep=replace(asked, jobs=()),  # which the sessions have taken the place of
        repeated=len(asked.jobs) - len(sessions),
    )


IDLE: Mapping[str, tuple[str, str, str]] = read_data("settings.yaml")["idle"]
"""Settings of parts that a session may lack: the part, its noun, and how to have it."""


def _refuse_idle(jobs: Sequence[Job], sessions: Sequence[Session]) -> None:
    """WrongInput for a setting of a part that no session of a command has."""
    for key, (part, noun, advice) in IDLE.items():
        given = any(job.choices.get(key) or job.values.get(key) for job in jobs)
        if given and not any(getattr(session, part) for session in sessions):
            raise WrongInput(f"'{key}' has no effect without {noun}: {advice}")


class _Cells:
    """What is kept of every combination: its session, its parts, its addresses.

    `first` is the first combination, whole. Sessions go by name, parts by kind and name; `clashes`
    are the names that two different sessions would have.
    """

    def __init__(self, first: Cell) -> None:
        self.first = first
        self.clashes: list[str] = []
        self.sessions: dict[str, Session] = {}
        self.parts: dict[str, dict[str, Any]] = {}
        self.addresses: dict[str, str] = {}

    def add(self, cell: Cell) -> None:
        """Keep one."""
        name = cell.session.id
        if name not in self.sessions:
            self.sessions[name] = shared(cell.session)
        elif self.sessions[name] != cell.session:
            self.clashes.append(name)
        for kind, named in cell.parts.items():
            self.parts.setdefault(kind, {}).update(named)
        self.addresses |= cell.addresses


def _cells(composer: Composer, jobs: Sequence[Job], sweep: bool) -> _Cells:
    """Every combination; WrongInput that names all that cannot be."""
    cells: _Cells | None = None
    faults, impossible = [], 0
    asked_at: dict[str, tuple[str, str]] = {}
    for job in jobs:
        try:
            cell = composer.cell(job)
        except WrongInput as error:
            if not sweep:
                raise
            faults += [(job, fault) for fault in each_of(error)]
            impossible += 1
            continue
        cells = cells or _Cells(cell)
        cells.add(cell)
        preset = job.choices.get("model", "")
        for name, address in cell.addresses.items():
            first, known = asked_at.setdefault(name, (preset, address))
            if known != address:
                raise refused("presets_of_one_name", first=first, preset=preset, named=name)
    if cells is None or faults:
        raise WrongInput(_impossible(faults, impossible, len(jobs)))
    if cells.clashes:
        raise refused("two_sessions_one_name", clashes=cells.clashes[0])
    return cells


def _impossible(faults: Sequence[tuple[Job, WrongInput]], impossible: int, n: int) -> str:
    """What cannot be: each fault once with its first combination; once for all, what to import."""
    lacking = [fault for _, fault in faults if isinstance(fault, NotImported)]
    combinations: dict[str, list[str]] = {}
    for job, fault in faults:
        if not isinstance(fault, NotImported):
            combinations.setdefault(str(fault), []).append(_combination(job))
    lines = [f"{impossible} of {n} combinations cannot be held, so nothing was begun:"]
    lines += [f"  {text}" for text in told_once(lacking)]
    for fault, own in list(combinations.items())[:SHOWN]:
        others = f" (and {len(own) - 1} more)" if len(own) > 1 else ""
        lines.append(f"  {own[0]}{others}: {fault}")
    if len(combinations) > SHOWN:
        lines.append(f"  and {len(combinations) - SHOWN} other faults")
    return "\n".join(lines)


def _combination(job: Job) -> str:
    """The settings of a job that sessions of a study may differ in."""
    named = {**job.choices, **job.values}
    return ", ".join(f"{key}={value}" for key, value in named.items() if key not in OF_THE_STUDY)
