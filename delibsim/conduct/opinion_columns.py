"""The columns of a file of opinions: question, kind, author, stance, minority."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.summary import KINDS, minority_of, stance_of
from delibsim.domain.text import safe, study_named
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import PARTS

GUESSED = {
    "author": ("author", "participant", "user", "user_id", "participant_id", "rater"),
    "stance": ("stance", "position", "side"),
    "minority": ("minority",),
}
"""The columns of opinions where none is named, if a file has one of them only."""


@dataclass(frozen=True)
class OpinionColumns:
    """What an import says of opinions: the question, its kind ("" as the columns tell), and the
    columns of author, stance and minority ("" where there is none).

    With `drop_authors` the column of authors is left out of what is kept.
    """

    question: str = ""
    kind: str = ""
    author: str = ""
    stance: str = ""
    minority: str = ""
    drop_authors: bool = False

    def named(self) -> list[str]:
        """The columns that are named."""
        return [name for name in (self.author, self.stance, self.minority) if name]

    def facts(self) -> dict[str, str]:
        """What the study keeps of it; nothing for texts that are no opinions."""
        if not self.question:
            return {}
        return {"question": self.question, "kind": self.kind or "open"}


PLAIN = OpinionColumns()


def opinion_columns(header: Sequence[str], asked: OpinionColumns, file: Path) -> OpinionColumns:
    """The columns of opinions that are read; WrongInput for one that is not there, and for a kind
    that the columns contradict.

    Without a question nothing is guessed: the texts are no opinions.
    """
    for name in asked.named():
        if name not in header:
            raise unknown("column", name, header, f"Columns are those of {file}")
    if not asked.question:
        if asked.kind or asked.named():
            raise WrongInput("opinions answer a question; name it: question='Should ...?'")
        return asked
    found = {}
    for name, words in GUESSED.items():
        given = getattr(asked, name)
        found[name] = given or fitting(header, words, f"{name}=NAME", f"the {name}", file)
    kind = asked.kind or ("stance" if found["stance"] else "open")
    if kind not in KINDS:
        raise unknown("kind of opinions", kind, KINDS)
    if kind == "stance" and not found["stance"]:
        raise WrongInput("kind=stance needs the column of stances: stance=COLUMN")
    return replace(asked, kind=kind, **found)


def refuse_other_question(manifest: Manifest | None, question: str, study: str) -> None:
    """WrongInput where the texts of a study were imported as answers to another question."""
    parts = manifest.components.get(PARTS, {}) if manifest is not None else {}
    asked = {part.get("question", "") for part in parts.values()}
    if parts and asked != {question}:
        was = ", ".join(f"'{safe(one)}'" for one in sorted(filter(None, asked))) or "no question"
        raise WrongInput(
            f"{study_named(study)} holds texts that answer {was}; name that question, or another"
            " study: study=NAME"
        )


def opinion_of(
    text: Text, cells: dict[str, str], opinions: OpinionColumns, faults: list[str]
) -> Text:
    """A text with what its row says of the opinion; what it says wrongly is added to `faults`."""
    said = {"stance": "", "minority": ""}
    for name, read in (("stance", stance_of), ("minority", minority_of)):
        column = getattr(opinions, name)
        if not column:
            continue
        try:
            said[name] = read(cells[column])
        except WrongInput as fault:
            faults.append(str(fault))
    facts = {name: cell for name, cell in cells.items() if name != opinions.author}
    author = "" if opinions.drop_authors else cells.get(opinions.author, "").strip()
    return replace(text, author=author, facts=facts, **said)


def fitting(header: Iterable[str], names: Sequence[str], option: str, what: str, file: Path) -> str:
    """The only column whose name fits, "" if none does; WrongInput if several do."""
    found = [name for name in header if name.casefold() in names]
    if len(found) > 1:
        listed = ", ".join(found)
        raise WrongInput(f"{file}: several columns may have {what} ({listed}); name it: {option}")
    return found[0] if found else ""
