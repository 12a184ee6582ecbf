"""From one job to one session, its name, and the parts that its study keeps of it."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.domain.consensus import ConsensusRule
from delibsim.domain.errors import Several, WrongInput, refused
from delibsim.domain.phases import Facilitator, Witness
from delibsim.domain.run import Session
from delibsim.domain.study import cross
from delibsim.domain.survey import Survey, Topic
from delibsim.domain.treatment import Procedure, Treatment, Wording, is_said
from delibsim.planning import debates
from delibsim.planning.config import OF_A_DEBATE, OF_THE_STUDY, Config, built, validated
from delibsim.planning.model_settings import (
    ChosenPresets,
    leaves,
    mediator_settings,
    model_settings,
)
from delibsim.planning.overrides import Job
from delibsim.planning.presets import WORDED, Presets
from delibsim.planning.seats import Seated, SessionContext, seated
from delibsim.store.instruments.library import Library, briefing_of
from delibsim.store.reading import adapter


@dataclass(frozen=True)
class Cell:
    """One combination: its session, the parts it is made of by kind and name, and addresses."""

    config: Config
    session: Session
    parts: Mapping[str, Mapping[str, Any]]
    addresses: Mapping[str, str]


@dataclass(frozen=True)
class _Subject:
    """What a session is about and the survey that goes with it, each with its hash."""

    topic: Topic
    survey: Survey
    topic_digest: str
    survey_digest: str


class Composer:
    """Makes sessions from presets, topics and surveys, each of which is read once."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.presets, self.library = Presets(home), Library(home)
        self._chosen = ChosenPresets(self.presets)
        self._read: dict[tuple[str, str], tuple[Any, str]] = {}

    def topics(self) -> list[str]:
        """The ids of all topics that have a survey to deliberate on."""
        ids = self.library.topics()
        return [id for id in ids if isinstance(self._entry("entry", id)[0], Topic)]

    @property
    def chosen(self) -> ChosenPresets:
        """The configuration of every combination of options."""
        return self._chosen

    def configured(self, job: Job) -> dict[str, Any]:
        """The configuration of a job as plain values; WrongInput for an unknown setting."""
        return self._chosen.config(self._worded(job))

    def cell(self, job: Job) -> Cell:
        """One session and its parts; WrongInput if it cannot be."""
        job = self._worded(job)
        try:
            plain = self._chosen.config(job)
            config = validated(plain)
        except WrongInput as error:
            raise Several.of([error, *self._faults_of_files(job)]) from None
        subject = self._subject(config)
        treatment = built(Treatment, "treatment", config.treatment)
        rounds = _own_rounds(config, treatment)
        if rounds is not None:
            treatment = replace(treatment, rounds=rounds)
        models, addresses = model_settings(config, job, self._chosen)
        own = {"rounds": rounds, "survey": _own_survey(config, subject)}
        own["briefing"] = Path(config.briefing).stem if config.briefing else None
        if isinstance(phases := config.procedure.get("phases"), list):
            own["procedure.phases"] = "-".join(map(str, phases))
        differing = self._differences(leaves(plain) | own, job)
        seats = self._seats(config, subject, models, label_of(differing))
        session = self._session(config, subject, treatment, seats)
        if config.consensus.get("method") != "none":
            session = _with(session, consensus=self._rule(config, job, addresses))
        if session.procedure.facilitation is not None:
            session = _with(session, facilitator=self._facilitator(config, job, addresses))
        if config.group.witnesses:
            session = _with(session, witnesses=self._witnesses(config, job, addresses))
        if config.briefing is not None:
            session = _with(session, briefing=briefing_of(self.home / config.briefing))
        named = {
            "topics": {subject.topic.id: subject.topic_digest},
            "surveys": {subject.survey.id: subject.survey_digest},
            "treatments": {treatment.name: config.treatment},
            "wordings": {session.wording.id: config.wording},
            "personas": {config.persona.name: seats.personas},
            "procedures": {job.choices.get("procedure", "default"): _kept_procedure(config)},
            "models": {model["name"]: _without_temperature(model) for model in models},
        }
        if session.facilitator is not None:
            named["facilitators"] = {session.facilitator.name: config.facilitator}
        if session.witnesses:
            named["witnesses"] = {one.name: asdict(one) for one in session.witnesses}
        if session.briefing is not None:
            named["briefings"] = {session.briefing.name: asdict(session.briefing)}
        if session.consensus is not None:
            named["collective_statements"] = {session.consensus.name: config.consensus}
        parts = {kind: label_parts(kind, own, differing) for kind, own in named.items()}
        if seats.drawn:
            parts["groups"] = {session.id: seats.drawn}
        return Cell(config, session, parts, addresses)

    def _worded(self, job: Job) -> Job:
        """The job with the wording that goes with its procedure, if it names no other."""
        wording = self._wording_of(job)
        if wording is None:
            return job
        return replace(job, choices={"wording": wording} | dict(job.choices))

    def _wording_of(self, job: Job) -> str | None:
        """The wording that goes with the procedure of a job; None where it has none of its own."""
        return WORDED.get(job.choices.get("procedure", ""))

    def _subject(self, config: Config) -> _Subject:
        """Topic and survey; WrongInput where the personas are those of another topic."""
        if config.is_debate:
            motion = debates.motion_of(config.motion, self.library)
            # Whether a tournament takes a motion is no part of what is debated.
            debated = {"id": motion.id, "text": motion.text, "theme": motion.theme}
            found = _Subject(motion.topic, motion.survey, digest(debated), digest(motion.survey))
        else:
            if faults := self._faults_of_subject(config.topic, config.survey):
                raise Several.of(faults)
            topic, topic_digest = self._entry("topic", config.topic)
            name = config.survey or topic.survey or topic.id
            survey, survey_digest = self._entry("survey", name)
            found = _Subject(topic, survey, topic_digest, survey_digest)
        if config.persona.topic not in (None, found.topic.id):
            raise refused(
                "personas_of_another_topic",
                named=config.persona.name,
                topic=config.persona.topic,
                id=found.topic.id,
            )
        return found

    def _faults_of_files(self, job: Job) -> list[WrongInput]:
        """What is wrong with the files that a job names, each looked at by itself."""
        faults = []
        for group, name in job.choices.items():
            try:
                self._chosen.of({group: name})
            except WrongInput as error:
                faults.append(error)
        if job.is_debate or not isinstance(job.values.get("topic", ""), str):
            return faults
        defaults = self._chosen.of({}).config
        topic = job.values.get("topic", defaults["topic"])
        survey = job.values.get("survey", defaults["survey"])
        return faults + self._faults_of_subject(topic, survey)

    def _faults_of_subject(self, topic: str, survey: str | None) -> list[WrongInput]:
        """What is wrong with the files of a topic and of its survey, or of the one named."""
        faults = []
        try:
            found = self._entry("topic", topic)[0]
            survey = survey or found.survey or found.id
        except WrongInput as error:
            faults.append(error)
            if topic in self.library.topics() and topic in self.library.surveys():
                survey = survey or topic
        if survey:
            try:
                self._entry("survey", survey)
            except WrongInput as error:
                faults.append(error)
        return faults

    def _entry(self, kind: str, name: str) -> tuple[Any, str]:
        """A topic or survey, and the hash of its content."""
        if (kind, name) not in self._read:
            found = getattr(self.library, kind)(name)
            self._read[kind, name] = found, digest(found)
        return self._read[kind, name]

    def _differences(self, settings: Mapping[str, Any], job: Job) -> dict[str, Any]:
        """The settings that tell a session from one of its presets."""
        choices = dict(job.choices)
        for group in ("group", "limits"):
            choices.pop(group, None)
        presets, usual = self._chosen.of(choices).leaves, {}
        if job.is_debate:
            presets = {**presets, "temperature": presets["debate.temperature"]}
            usual = {group: ("default", own) for group, own in debates.PRESETS.items()}
        elif (wording := self._wording_of(job)) is not None:
            usual = {"wording": (wording,)}
        defaults = self._chosen.of({}).leaves
        return differences(settings, presets, defaults, job.choices, usual)

    def _seats(
        self, config: Config, subject: _Subject, models: list[dict[str, Any]], label: str
    ) -> Seated:
        """The participants of a session and their models."""
        if config.is_debate:
            return debates.seats(models, config.audience, config.persona, label)
        context = SessionContext(
            subject.topic, subject.survey, config.replicate, config.seed, self.home
        )
        return seated(config.group, config.persona, models, context, label)

    def _rule(self, config: Config, job: Job, addresses: dict[str, str]) -> ConsensusRule:
        """How the group seeks a statement of its own, with the settings of its mediator."""
        settings = {**config.consensus, "mediator": config.consensus.get("mediator") or ""}
        rule = built(ConsensusRule, "consensus", settings)
        return replace(rule, model=self._of_its_own(rule.mediator, config, job, addresses))

    def _facilitator(self, config: Config, job: Job, addresses: dict[str, str]) -> Facilitator:
        """Who facilitates, with the settings of its model."""
        name = config.group.facilitator or ""
        found = built(Facilitator, "facilitator", {**config.facilitator, "model": name})
        return replace(found, settings=self._of_its_own(name, config, job, addresses))

    def _witnesses(
        self, config: Config, job: Job, addresses: dict[str, str]
    ) -> tuple[Witness, ...]:
        """Who is heard, each with the settings of its model."""
        found = []
        for name in config.group.witnesses:
            given = self.presets.values("witness", name)
            one = built(Witness, "witness", {**given, "model": given.get("model") or ""})
            settings = self._of_its_own(one.model, config, job, addresses)
            found.append(replace(one, settings=settings))
        return tuple(found)

    def _of_its_own(
        self, name: str, config: Config, job: Job, addresses: dict[str, str]
    ) -> dict[str, Any]:
        """The settings of a model by which no participant speaks; {} for one of the group."""
        if not name or name in (config.group.models or [config.model.name]):
            return {}
        model, address = mediator_settings(name, config, job, self._chosen)
        if address:
            addresses[name] = address
        return model

    def _session(
        self, config: Config, subject: _Subject, treatment: Treatment, seats: Seated
    ) -> Session:
        """The session itself; WrongInput where its parts do not go together."""
        try:
            (session,) = cross(
                topics=[(subject.topic, subject.survey)],
                treatments=[treatment],
                groups=[seats.group],
                wording=built(Wording, "wording", config.wording),
                replicates=[config.replicate],
                seed=config.seed,
                procedure=built(Procedure, "procedure", config.procedure),
                format=config.format,
            )
        except WrongInput:
            raise
        except ValueError as error:
            raise WrongInput(str(error)) from None
        if any(person.persona for person in session.participants):
            return replace(session, personas=str(seats.personas["name"]))
        return session


