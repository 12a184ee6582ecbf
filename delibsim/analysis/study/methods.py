"""What the files of a study say of how it was held; its methods in sentences, and the checklist of
reporting.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd
import yaml

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.mixed_subjects import held_by_people
from delibsim.analysis.study.outcomes import listed
from delibsim.analysis.study.study_table import DESIGN, DrawCounts, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
from delibsim.domain.conversation import IMPORTED, KINDS_OF_PEOPLE
from delibsim.domain.cost import Money
from delibsim.domain.data import filled
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import MEASURES
from delibsim.domain.text import counted
from delibsim.models.ask import format_in
from delibsim.store.files import each_line, json_text, read_lines
from delibsim.store.manifest import Manifest
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
OPEN = "OPEN "
"""What begins an item of GUIDE-LLM that only its author can fill in."""
LOST = "Not recorded in the table that was analysed."


def methods(study: StudyTable, draws: DrawCounts, record: StudyRecord | None) -> list[str]:
    """The paragraphs of the methods; less where a study comes as a table alone."""
    return _told(study, record, draws=draws)["methods"]


def models_one_by_one(study: StudyTable, record: StudyRecord | None) -> list[Entry]:
    """An entry a model: version, date, parameters sent and dropped; none of a table alone."""
    return [Entry(**one) for one in _told(study, record)["models"] or ()]


def checklist(
    study: StudyTable, record: StudyRecord | None, runs: Mapping[str, int]
) -> list[Entry]:
    """The items of GUIDE-LLM, then what else a reader must be told of the study, each with its
    place or as still to be written.
    """
    told, asked, entries = _told(study, record, runs=runs), _who_was_asked(record), []
    for term, own in told["guide"].items():
        said = own.get(asked) or own.get("all") or own["people"]
        said = said if record is not None else OPEN + LOST
        entries.append(Entry(term, said.removeprefix(OPEN), open=said.startswith(OPEN)))
    entries += [Entry(term, said) for term, said in told["of_all"].items()]
    return [*entries, *(Entry(term, said, open=True) for term, said in told["open"].items())]


def _told(
    study: StudyTable,
    record: StudyRecord | None,
    draws: DrawCounts | None = None,
    runs: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What the template of the methods says of a study, by its parts."""
    rows, rounds = study.rows, {}
    spoken = rows.get("rounds", pd.Series(index=rows.index))
    for name, own in spoken.dropna().groupby(rows["treatment"]):
        rounds[name] = [str(n) for n in sorted(set(own.astype(int)))]
    counts = rows[list(DESIGN)].nunique()
    seats = rows.get("people_seats", pd.Series(0, index=rows.index)).fillna(0)
    nouns = {"topic": "topic", "model": "set-up", "treatment": "treatment"}
    known = {
        "factors": {noun: list(rows[name].astype(str).unique()) for name, noun in nouns.items()},
        "settings": list(filter(None, map(str, rows["setting"].unique()))),
        "replicates": counts["replicate"],
        "crosses": counts.clip(lower=1).prod() == len(rows),
        "sessions": counted(len(rows), "session"),
        "with_people": int((seats > 0).sum()),
        "alone": counts["treatment"] < 2 and counts["setting"] < 2,
        "paired": study.paired,
        "debated": "format" in rows and bool((rows["format"] == "debate").all()),
        "waves": "phases" in rows,
        "rounds": defaultdict(list, rounds),
    }
    known |= {"pairs": _pairs(study, known), "asked": _who_was_asked(record)}
    own = record or StudyRecord(Manifest(study.study, {}, {}), (), "")
    known |= {"recorded": record is not None, "record": own, "begun": own.manifest.begun}
    given = {"draws": draws or DrawCounts(), "runs": runs or {}, "analysed_with": versions_now()}
    filters = {"line": _line, "listed": listed, "in_a_format": format_in}
    return yaml.safe_load(filled("methods.yaml.j2", known | given, filters))


def _line(text: str) -> str:
    return json_text(" ".join(text.split()))


def versions_now() -> dict[str, str]:
    """The versions of what analysed the study."""
    found = {}
    for name in ANALYSED_WITH:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _pairs(study: StudyTable, known: Mapping[str, Any]) -> str:
    """How sessions under several treatments belong together, by its code."""
    if len(known["factors"]["treatment"]) < 2:
        return "one"
    if not study.paired:
        return "apart"
    if known["with_people"] or held_by_people(study.rows).all():
        return "people"
    return "paired" if knows_seeds(study.rows) else "unknown"


def _who_was_asked(record: StudyRecord | None) -> str:
    """Whom a study asked, as the items of GUIDE-LLM tell it apart; "" where that is not known."""
    if record is None:
        return ""
    if all(model.embedded for model in record.models):
        return "citizens"
    if all(model.settings.get("kind") == IMPORTED for model in record.models):
        return "imported"
    others = [model for model in record.models if not model.people]
    if not others:
        return "persons"
    if len(others) == len(record.models):
        return "models"
    return "beside_citizens" if all(model.embedded for model in others) else "people"
