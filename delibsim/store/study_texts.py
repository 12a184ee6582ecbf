"""A study of texts: the texts that were imported into it, which it holds in place of sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import study_named
from delibsim.store.files import each_line, json_text, make_folder, written_atomically
from delibsim.store.manifest import Manifest, write_manifest
from delibsim.store.reading import adapter, opened
from delibsim.store.runs import TEXTS, Runs

PARTS = "texts"
"""What study.json calls the files that were imported."""


@dataclass(frozen=True)
class StudyTexts:
    """The texts of a study, in texts.jsonl: one a line, in the order of import."""

    runs: Runs

    @property
    def file(self) -> Path:
        """The file that holds them."""
        return self.runs.folder / TEXTS

    def held(self) -> bool:
        """Whether the study is one of texts."""
        return self.file.is_file()

    def all(self) -> list[Text]:
        """Every text, in the order of import; WrongInput, naming the line, for a damaged one and
        for an id that stands twice.
        """
        found: dict[str, Text] = {}
        for n, (_, record) in enumerate(each_line(self.file), 1):
            text = self._text(n, record)
            if text.id in found:
                raise self._damaged(n, f"id '{text.id}' stands twice")
            found[text.id] = text
        return list(found.values())

    def count(self) -> int:
        """How many texts there are, none of them read."""
        with opened(self.file) as lines:
            return sum(1 for line in lines if line != b"\n")

    def named(self) -> dict[str, Text]:
        """Every text by its id."""
        return {text.id: text for text in self.all()}

    def keep(self, texts: Sequence[Text], manifest: Manifest) -> None:
        """Write all texts of the study, and what the study is; who calls it has compared them with
        those that were kept.
        """
        make_folder(self.runs.folder, self.runs.durable)
        with written_atomically(self.file, self.runs.durable) as write:
            for text in texts:
                write(f"{json_text(_plain(text))}\n")
        write_manifest(self.runs.folder / "study.json", manifest, self.runs.durable)

    def _text(self, line: int, record: Mapping[str, Any] | None) -> Text:
        try:
            return adapter(Text).validate_python(record)
        except ValidationError as error:
            raise self._damaged(line, error.errors()[0]["msg"]) from None

    def _damaged(self, line: int, fault: str) -> WrongInput:
        return WrongInput(
            f"{self.file}, line {line}: damaged ({fault}); restore the file, or import the texts"
            " into another study"
        )


def refuse_texts(runs: Runs, what: str) -> None:
    """WrongInput where a study holds texts, for what needs sessions; `what` begins the message."""
    if StudyTexts(runs).held():
        raise WrongInput(
            f"{what}, and {study_named(runs.study)} holds imported texts; read them with: delibsim"
            f" list texts {runs.study}"
        )


def _plain(text: Text) -> dict[str, Any]:
    """A text as one line of the file: fields that say nothing are left out."""
    plain = vars(text)  # what it holds is plain already, and asdict would copy it
    return {name: value for name, value in plain.items() if value or name in ("id", "text")}
