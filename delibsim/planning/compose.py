"""From settings to the planned sessions of a study: one job of Hydra's becomes one session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.errors import NotImported, WrongInput, each_of, told_once
from delibsim.domain.run import Session
from delibsim.domain.shared import shared
from delibsim.models.limits import Limits
from delibsim.planning.cell import Cell, Composer, digest
from delibsim.planning.config import OF_THE_STUDY, built
from delibsim.planning.overrides import Job, Sweep, read
from delibsim.planning.tournaments import drawn
from delibsim.store.manifest import Manifest

SHOWN = 10
"""How many different faults of a sweep are listed."""
UNNAMED = "unnamed"
"""What the name of a sweep begins with that has none."""
REPEATED = "{} combinations are the same session as another, such as more rounds without speech."
"""What a command says of `Plan.repeated`."""


@dataclass(frozen=True)
class Plan:
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
) -> Plan:
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
    settings = {"seed": config.seed}
    more = [list(sessions)] if sweep else []
    study = config.study if config.study is not None else asked.experiment
    if study == "":
        if sweep and named:
            raise WrongInput(
                "a sweep needs a name, under which it goes on and can be enlarged: study=NAME"
            )
        first = cells.first.session.id.removesuffix(".r1")
        study = f"{UNNAMED if sweep else first}_{digest([settings, parts, *more])[:8]}"
    return Plan(
        sessions=tuple(sessions.values()),
        root=composer.home / config.runs,
        manifest=Manifest(str(study), settings, parts, tuple(sessions)),
        limits=built(Limits, "limits", config.limits),
        addresses=cells.addresses,
        sweep=asked,
        repeated=len(asked.jobs) - len(sessions),
    )


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
                raise WrongInput(
                    f"the presets '{first}' and '{preset}' are two models with one name: both files"
                    f" in conf/model/ say name: {name}, and they would be taken for one; write"
                    f" name: {preset} in the file of '{preset}'"
                )
    if cells is None or faults:
        raise WrongInput(_impossible(faults, impossible, len(jobs)))
    if cells.clashes:
        raise WrongInput(
            f"two different sessions would be named {cells.clashes[0]}; give what differs a name of"
            " its own"
        )
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
