"""The summaries of a study and the judgments of them on disk: one folder a task, one a line."""

from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.judgment import Judgment, Sitting
from delibsim.domain.summary import Slot, Summary
from delibsim.store.answers import TaskAnswers
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import read_json


@dataclass(frozen=True)
class Summaries(TaskAnswers[Summary]):
    """The summaries of one task of a study."""

    prefix = "summaries-"
    called = "summaries"
    many = "sets of summaries"
    command = "delibsim summarise ask"
    of_models = Summary
    flat = ("slot", Slot)


OPINIONS = "opinions.json"
"""The file of a task that holds what people wrote before they judged, by the id of the opinion."""


@dataclass(frozen=True)
class Judgments(TaskAnswers[Judgment]):
    """The judgments of one task of a study."""

    prefix = "judge-"
    called = "judgments"
    many = "sets of judgments"
    command = "delibsim judge ask"
    of_models = Judgment
    flat = ("sitting", Sitting)

    def opinions_of_people(self) -> dict[str, str]:
        """The opinions that people wrote before they judged, by id."""
        file = self.files.folder / OPINIONS
        return read_json(file) if file.is_file() else {}

    def keep_opinions(self, opinions: Mapping[str, str]) -> None:
        """Keep opinions beside those that were written before, in order of their ids."""
        kept = dict(sorted({**self.opinions_of_people(), **opinions}.items()))
        text = json_text(kept, indent=1)
        write_atomically(self.files.folder / OPINIONS, text, self.files.durable)
