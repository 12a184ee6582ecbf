"""A study of texts: the texts that were imported into it, which it holds in place of sessions, and
the question that they answer where they are opinions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.summary import KINDS, OpinionSet, Voter
from delibsim.domain.text import study_named
from delibsim.store.files import each_line, json_text, make_folder, written_atomically
from delibsim.store.manifest import Manifest, write_manifest
from delibsim.store.reading import adapter, opened
from delibsim.store.runs import TEXTS, VOTERS, Runs

T = TypeVar("T")

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
        for n, text in self._read(self.file, Text):
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

    def voters(self) -> list[Voter]:
        """Who voted on the texts, from voters.jsonl, in the order of import; none without it."""
        return [voter for _, voter in self._read(self.runs.folder / VOTERS, Voter)]

    def keep(self, texts: Sequence[Text], manifest: Manifest, voters: Sequence[Voter] = ()) -> None:
        """Write all texts of the study, who voted on them, and what the study is; who calls it has
        compared them with those that were kept.
        """
        make_folder(self.runs.folder, self.runs.durable)
        for file, records in ((self.file, texts), (self.runs.folder / VOTERS, voters)):
            if records or file == self.file:
                with written_atomically(file, self.runs.durable) as write:
                    for record in records:
                        write(f"{json_text(_plain(record))}\n")
        write_manifest(self.runs.folder / "study.json", manifest, self.runs.durable)

    def _read(self, file: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
        """What each line of a file describes, with its number; none where there is no file."""
        for n, (_, record) in enumerate(each_line(file), 1):
            try:
                yield n, adapter(kind).validate_python(record)
            except ValidationError as error:
                raise self._damaged(n, error.errors()[0]["msg"], file) from None

    def _damaged(self, line: int, fault: str, file: Path | None = None) -> WrongInput:
        return refused("damaged_text", file=file or self.file, line=line, fault=fault)


def refuse_texts(runs: Runs, what: str) -> None:
    """WrongInput where a study holds texts, for what needs sessions; `what` begins the message."""
    if StudyTexts(runs).held():
        raise WrongInput(
            f"{what}, and {study_named(runs.study)} holds imported texts; read them with: delibsim"
            f" list texts {runs.study}"
        )


def _plain(record: Text | Voter) -> dict[str, Any]:
    """A text or voter as one line of the file: fields that say nothing are left out."""
    plain = vars(record)  # what it holds is plain already, and asdict would copy it
    return {name: value for name, value in plain.items() if value or name in ("id", "text")}


EXAMPLES = Path(__file__).parents[1] / "data" / "opinions"


def opinions_of(runs: Runs) -> OpinionSet:
    """The opinions that a study holds; WrongInput for one whose texts answer no question."""
    held, manifest = StudyTexts(runs), runs.manifest()
    if not held.held():
        raise refused("holds_no_opinions", study=study_named(runs.study), place=runs.study)
    question, kind = question_of(runs)
    if manifest is None or not question:
        raise refused("texts_answer_no_question", study=study_named(runs.study))
    return OpinionSet(runs.study, question, KINDS[kind == "stance"], tuple(held.all()))


def votes_on(runs: Runs) -> tuple[OpinionSet, list[Voter]]:
    """The opinions that a study holds and who voted on them; WrongInput where nobody did."""
    opinions, voters = opinions_of(runs), StudyTexts(runs).voters()
    if not voters:
        raise refused("holds_no_votes", study=study_named(runs.study))
    return opinions, voters


def question_of(runs: Runs) -> tuple[str, str]:
    """The question that the texts of a study answer and its kind, "" twice where they answer
    none.
    """
    manifest = runs.manifest()
    parts = manifest.components.get(PARTS, {}) if manifest is not None else {}
    for part in parts.values():
        if part.get("question"):
            return part["question"], part.get("kind", "open")
    return "", ""


def example(name: str) -> tuple[Path, str]:
    """The file of a set of opinions that ships, and its question; WrongInput for another name."""
    known = sorted(file.stem for file in EXAMPLES.glob("*.csv"))
    if name not in known:
        raise unknown("example", name, known)
    about = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return EXAMPLES / f"{name}.csv", about["question"]
