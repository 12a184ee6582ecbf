"""From overrides to planned sessions and their study; configuration goes no lower than here."""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from delibsim.domain.errors import NotImported, WrongInput, told_once, unknown
from delibsim.domain.run import Session
from delibsim.domain.study import cross, label_of
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.domain.treatment import Procedure, Treatment, Wording
from delibsim.models.clients.settings import check_address, check_settings
from delibsim.models.limits import Limits
from delibsim.planning import debates
from delibsim.planning.overrides import FIXED, Job, Sweep, read
from delibsim.planning.presets import GROUPS, Presets, laid_over, leaves
from delibsim.planning.seats import GroupConfig, PersonaConfig, SessionContext, seated
from delibsim.store.editions import FIRST, NOW
from delibsim.store.instruments.library import Library
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

Kind = TypeVar("Kind")
UNLABELLED = ("topic", "replicate", "study", "runs", "seed", "base_url", "limits", *debates.PLACED)
"""Settings that stand in a session's name already, or are none of the session's."""
OPERATION = ("name", "kind", "model", "base_url", "key_env", "timeout", "strict", "price")
"""Settings of a model that are its identity, or only how it is reached."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1)
    kind: str


class _Config(_Strict):
    treatment: dict[str, Any]
    model: _Model
    group: GroupConfig
    persona: PersonaConfig
    wording: dict[str, Any]
    procedure: dict[str, Any]
    limits: dict[str, Any]
    study: str | int | None
    topic: str
    survey: str | None
    format: str
    motion: str | None
    proposition: str | None
    opposition: str | None
    audience: int = Field(ge=0, le=1000)
    tournament: debates.Tournament
    rounds: int | None = Field(ge=0, le=1000)
    temperature: float | None = Field(ge=0, allow_inf_nan=False)
    debate: debates.Sampling
    base_url: str | None
    replicate: int = Field(ge=1)
    seed: int = Field(ge=0)
    runs: str


@dataclass(frozen=True)
class Plan:
    """The sessions of a command, their study and its folder, and what the study is to keep fixed
    (see store/manifest.py).

    `repeated` counts combinations that are no session of their own, such as more rounds where
    nobody speaks. `limits` and `addresses` (the base_url of models by name) are for this process
    and recorded nowhere.
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
    """The session that `delibsim run` with the same overrides would hold, such as "topic=acp",
    "group.size=7".

    Raises WrongInput, with the closest names, for anything that does not exist or cannot be.
    """
    return plan(overrides, home).session


def plan(
    overrides: Sequence[str], home: Path | None = None, sweep: bool = False, edition: str = NOW
) -> Plan:
    """The sessions and their study, from overrides and the files beside the user and in the
    package.

    Of a sweep, every combination that cannot be is named before anything is begun. A study that has
    begun keeps its `edition` of presets and prompts, whatever is asked for here.
    """
    composer = _Composer(home or Path.cwd(), edition)
    asked, base = (
        read(overrides, composer.presets, composer.topics, sweep),
        composer.presets.config(),
    )
    if (begun := _edition(asked, base, composer)) != edition:
        return plan(overrides, home, sweep, begun)
    asked = debates.drawn(asked, sweep, base, composer.library)
    cells, faults = [], []
    for job in asked.jobs:
        try:
            cells.append(composer.cell(job))
        except WrongInput as error:
            if not sweep:
                raise
            faults.append((job, error))
    if faults:
        raise WrongInput(_impossible(faults, len(asked.jobs)))
    sessions = {cell.session.id: cell.session for cell in cells}
    for cell in cells:
        if sessions[cell.session.id] != cell.session:
            raise WrongInput(
                f"two different sessions would be named {cell.session.id}; give what differs a name"
                " of its own"
            )
    parts: dict[str, dict[str, Any]] = {}
    addresses: dict[str, str] = {}
    for cell in cells:
        addresses |= cell.addresses
        for kind, named in cell.parts.items():
            parts.setdefault(kind, {}).update(named)
    config = cells[0].config
    settings = {"seed": config.seed}
    study = config.study if config.study is not None else asked.experiment
    if study == "":
        if sweep:
            raise WrongInput(
                "a sweep needs a name, under which it goes on and can be enlarged: study=NAME"
            )
        study = f"{cells[0].session.id.removesuffix('.r1')}_{_digest([settings, parts])[:8]}"
    limits = _built(Limits, "limits", config.limits)
    root = composer.home / config.runs
    manifest = Manifest(str(study), settings, parts, tuple(sessions), edition=edition)
    return Plan(
        tuple(sessions.values()),
        root,
        manifest,
        limits,
        addresses,
        asked,
        len(cells) - len(sessions),
    )