def _with(session: Session, **parts: Any) -> Session:
    """A session with a further part; WrongInput where it cannot have it."""
    try:
        return replace(session, **parts)
    except ValueError as error:
        raise WrongInput(str(error)) from None


def digest(value: Any) -> str:
    """SHA-256 of plain values or a dataclass, as JSON with sorted keys."""
    plain = adapter(Any).dump_python(value, mode="json")
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _own_rounds(config: Config, treatment: Treatment) -> int | None:
    """The rounds of a session where they are not those of its treatment; None otherwise."""
    if not treatment.interaction or config.rounds == treatment.rounds:
        return None
    return config.rounds


def _own_survey(config: Config, subject: _Subject) -> str | None:
    """The survey of a deliberation where it is not that of its topic; None otherwise."""
    usual = subject.topic.survey or subject.topic.id
    return None if config.is_debate or subject.survey.id == usual else config.survey


def _kept_procedure(config: Config) -> dict[str, Any]:
    """The procedure as a study keeps it.

    What is off is left out, so that a later version, which can do more, finds the study unchanged.
    """
    kept = {}
    for key, value in config.procedure.items():
        stated = debates.without_demands_off(value)
        if stated is not None and is_said(key, stated):
            kept[key] = stated
    return kept


def _without_temperature(model: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key != "temperature"}


