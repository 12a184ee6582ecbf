"""What the files of a study say of how it was held; its methods in sentences, and the checklist of
reporting.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.mixed_subjects import held_by_people
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
from delibsim.domain.conversation import IMPORTED, KINDS_OF_PEOPLE
from delibsim.domain.cost import Money
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import MEASURES
from delibsim.domain.text import counted
from delibsim.models.ask import format_in
from delibsim.store.files import each_line, read_lines
from delibsim.store.manifest import Manifest
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs

SECTION = re.compile(r"^## \d+\. Primary outcome$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([a-z_]+)`")
LONGEST = 40
"""Logs that are read for one model, at most, to find a call of it."""


@dataclass(frozen=True)
class StudyModel:
    """A model of a study: the settings requested, who answered, and what was sent with a call.

    `settings` are those of its preset; `returned` the names under which it answered; `sent` the
    parameters of one recorded call, `dropped` those of them that were left out there; `since` when
    it was first seen to answer, "" where that is not recorded.
    """

    name: str
    settings: Mapping[str, Any]
    returned: Sequence[str] = ()
    sent: Mapping[str, Any] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    since: str = ""

    @property
    def embedded(self) -> bool:
        """Whether it is a citizen of the null model, and no language model."""
        return self.settings.get("kind") == "citizen"

    @property
    def people(self) -> bool:
        """Whether it is a seat for people, and no model."""
        return self.settings.get("kind") in KINDS_OF_PEOPLE


@dataclass(frozen=True)
class StudyRecord:
    """What is recorded of a study: its manifest, its models, and where the files lie.

    `questions` are those of the topics, by id. `money` is what all its calls cost, None where that
    was not read. `preregistered` names the plan beside the study, ""
    if there is none; `primary` is the measure that it names as the outcome that decides, "" where
    it names none.
    """

    manifest: Manifest
    models: Sequence[StudyModel]
    folder: str
    preregistered: str = ""
    primary: str = ""
    questions: Mapping[str, str] = field(default_factory=dict)
    money: Money | None = None

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions that the study began with."""
        return dict(self.manifest.begun.get("versions", {}))

    @property
    def seed(self) -> Any:
        """The seed of the study, None where it is not recorded."""
        return self.manifest.settings.get("seed")

    def components(self, kind: str) -> dict[str, Any]:
        """The components of one kind, by name."""
        return dict(self.manifest.components.get(kind, {}))


def record_of(runs: Runs) -> StudyRecord | None:
    """The record of a study; None where it has no study.json."""
    manifest = runs.manifest()
    if manifest is None:
        return None
    returned: dict[str, list[str]] = {}
    since: dict[str, str] = {}
    for line in read_lines(runs.folder / "fingerprints.jsonl")[0]:
        returned.setdefault(str(line.get("model")), []).append(str(line.get("model_returned")))
        since.setdefault(str(line.get("model")), str(line.get("started") or ""))
    settings = manifest.components.get("models", {})
    calls = _a_call_of_each(runs, manifest.sessions or runs.sessions(), list(settings))
    models = []
    for name, own in settings.items():
        call = calls.get(name, {})
        completion = call.get("completion", {})
        answered = returned.get(name, [])
        if not answered and completion.get("model_returned"):
            answered = [str(completion["model_returned"])]
        asked = StudyModel(
            name=name,
            settings=own,
            returned=tuple(dict.fromkeys(answered)),
            sent=dict(completion.get("parameters_sent") or {}),
            dropped=tuple(completion.get("parameters_dropped") or ()),
            since=since.get(name) or str(call.get("started") or ""),
        )
        models.append(asked)
    record = StudyRecord(manifest, models, str(runs.folder), questions=_questions(runs))
    plan = runs.folder / "preregistration.md"
    if not plan.is_file():
        return record
    primary = primary_outcome(plan.read_text(encoding="utf-8", errors="replace"))
    return replace(record, preregistered=plan.name, primary=primary)


def _questions(runs: Runs) -> dict[str, str]:
    """The question of each topic, from one plan of each; the name of a session begins with it."""
    first: dict[str, str] = {}
    for name in runs.sessions():
        first.setdefault(name.partition(".")[0], name)
    found = {}
    for name in first.values():
        with suppress(WrongInput):  # a damaged plan is told where runs are counted
            topic = runs.planned(name).topic
            found[topic.id] = getattr(topic, "question", "")
    return found