def _edition(asked: Sweep, base: Mapping[str, Any], composer: "_Composer") -> str:
    """The edition of the study that is named, or of this composer where it has not begun."""
    values = {**base, **(asked.jobs[0].values if asked.jobs else {})}
    study = values["study"] if values["study"] is not None else asked.experiment
    runs = Runs(composer.home / str(values["runs"]), str(study))
    return runs.edition() if study != "" and runs.manifest() is not None else composer.edition


@dataclass(frozen=True)
class _Cell:
    """One combination: its session, and the parts it is made of, by kind and name."""

    config: _Config
    session: Session
    parts: Mapping[str, Mapping[str, Any]]
    addresses: Mapping[str, str]


class _Composer:
    """Makes sessions from presets, topics and surveys, each of which is read once."""

    def __init__(self, home: Path, edition: str = NOW) -> None:
        self.home, self.edition = home, edition
        self.presets, self.library = Presets(home, edition), Library(home, edition)
        self._read: dict[tuple[str, str], tuple[Any, str]] = {}
        self._preset: dict[
            tuple[tuple[str, str], ...], tuple[dict[str, Any], set[str], dict[str, Any]]
        ] = {}

    def topics(self) -> list[str]:
        """The ids of all topics that have a survey to deliberate on."""
        return [id for id in self.library.topics() if isinstance(self._of("entry", id)[0], Topic)]

    def cell(self, job: Job) -> _Cell:
        """One session; WrongInput if it cannot be."""
        plain = self._config(job)
        config = _validated(plain)
        topic, survey, digests = self._subject(config)
        if config.persona.topic not in (None, topic.id):
            raise WrongInput(
                f"the personas '{config.persona.name}' are those of the topic"
                f" {config.persona.topic}, not of {topic.id}"
            )
        treatment = _built(Treatment, "treatment", config.treatment)
        rounds = (
            config.rounds if treatment.interaction and config.rounds != treatment.rounds else None
        )
        models, addresses = self._models(config, job)
        own = {
            "rounds": rounds,
            "survey": (
                config.survey
                if config.format != "debate" and survey.id != (topic.survey or topic.id)
                else None
            ),
        }
        unlike = self._unlike(leaves(plain) | own, job)
        place = SessionContext(topic, survey, config.replicate, config.seed, self.home)
        if config.format == "debate":
            seats = debates.seats(models, config.audience, config.persona, label_of(unlike))
        else:
            seats = seated(config.group, config.persona, models, place, label_of(unlike))
        try:
            (session,) = cross(
                topics=[(topic, survey)],
                treatments=[
                    treatment if rounds is None else dataclasses.replace(treatment, rounds=rounds)
                ],
                groups=[seats.group],
                wording=_built(Wording, "wording", config.wording),
                replicates=[config.replicate],
                seed=config.seed,
                procedure=_built(Procedure, "procedure", config.procedure),
                format=config.format,
            )
        except WrongInput:
            raise
        except ValueError as error:
            raise WrongInput(str(error)) from None
        if self.edition != FIRST and any(person.persona for person in session.participants):
            session = dataclasses.replace(session, personas=str(seats.personas["name"]))
        # What is off is left out, so that a version with more of it to offer finds the study
        # unchanged.
        stated = [(key, debates.stated(value)) for key, value in config.procedure.items()]
        procedure = {key: value for key, value in stated if value is not None}
        named = {
            "topics": {topic.id: digests[0]},
            "surveys": {survey.id: digests[1]},
            "treatments": {treatment.name: config.treatment},
            "wordings": {session.wording.id: config.wording},
            "personas": {config.persona.name: seats.personas},
            "procedures": {job.choices.get("procedure", "default"): procedure},
            "models": {
                model["name"]: {k: v for k, v in model.items() if k != "temperature"}
                for model in models
            },
        }
        parts = {kind: _told_apart(kind, own, unlike) for kind, own in named.items()}
        return _Cell(
            config,
            session,
            parts | ({"groups": {session.id: seats.drawn}} if seats.drawn else {}),
            addresses,
        )

    def _subject(self, config: _Config) -> tuple[Topic, Survey, tuple[str, str]]:
        """What a session is about and the survey that goes with it, each with the hash of its
        content.
        """
        if config.format == "debate":
            motion = debates.motion_of(config.motion, self.library)
            # Whether a tournament takes it is no part of what is debated.
            said = {"id": motion.id, "text": motion.text, "theme": motion.theme}
            return motion.topic, motion.survey, (_digest(said), _digest(motion.survey))
        topic, topic_digest = self._of("topic", config.topic)
        survey, survey_digest = self._of("survey", config.survey or topic.survey or topic.id)
        return topic, survey, (topic_digest, survey_digest)

    def _of(self, kind: str, name: str) -> tuple[Any, str]:
        """A topic or survey, and the hash of its content."""
        if (kind, name) not in self._read:
            found = getattr(self.library, kind)(name)
            self._read[kind, name] = found, _digest(found)
        return self._read[kind, name]

    def _chosen(
        self, choices: Mapping[str, str]
    ) -> tuple[dict[str, Any], set[str], dict[str, Any]]:
        """The configuration of a choice, every key of it, and its leaves."""
        key = tuple(choices.items())
        if key not in self._preset:
            config = self.presets.config(choices)
            self._preset[key] = config, set(leaves(config, whole=True)), leaves(config)
        return self._preset[key]

    def _config(self, job: Job) -> dict[str, Any]:
        """The configuration of a job; WrongInput for a setting there is not."""
        preset, known, _ = self._chosen(job.choices)
        seated = job.values.get("group.models")
        for name in [*(seated if isinstance(seated, list) else []), *debates.sides(job)]:
            known = known | self._chosen({**job.choices, "model": str(name)})[1]
        for key in job.values:
            if key not in known and key not in job.added:
                meant = {k for k in known if "texts" not in k and not k.startswith("debate.")}
                listed = {k for k in meant if ("." in k) == ("." in key)}
                raise unknown("setting", key, listed, self.presets.advice(), meant)
        return laid_over(preset, job.values)

    def _models(self, config: _Config, job: Job) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """The settings of the models seated in turn, and their real addresses; several are read
        from their presets one by one.
        """
        presets = [config.model.model_dump()]
        if config.group.models is not None:
            if len(config.group.models) > config.group.size:
                raise WrongInput(
                    f"group.models names {len(config.group.models)} models for {config.group.size}"
                    " seats"
                )
            if "model" in job.choices:
                raise WrongInput(
                    "group.models seats the models, so model= would have no effect; leave one of"
                    " the two out"
                )
        if (
            seated := (
                debates.voices(config, job) if config.format == "debate" else config.group.models
            )
        ) is not None:
            named = [{**job.choices, "model": name} for name in seated]
            presets = [_validated(self._own(choices, job)).model.model_dump() for choices in named]
        settings, addresses = [], {}
        for preset in presets:
            model = {**preset, "temperature": config.temperature}
            if config.format == "debate" and (
                "model.max_tokens" not in job.values or "max_tokens" not in preset
            ):
                model = debates.bounded(model, config.debate)
            check_settings(str(model["name"]), model)
            # Where a model is reached is no part of what is studied: a server may move, and an
            # address may hold a secret.
            address = config.base_url or model.pop("base_url", None)
            model.pop("base_url", None)
            if address and model["kind"] != "citizen":
                check_address(str(model["name"]), model, str(address))
                addresses[model["name"]] = str(address)
            settings.append(model)
        return settings, addresses

    def _own(self, choices: Mapping[str, str], job: Job) -> dict[str, Any]:
        """The configuration with one of several models: settings of models that this one does not
        have pass it by.
        """
        preset, known, _ = self._chosen(choices)
        values = {
            key: v
            for key, v in job.values.items()
            if not key.startswith("model.") or key in known or key in job.added
        }
        return laid_over(preset, values)

    def _unlike(self, ours: Mapping[str, Any], job: Job) -> dict[str, Any]:
        """What tells this session from one of the presets with the same topic, treatment and
        models: dotted key and value.

        It depends on what the session is and not on how it was asked for, so that a study can be
        enlarged by another command.
        """
        like = self._chosen(
            {key: choice for key, choice in job.choices.items() if key not in ("group", "limits")}
        )[2]
        usual = debates.PRESETS if job.values.get("format") == "debate" else {}
        if job.values.get("format") == "debate":
            like = {**like, "temperature": like["debate.temperature"]}
        plain = self._chosen({})[2]
        unlike: dict[str, Any] = {}
        for group in ("persona", "wording", "procedure"):
            name = next(
                (ours[key] for key in (f"{group}.name", f"{group}.id") if key in ours),
                job.choices.get(group),
            )
            if name is not None and name not in (
                plain.get(f"{group}.name"),
                plain.get(f"{group}.id"),
                "default",
                usual.get(group),
            ):
                unlike[group] = name
        for key, value in ours.items():
            group, _, leaf = key.partition(".")
            told = (
                group in UNLABELLED
                or key == "group.models"
                or leaf in ("name", "id")
                or (group == "model" and leaf in OPERATION)
            )
            if not told and value != like.get(key):
                unlike[key] = value
        return unlike