NAMED = ("topic", "replicate")
"""Settings that are parts of a session's name themselves."""
UNLABELLED = (*NAMED, *OF_THE_STUDY, *OF_A_DEBATE)
"""Settings that a label need not give."""
IDENTITY = ("name", "kind", "model", "base_url", "key_env", "timeout", "strict", "price")
"""Settings of a model that identify it, or that only say how it is reached."""
OPTIONS = ("persona", "wording", "procedure", "consensus", "facilitator")
"""Groups whose option stands in the label unless it is the usual one."""


def differences(
    settings: Mapping[str, Any],
    presets: Mapping[str, Any],
    defaults: Mapping[str, Any],
    choices: Mapping[str, str],
    usual: Mapping[str, Collection[str]],
) -> dict[str, Any]:
    """What tells a session from one of its presets with the same topic, treatment and models.

    All settings go by dotted key: those of the session, of its `presets`, and the `defaults`.
    `choices` are the options by group, `usual` the options that its format or its procedure takes
    by default. The result depends on what the session is and not on how it was asked for, so that
    a study can be enlarged by another command.
    """
    found: dict[str, Any] = {}
    for group in OPTIONS:
        name = _option(group, settings, choices)
        default = (defaults.get(f"{group}.name"), defaults.get(f"{group}.id"), "default")
        if name is not None and name not in usual.get(group, default):
            found[group] = name
    for key, value in settings.items():
        if _is_labelled(key) and value != presets.get(key):
            found[key] = value
    return found


