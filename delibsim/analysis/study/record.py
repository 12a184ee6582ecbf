"""What the files of a study say of how it was held, for its methods and its checklist."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.measure import MEASURES
from delibsim.store.files import each_line, read_lines
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

SECTION = re.compile(r"^## \d+\. Primary outcome$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([a-z_]+)`")
LONGEST = 40
"""Logs that are read for one model, at most, to find a call of it."""


@dataclass(frozen=True)
class Asked:
    """A model of a study: the settings requested, who answered, and what was sent with a call.

    `settings` are those of its preset; `returned` the names under which it answered; `sent` the
    parameters of one recorded call, `dropped` those of them that were left out there.
    """

    name: str
    settings: Mapping[str, Any]
    returned: Sequence[str] = ()
    sent: Mapping[str, Any] = field(default_factory=dict)
    dropped: Sequence[str] = ()

    @property
    def embedded(self) -> bool:
        """Whether it is a citizen of the null model, and no language model."""
        return self.settings.get("kind") == "citizen"


@dataclass(frozen=True)
class Record:
    """What is recorded of a study: its manifest, its models, and where the files lie.

    `questions` are those of the topics, by id. `preregistered` names the plan beside the study, ""
    if there is none; `primary` is the measure that it names as the outcome that decides, "" where
    it names none.
    """

    manifest: Manifest
    models: Sequence[Asked]
    folder: str
    preregistered: str = ""
    primary: str = ""
    questions: Mapping[str, str] = field(default_factory=dict)

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


def record_of(runs: Runs) -> Record | None:
    """The record of a study; None where it has no study.json."""
    manifest = runs.manifest()
    if manifest is None:
        return None
    returned: dict[str, list[str]] = {}
    for line in read_lines(runs.folder / "fingerprints.jsonl")[0]:
        returned.setdefault(str(line.get("model")), []).append(str(line.get("model_returned")))
    settings = manifest.components.get("models", {})
    calls = _a_call_of_each(runs, manifest.sessions or runs.sessions(), list(settings))
    models = []
    for name, own in settings.items():
        completion = calls.get(name, {})
        answered = returned.get(name, [])
        if not answered and completion.get("model_returned"):
            answered = [str(completion["model_returned"])]
        asked = Asked(
            name=name,
            settings=own,
            returned=tuple(dict.fromkeys(answered)),
            sent=dict(completion.get("parameters_sent") or {}),
            dropped=tuple(completion.get("parameters_dropped") or ()),
        )
        models.append(asked)
    record = Record(manifest, models, str(runs.folder), questions=_questions(runs))
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
                    found[model] = line.get("completion", {})
                    break
            if model in found:
                break
    return found