def _told_apart(kind: str, parts: Mapping[str, Any], unlike: Mapping[str, Any]) -> dict[str, Any]:
    """Parts by name; where something in them differs from its preset, the name says so."""
    group = kind.removesuffix("s")
    own = {
        key.partition(".")[2]: value for key, value in unlike.items() if key.startswith(f"{group}.")
    }
    return {name + (f" ({label_of(own)})" if own else ""): part for name, part in parts.items()}


def _impossible(faults: Sequence[tuple[Job, WrongInput]], n: int) -> str:
    """What cannot be, each fault once with its first combination; what to import, once for all."""
    befallen: dict[str, list[str]] = {}
    for job, fault in faults:
        if isinstance(fault, NotImported):
            continue
        named = {
            key: value for key, value in {**job.choices, **job.values}.items() if key not in FIXED
        }
        cell = ", ".join(f"{key}={value}" for key, value in named.items())
        befallen.setdefault(str(fault), []).append(cell)
    lacking = [fault for _, fault in faults if isinstance(fault, NotImported)]
    lines = [f"  {said}" for said in told_once(lacking)]
    for fault, cells in list(befallen.items())[:10]:
        others = f" (and {len(cells) - 1} more)" if len(cells) > 1 else ""
        lines.append(f"  {cells[0]}{others}: {fault}")
    more = f"\n  and {len(befallen) - 10} other faults" if len(befallen) > 10 else ""
    return (
        f"{len(faults)} of {n} combinations cannot be held, so nothing was begun:\n"
        + "\n".join(lines)
        + more
    )