def primary_outcome(plan: str) -> str:
    r"""The measure that a plan names first under "Primary outcome", in backticks; "" where none.

    >>> primary_outcome("## 2. Primary outcome\n\nThe change of `dri_adjusted`.\n\n## 3. Design")
    'dri_adjusted'
    >>> primary_outcome("## 2. Primary outcome\n\n**[FILL IN: such as `dri`]**\n\n## 3.")
    ''
    """
    section = SECTION.search(plan)
    if section is None or "[FILL IN" in section[1]:
        return ""
    named = [name for name in CODE.findall(section[1]) if name in MEASURES]
    return named[0] if named else ""


def _a_call_of_each(
    runs: Runs, sessions: Sequence[str], models: Sequence[str]
) -> dict[str, Mapping[str, Any]]:
    """A recorded call of each model that was asked, from the logs of the sessions named after it.

    Reading every log of a large study would take minutes; the name of a session holds its models.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for model in models:
        named = [name for name in sessions if model in name]
        for session in (named or list(sessions))[:LONGEST]:
            for _, line in each_line(runs.path(session) / "exchanges.jsonl"):
                if line is not None and line.get("model") == model:
                    found[model] = line
                    break
            if model in found:
                break
    return found


ANALYSED_WITH = ("delibsim", "numpy", "scipy", "pandas", "statsmodels")
PARAMETERS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
"""Settings of a model that are named in the methods, where they are stated."""


@cache
def texts() -> dict[str, Any]:
    """The sentences of methods and checklist, from data/methods.yaml."""
    return read_yaml(Path(__file__).parents[2] / "data" / "methods.yaml")


def methods(study: StudyTable, draws: DrawCounts, record: StudyRecord | None) -> list[str]:
    """The paragraphs of the methods; less where a study comes as a table alone."""
    paragraphs = [_design(study)]
    if record is None:
        paragraphs.append(texts()["not_recorded"])
    else:
        paragraphs += [_procedure(study, record), _models(record), _software(record)]
    test = "flipping the signs of all differences of a draw" if study.paired else "permuting labels"
    versions = ", ".join(f"{name} {own}" for name, own in versions_now().items())
    alone = _levels(study, "treatment") < 2 and _levels(study, "setting") < 2
    said = texts()["alone" if alone else "analysis"]
    analysis = said.format(**vars(draws), test=test, versions=versions)
    return [*paragraphs, analysis]


def versions_now() -> dict[str, str]:
    """The versions of what analysed the study."""
    found = {}
    for name in ANALYSED_WITH:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _design(study: StudyTable) -> str:
    """The factors, their levels, and how often."""
    rows = study.rows
    parts, product = [], 1
    for column, many in (("topic", "topics"), ("model", "set-ups"), ("treatment", "treatments")):
        levels = list(map(str, rows[column].drop_duplicates()))
        named = f" ({', '.join(levels)})" if len(levels) <= 12 else ""
        parts.append(f"{len(levels)} {_one(many, len(levels))}{named}")
    settings = [one for one in rows["setting"].drop_duplicates() if one]
    if settings:
        parts.append(f"{len(settings)} further settings ({'; '.join(map(str, settings[:8]))})")
    replicates = _levels(study, "replicate")
    for column in ("topic", "model", "treatment", "setting", "replicate"):
        product *= max(1, _levels(study, column))
    parts.append(f"{replicates} {_one('replicates', replicates)}")
    return (
        texts()["design"]
        .format(
            crosses="crosses" if product == len(rows) else "has",
            factors="; ".join(parts),
            sessions=counted(len(rows), "session"),
            pairs=texts()["pairs"][_pairs(study)],
        )
        .strip()
    )


def _pairs(study: StudyTable) -> str:
    """How sessions under several treatments belong together, by its code."""
    if _levels(study, "treatment") < 2:
        return "one"
    if not study.paired:
        return "apart"
    if _with_people(study) or held_by_people(study.rows).all():
        return "people"
    return "paired" if knows_seeds(study.rows) else "unknown"


def _levels(study: StudyTable, column: str) -> int:
    return study.rows[column].nunique()


def _one(many: str, n: int) -> str:
    return many.removesuffix("s") if n == 1 else many


def _procedure(study: StudyTable, record: StudyRecord) -> str:
    """What a session was: survey, speech, survey; wording and procedure by name."""
    if _who_was_asked(record) == "imported":
        return texts()["imported"].format(names=", ".join(record.components("treatments")))
    treatments = []
    for name, own in record.components("treatments").items():
        spoken = _speech(study, name) if own.get("interaction") else "no speech"
        treatments.append(f"{name} ({spoken})")
    personas = [name for name in record.components("personas") if name != "none"]
    said = f"Personas: {', '.join(personas)}." if personas else "No personas were given."
    waves = texts()["waves"] if "phases" in study.rows.columns else ""
    return texts()["procedure"].format(
        surveyed=texts()["debated" if _debated(study) else "surveyed"].format(waves=waves),
        treatments="; ".join(treatments),
        wordings=", ".join(record.components("wordings")),
        procedures=", ".join(record.components("procedures")),
        personas=said,
        seed=record.seed,
    )


def _speech(study: StudyTable, treatment: str) -> str:
    """The rounds that sessions of a treatment had: a study may set others than its treatment."""
    rows = study.rows[study.rows["treatment"] == treatment]
    known = rows["rounds"].dropna() if "rounds" in rows.columns else rows.iloc[:0]["treatment"]
    levels = sorted({int(rounds) for rounds in known})
    if not levels:
        return "rounds of speech not known"
    named = ", ".join(map(str, levels[:-1]))
    listed = f"{named} or {levels[-1]}" if named else str(levels[-1])
    return f"{listed} {'round' if levels == [1] else 'rounds'} of speech"


def _models(record: StudyRecord) -> str:
    """Models requested and returned, and what was sent."""
    if all(model.embedded for model in record.models):
        names = ", ".join(model.name for model in record.models)
        return texts()["citizens"].format(names=names)
    return "Models: " + " ".join(map(model_in_words, record.models))


def model_in_words(model: StudyModel) -> str:
    """One model: what was requested, who answered, what was sent."""
    requested = str(model.settings.get("model") or model.settings.get("kind") or model.name)
    said = f"{model.name}: requested {requested}"
    if model.people:
        said = _access(model).removesuffix(".")
    if model.returned:
        said += f", answered as {', '.join(model.returned)}"
    elif not (model.embedded or model.people):
        said += ", under which name it answered is not recorded"
    sent = _parameters(model.sent)
    stated = _parameters(model.settings)
    if sent:
        said += f"; sent with a recorded call: {sent}"
    elif stated:
        said += f"; stated in its preset: {stated}"
    if "temperature" not in model.sent and model.sent:
        said += "; no temperature was sent"
    if format_in(model.settings):
        said += "; replies other than free text were asked for in JSON, by a schema"
    if model.dropped:
        said += f"; requested and not taken by the provider: {', '.join(model.dropped)}"
    return said + "."


def _parameters(settings: Mapping[str, Any]) -> str:
    named = [(name, settings[name]) for name in PARAMETERS if settings.get(name) is not None]
    return ", ".join(f"{name} {value}" for name, value in named)


def _software(record: StudyRecord) -> str:
    """When and with what the study was held, and what was added since."""
    begun = record.manifest.begun
    at = begun.get("at", "an unknown time")
    said = f"The study began at {at} with {_versions(record) or 'versions that are not recorded'}."
    for name, commit in begun.get("commit", {}).items():
        said += f" Commit of {name}: {commit}."
    for change in record.manifest.amendments:
        said += f" At {change.get('at')}, sessions were added: {change.get('sessions')}."
    return said


def _versions(record: StudyRecord) -> str:
    return ", ".join(f"{name} {own}" for name, own in record.versions.items())


def models_one_by_one(record: StudyRecord | None) -> list[Entry]:
    """An entry a model: version, date, parameters sent and dropped; none of a table alone."""
    said, entries = texts()["models"], []
    for model in record.models if record is not None else ():
        since = said["since" if model.since else "since_unknown"].format(since=model.since)
        told = said["of_one"].format(words=model_in_words(model), since=since)
        entries.append(Entry(model.name, told))
    return entries


OPEN = "OPEN "
"""What begins an item of GUIDE-LLM that only its author can fill in."""


def _guide(study: StudyTable, record: StudyRecord | None, values: Mapping[str, Any]) -> list[Entry]:
    """The fourteen items of GUIDE-LLM, each filled in from the record or open with its reason."""
    entries, known = [], {}
    if record is not None:
        asked, held = _who_was_asked(record), _with_people(study)
        sessions = counted(len(study.rows), "session")
        parameters = []
        for model in record.models:
            sent = _parameters(model.sent) or _parameters(model.settings) or "none sent"
            dropped = f" (dropped: {', '.join(model.dropped)})" if model.dropped else ""
            parameters.append(f"{model.name}: {sent}{dropped}.")
        drawn = [name for name in record.components("personas") if name != "none"]
        known = dict(values) | {
            "format": "debate" if _debated(study) else "deliberation",
            "with_people": f"{held:,} of the {sessions}" if held else "some sessions",
            "sessions": sessions,
            "access": " ".join(map(_access, record.models)),
            "parameters": " ".join(parameters),
            "personas": f"Personas: {', '.join(drawn)}." if drawn else "No personas were given.",
            "delibsim": record.versions.get("delibsim", "of an unknown version"),
        }
    for term, own in texts()["guide"].items():
        if record is None:
            entries.append(Entry(term, texts()["checklist"]["not_in_table"], open=True))
            continue
        said = own.get(asked) or own.get("all") or own["people"]
        still = said.startswith(OPEN)
        entries.append(Entry(term, said.removeprefix(OPEN).format(**known), open=still))
    return entries


def _who_was_asked(record: StudyRecord) -> str:
    """Whom a study asked, as the items of GUIDE-LLM tell it apart."""
    if all(model.embedded for model in record.models):
        return "citizens"
    if all(model.settings.get("kind") == IMPORTED for model in record.models):
        return "imported"
    if all(model.people for model in record.models):
        return "persons"
    if not any(model.people for model in record.models):
        return "models"
    others = [model for model in record.models if not model.people]
    return "beside_citizens" if all(model.embedded for model in others) else "people"


def _with_people(study: StudyTable) -> int:
    """In how many sessions people had seats, as far as the table says it."""
    if "people_seats" not in study.rows.columns:
        return 0
    return int((study.rows["people_seats"] > 0).fillna(False).sum())


def _debated(study: StudyTable) -> bool:
    """Whether all sessions are debates."""
    return "format" in study.rows.columns and bool((study.rows["format"] == "debate").all())


def _access(model: StudyModel) -> str:
    """How a model was reached."""
    ways, host = texts()["access"], str(model.settings.get("model") or "").partition("/")[0]
    if model.people or model.embedded:
        own = IMPORTED if model.settings.get("kind") == IMPORTED else "person"
        return ways[own if model.people else "citizen"].format(name=model.name)
    kind = "server" if model.settings.get("base_url") else "hosted"
    return ways[kind].format(name=model.name, host=host or "its provider")


def checklist(
    study: StudyTable, record: StudyRecord | None, runs: Mapping[str, int]
) -> list[Entry]:
    """The items of GUIDE-LLM, then what else a reader must be told of the study, each with its
    place or as still to be written.
    """
    listed = texts()["checklist"]
    values: dict[str, Any] = {"counts": ", ".join(f"{n:,} {what}" for what, n in runs.items())}
    terms = dict(listed["of_all"])
    if record is not None:
        changed = len(record.manifest.amendments)
        listed_in = f"{changed}, listed in study.json and in the methods."
        values |= {
            "models": " ".join(map(model_in_words, record.models)),
            "begun": record.manifest.begun.get("at", "unknown"),
            "versions": _versions(record) or "not recorded",
            "seed": record.seed,
            "surveys": ", ".join(record.components("surveys")) or "none",
            "changes": listed_in if changed else "None.",
        }
        terms |= listed["recorded"]
    entries = _guide(study, record, values)
    entries += [Entry(term, said.format(**values)) for term, said in terms.items()]
    if record is None:
        entries += [Entry(term, listed["not_in_table"], open=True) for term in listed["lost"]]
    elif record.preregistered:
        entries.append(Entry("Preregistration", listed["plan"].format(plan=record.preregistered)))
    else:
        entries.append(Entry("Preregistration", listed["no_plan"], open=True))
    authors = listed["of_authors"].items()
    return [*entries, *(Entry(term, said, open=True) for term, said in authors)]
