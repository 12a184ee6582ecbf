"""The codes of a study by one scheme: samples of models, steps, and codes of people, on disk."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.domain.coding import ENSEMBLE, Code, Sample, Steps, measures_of_scheme
from delibsim.domain.measure import Measure
from delibsim.domain.reason import reason_from_text
from delibsim.domain.scheme import Scheme
from delibsim.store.annotations import tasks_of
from delibsim.store.answers import TaskAnswers
from delibsim.store.files import json_text, make_folder, write_atomically
from delibsim.store.reading import adapter, read_json
from delibsim.store.records import built, plain_record, read_records
from delibsim.store.runs import Runs

OF_PEOPLE = "scheme.json"
"""The file with what people code by, in the folder of a scheme's codes."""


def scheme_to_plain(scheme: Scheme) -> dict[str, Any]:
    """A scheme as plain values."""
    return adapter(Scheme).dump_python(scheme, mode="json")


def scheme_from_plain(plain: Mapping[str, Any]) -> Scheme:
    """A scheme from plain values; Damaged if they are none."""
    return built(Scheme, plain, "scheme")


@dataclass(frozen=True)
class Codings(TaskAnswers[Any]):
    """The codes of one study by one scheme: samples and steps of models, codes of people."""

    prefix = "code-"
    called = "scheme"
    key = "scheme"
    command = "delibsim code ask"
    of_models = Sample
    of_persons = Code

    def scheme(self) -> Scheme:
        """The scheme that was applied, as it was then; Damaged if it cannot be read."""
        return scheme_from_plain(self.settled()["scheme"])

    def settled(self) -> dict[str, Any]:
        """What texts are coded by (`scheme`, `scheme_sha256`, `unit`, `context`): as models were
        asked, else as people have coded; empty where nobody has.
        """
        return self.files.task() or self.of_people()

    def of_people(self) -> dict[str, Any]:
        """What people have coded by, as `settled` gives it; empty where none has."""
        file = self.files.folder / OF_PEOPLE
        return read_json(file) if file.is_file() else {}

    def keep_scheme(self, scheme: Scheme, unit: str, context: int) -> None:
        """Keep what people code by, unless it is kept."""
        if self.of_people():
            return
        plain = {
            "scheme": scheme_to_plain(scheme),
            "scheme_sha256": scheme.sha256,
            "unit": unit,
            "context": context,
        }
        make_folder(self.files.folder, self.files.durable)
        file = self.files.folder / OF_PEOPLE
        write_atomically(file, json_text(plain, indent=1), self.files.durable)

    def kept(self) -> list[Any]:
        """Every sample and the steps of every model."""
        return [*self.all(), *read_records(Steps, self.files.steps, None)]

    def add(self, answers: Iterable[Any], people: bool = False) -> None:
        """Keep samples, steps, or codes of people."""
        others = []
        for answer in answers:
            if isinstance(answer, Steps):
                self.files.add(self.files.steps, [plain_record(answer)])
            else:
                others.append(answer)
        super().add(others, people)

    def steps(self) -> list[dict[str, Any]]:
        """The steps of each model and dimension, as plain values: `dimension`, `model`, `wording`,
        `steps` (a list), and `missing` with the reason where there are none.
        """
        return self.files.read(self.files.steps)[0]

    def not_coded(self) -> list[Code]:
        """A code without a level for every text that is not put before coders, by dimension."""
        task = self.files.task()
        found = []
        for key, reason in task.get("not_coded", {}).items():
            text, _, dimension = key.rpartition(" ")
            missing, digest = reason_from_text(reason), task["texts"].get(text, "")
            found.append(
                Code(text, dimension, ENSEMBLE, "ensemble", None, missing, 0, text_sha256=digest)
            )
        return found


def schemes_of(runs: Runs) -> list[str]:
    """The ids of the schemes by which texts of a study were coded, by models or people."""
    found = {*tasks_of(runs, Codings.prefix), *tasks_of(runs, Codings.prefix, OF_PEOPLE)}
    return sorted(task.removeprefix(Codings.prefix) for task in found)


def measures_of_codes(runs: Runs) -> tuple[Measure, ...]:
    """The measures of the scorer `codes` for a study: those of the schemes that it was coded by."""
    found: list[Measure] = []
    for id in schemes_of(runs):
        found += measures_of_scheme(Codings.of(runs, id).scheme())
    return tuple(found)