_adapter = functools.cache(TypeAdapter)


def _built(kind: type[Kind], group: str, values: Mapping[str, Any]) -> Kind:
    """One of the domain's types from a group of the configuration; WrongInput for a field it has
    not, or a wrong value.
    """
    fields = [field.name for field in dataclasses.fields(kind)]  # ty: ignore[invalid-argument-type]
    for name in values:
        if name not in fields:
            raise unknown(f"field of {group}", name, fields)
    try:
        return _adapter(kind).validate_python(dict(values))
    except ValidationError as error:
        named = values.get("name", values.get("id"))
        place = f"it stands in conf/{group}/ or at the command line"
        raise WrongInput(
            f"{group}{'' if named is None else f' {named!r}'}: {_first(error)}; {place}"
        ) from None


def _validated(plain: Mapping[str, Any]) -> _Config:
    try:
        return _Config.model_validate(plain)
    except ValidationError as error:
        group = error.errors()[0]["loc"][0]
        if group in GROUPS and not isinstance(plain[group], dict):
            raise WrongInput(
                f"the {group} that is chosen holds no settings by name; it stands in conf/{group}/"
            ) from None
        named = plain[group].get("name") if group in GROUPS else None
        raise WrongInput(
            _first(error) + (f"; '{named}' stands in conf/{group}/" if named else "")
        ) from None


def _digest(value: Any) -> str:
    plain = TypeAdapter(Any).dump_python(value, mode="json")
    return hashlib.sha256(
        json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"]) or "configuration"
    if first["type"] == "value_error":  # our own words, said of the whole
        return str(first["ctx"]["error"])
    found = "" if first["type"] == "missing" else f", found {first['input']!r}"
    return f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}{found}"