def _option(group: str, settings: Mapping[str, Any], choices: Mapping[str, str]) -> Any:
    """The name of the option of a group: its own, or that under which it was chosen."""
    for key in (f"{group}.name", f"{group}.id"):
        if key in settings:
            return settings[key]
    return choices.get(group)


def _is_labelled(key: str) -> bool:
    """Whether a label gives a setting that differs from its preset."""
    group, _, leaf = key.partition(".")
    if group in UNLABELLED or key == "group.models" or leaf in ("name", "id"):
        return False
    return not (group == "model" and leaf in IDENTITY)


def label_of(differing: Mapping[str, Any]) -> str:
    """The part of a session's name that gives the settings in which it differs.

    Settings go by dotted key, of which the label gives the last step.

    >>> label_of({"temperature": 0.7, "procedure.audience.network": "ring"})
    'network-ring_temperature0_7'
    """
    parts = []
    for key, value in differing.items():
        name = key.rpartition(".")[2]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = f"{value:g}".replace(".", "_")
            parts.append(f"{name}{number}")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            parts.append(f"{name}-{text}")
    return "_".join(sorted(parts))


def label_parts(
    kind: str, parts: Mapping[str, Any], differing: Mapping[str, Any]
) -> dict[str, Any]:
    """The parts of a study by name; the name gives the settings that differ from the preset.

    >>> label_parts("models", {"citizen": 1}, {"model.noise": 0.9, "temperature": 0})
    {'citizen (noise0_9)': 1}
    """
    prefix = kind.removesuffix("s") + "."
    own = {}
    for key, value in differing.items():
        if key.startswith(prefix):
            own[key.removeprefix(prefix)] = value
    suffix = f" ({label_of(own)})" if own else ""
    return {f"{name}{suffix}": part for name, part in parts.items()}
