"""The judgments of summaries of a study on disk: one folder a task, one judgment a line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.judgment import DIMENSIONS, Judgment, Sitting
from delibsim.domain.reason import reason_from_text
from delibsim.domain.text import counted
from delibsim.store.answers import Answers
from delibsim.store.files import each_line, json_text, write_atomically
from delibsim.store.reading import read_json
from delibsim.store.records import first_of_each

OPINIONS = "opinions.json"
"""The file of a task that holds what people wrote before they judged, by the id of the opinion."""
PREFIX = "judge-"
"""What the names of the tasks of judges begin with."""


@dataclass(frozen=True)
class Judgments(Answers[Judgment]):
    """The judgments of one task of a study."""

    prefix = PREFIX
    called = "judgments"
    many = "sets of judgments"
    command = "delibsim judge ask"

    def opinions_of_people(self) -> dict[str, str]:
        """The opinions that people wrote before they judged, by id."""
        file = self.files.folder / OPINIONS
        return read_json(file) if file.is_file() else {}

    def keep_opinions(self, opinions: Mapping[str, str]) -> None:
        """Keep opinions beside those that were written before, in order of their ids."""
        kept = dict(sorted({**self.opinions_of_people(), **opinions}.items()))
        text = json_text(kept, indent=1)
        write_atomically(self.files.folder / OPINIONS, text, self.files.durable)

    def _read(self, file: Path, faults: list[str] | None) -> list[Judgment]:
        """The judgments in a file, each of them once."""
        found, damaged = [], 0
        for _, line in each_line(file):
            try:
                found.append(_judgment(line or {}))
            except (KeyError, TypeError, ValueError):
                damaged += 1
        if damaged and faults is not None:
            faults.append(f"{file}: {counted(damaged, 'damaged line')}")
        return first_of_each(found, file, faults)

    def _plain(self, answer: Judgment) -> Mapping[str, Any]:
        """A judgment as one line: flat, and without what says nothing."""
        sitting = answer.sitting
        plain: dict[str, Any] = {"judge": answer.judge, "summary": sitting.summary}
        plain |= {"opinion": sitting.opinion, "other": sitting.other, "control": sitting.control}
        plain |= {**answer.values, "first": answer.first}
        plain["missing"] = "" if answer.reason is None else str(answer.reason)
        return {name: value for name, value in plain.items() if value not in ("", False)}


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
