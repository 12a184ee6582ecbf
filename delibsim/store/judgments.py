"""The judgments of summaries of a study on disk: one folder a task, one judgment a line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.judgment import DIMENSIONS, Judgment, Sitting
from delibsim.domain.reason import reason_from_text
from delibsim.domain.text import counted, study_named
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.files import each_line, json_text, write_atomically
from delibsim.store.reading import read_json
from delibsim.store.records import first_of_each
from delibsim.store.runs import Runs

OPINIONS = "opinions.json"
"""The file of a task that holds what people wrote before they judged, by the id of the opinion."""
PREFIX = "judge-"
"""What the names of the tasks of judges begin with."""


@dataclass(frozen=True)
class Judgments:
    """The judgments of one task of a study."""

    files: TaskFolder

    @classmethod
    def of(cls, runs: Runs, name: str) -> "Judgments":
        """Those of this name, whether they were begun or not."""
        return cls(TaskFolder.of(runs, f"{PREFIX}{name}"))

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.files.folder.name.removeprefix(PREFIX)

    def all(self, faults: list[str] | None = None) -> list[Judgment]:
        """Every judgment of models that can be read, in the order in which they came; damaged lines
        are left out and told in `faults`.
        """
        return _read(self.files.annotations, faults)

    def of_people(self, faults: list[str] | None = None) -> list[Judgment]:
        """Every judgment of people that can be read."""
        return _read(self.files.people, faults)

    def opinions_of_people(self) -> dict[str, str]:
        """The opinions that people wrote before they judged, by id."""
        file = self.files.folder / OPINIONS
        return read_json(file) if file.is_file() else {}

    def keep_opinions(self, opinions: Mapping[str, str]) -> None:
        """Keep opinions beside those that were written before, in order of their ids."""
        kept = dict(sorted({**self.opinions_of_people(), **opinions}.items()))
        text = json_text(kept, indent=1)
        write_atomically(self.files.folder / OPINIONS, text, self.files.durable)

    def add(self, judgments: Iterable[Judgment], people: bool = False) -> None:
        """Keep judgments."""
        file = self.files.people if people else self.files.annotations
        self.files.add(file, map(_plain, judgments))


def _read(file: Path, faults: list[str] | None) -> list[Judgment]:
    found, damaged = [], 0
    for _, line in each_line(file):
        try:
            found.append(_judgment(line or {}))
        except (KeyError, TypeError, ValueError):
            damaged += 1
    if damaged and faults is not None:
        faults.append(f"{file}: {counted(damaged, 'damaged line')}")
    return first_of_each(found, file, faults)


def _judgment(line: Mapping[str, Any]) -> Judgment:
    """The judgment of a line; KeyError, TypeError or ValueError where it is none.

    By hand and not by pydantic: there may be hundreds of thousands.
    """
    values = {}
    for name in DIMENSIONS:
        value = line.get(name)
        if value is not None:
            if type(value) is not int:
                raise TypeError(name)
            values[name] = value
    control = line.get("control", False)
    words = [line["summary"], line["opinion"], line.get("other", ""), line["judge"]]
    words.append(line.get("first", ""))
    if set(map(type, words)) != {str} or type(control) is not bool:
        raise TypeError("a name is no text")
    said = line.get("missing")
    reason = None if said is None else reason_from_text(said)
    sitting = Sitting(words[0], words[1], words[2], control)
    return Judgment(sitting, words[3], values, reason, words[4])


def _plain(one: Judgment) -> dict[str, Any]:
    """A judgment as one line: flat, and without what says nothing."""
    sitting = one.sitting
    plain: dict[str, Any] = {"judge": one.judge, "summary": sitting.summary}
    plain |= {"opinion": sitting.opinion, "other": sitting.other, "control": sitting.control}
    plain |= {**one.values, "first": one.first}
    plain["missing"] = "" if one.reason is None else str(one.reason)
    return {name: value for name, value in plain.items() if value not in ("", False)}


def judgments_of(runs: Runs) -> list[str]:
    """The names of the tasks of judges of a study that have begun."""
    return [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]


def judgments_begun(runs: Runs, name: str = "") -> Judgments:
    """The judgments that are named, or the only ones of a study; WrongInput where there are none or
    several.
    """
    known, study = judgments_of(runs), study_named(runs.study)
    if not known:
        raise WrongInput(f"{study} has no judgments; give: delibsim judge ask {runs.study}")
    if name and name not in known:
        raise unknown(f"judgments of {study}", name, known)
    if not name and len(known) > 1:
        raise WrongInput(f"{study} has several sets of judgments; name one: name={known[0]}")
    return Judgments.of(runs, name or known[0])
