"""Importing the texts of a CSV file into a study of texts: all of its rows, or none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os.path import isfile
from pathlib import Path
from typing import Any

from delibsim.conduct.opinion_columns import (
    PLAIN,
    OpinionColumns,
    fitting,
    opinion_columns,
    opinion_of,
    refuse_other_question,
)
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.secret import refuse_key
from delibsim.domain.text import counted, safe, study_named
from delibsim.store.codec import differences
from delibsim.store.gathered import gathered_from
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import PARTS, StudyTexts
from delibsim.store.tables.csv_cells import Sheet, read_sheet, refuse_faults
from delibsim.store.tables.sheets import sha256_of

TEXT_COLUMNS = ("text", "texts", "statement", "speech", "contribution", "comment", "message")
"""The columns that hold the texts where none is named, if a file has one of them only."""
ID_COLUMNS = ("id", "text_id", "row_id", "doc_id")
"""The columns that hold the ids where none is named."""
LONGEST_ID = 200
NOTHING_KEPT = "cannot be imported, and nothing of it was kept"
WHOLE = re.compile(r"(-?[0-9]+)\.0+")
"""A whole number as a program writes it that read it as a decimal one."""


@dataclass(frozen=True)
class Columns:
    """The columns of a file that hold the texts, their ids ("" numbers the rows), and their groups
    ("" where they have none).
    """

    text: str = ""
    id: str = ""
    group: str = ""


@dataclass(frozen=True)
class Imported:
    """What an import came to: the columns that were read, and how many texts are new, were known
    before, and are in the study now.
    """

    runs: Runs
    file: Path
    columns: Columns
    new: int
    before: int
    texts: tuple[Text, ...]

    def lines(self) -> list[str]:
        """What must be known of it, in sentences."""
        read = f"texts from column {self.columns.text}"
        if self.columns.id:
            read += f", ids from column {self.columns.id}"
        else:
            read += "; no column of ids, so the rows are numbered from 1"
        if self.columns.group:
            read += f", groups from column {self.columns.group}"
        named = f"{self.file.name}: {read}"
        found = f"{counted(self.new, 'text')} new, {self.before} known before"
        total = f"{study_named(self.runs.study)} holds {counted(len(self.texts), 'text')}"
        return [named, f"{found}; {total}"]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "study": self.runs.study,
            "file": self.file.name,
            "column": self.columns.text,
            "id": self.columns.id,
            "group": self.columns.group,
            "new": self.new,
            "known_before": self.before,
            "texts": len(self.texts),
        }


def import_texts(
    file: Path, study: str, root: Path, columns: Columns, opinions: OpinionColumns = PLAIN
) -> Imported:
    """Add the texts of a file to a study, which begins with them if there is none of that name.

    The same rows again are known before. WrongInput, with the lines, and nothing is kept: for ids
    that are empty, stand twice or are one number in two spellings, for another text, group or fact
    under an id that stands, and for a study of sessions.
    """
    asked = [name for name in (columns.text, columns.id, columns.group) if name]
    sheet = read_sheet(file, [*asked, *opinions.named()])
    columns = _chosen(sheet.header, columns, file)
    opinions = opinion_columns(sheet.header, opinions, file)
    given = _texts(sheet, columns, opinions, file)
    runs = study_of_texts(study, root)
    sha256 = sha256_of(file)
    part: dict[str, Any] = {"file": file.name, "sha256": sha256, "rows": len(given)}
    part |= {"column": columns.text, "id": columns.id, "group": columns.group}

    def check(kept: Mapping[str, Text]) -> None:
        _refuse_changed(sheet, given, kept, file)

    fresh, texts = add_texts(runs, given, part | opinions.facts(), check)
    return Imported(runs, file, columns, fresh, len(given) - fresh, texts)


def add_texts(
    runs: Runs,
    given: Sequence[Text],
    part: Mapping[str, Any],
    check: Callable[[Mapping[str, Text]], None],
) -> tuple[int, tuple[Text, ...]]:
    """Add texts to a study of texts, which begins with them; how many are new, and all it holds.

    `part` is what the study says of where they come from, with its `sha256`; `check` refuses texts
    that are not those kept under their ids. WrongInput for a study of sessions, and for answers to
    another question than the study's.
    """
    with runs.lock():
        held = StudyTexts(runs)
        manifest = runs.manifest()
        if not held.held() and (manifest is not None or runs.sessions()):
            raise WrongInput(
                f"{study_named(runs.study)} has sessions, so no texts can be imported into it; name"
                " another study: study=NAME"
            )
        kept = held.named()
        if gathered := gathered_from(runs):
            raise WrongInput(
                f"{study_named(runs.study)} holds texts gathered from {', '.join(gathered)}, to"
                " which no others are added; name another study: study=NAME"
            )
        refuse_other_question(manifest, part.get("question", ""), runs.study)
        check(kept)
        fresh = [text for text in given if text.id not in kept]
        texts = (*kept.values(), *fresh)
        named = {part["sha256"][:12]: dict(part)}
        added = Manifest(runs.study, {}, {PARTS: named}, begun=_now())
        settled = added if manifest is None else manifest.amended(added)
        if fresh or settled != manifest:
            held.keep(texts, settled)
    return len(fresh), texts


def study_of_texts(name: str, root: Path) -> Runs:
    """The study of this name or folder, whether it has begun or not."""
    if isfile(Path(name) / "study.json"):
        return Runs.at(Path(name).resolve())
    refuse_key("study", name)
    return Runs(root, name)


def _now() -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at, "versions": {"delibsim": version("delibsim")}}


def _chosen(header: Sequence[str], asked: Columns, file: Path) -> Columns:
    """The columns that are read; WrongInput for one that is not there, and where several fit."""
    for name in (asked.text, asked.id, asked.group):
        if name and name not in header:
            raise unknown("column", name, header, f"Columns are those of {file}")
    text = asked.text or fitting(header, TEXT_COLUMNS, "column=NAME", "the texts", file)
    if not text:
        advice = f"{file}: which column has the texts? Name it: column=NAME; columns are: "
        raise WrongInput(advice + ", ".join(header))
    others = [name for name in header if name != text]
    id = asked.id or fitting(others, ID_COLUMNS, "id=NAME", "ids", file)
    named = [name for name in (text, id, asked.group) if name]
    if len(set(named)) < len(named):
        listed = ", ".join(named)
        raise WrongInput(f"{file}: texts, ids and groups are in columns of their own, not {listed}")
    return Columns(text, id, asked.group)


def _texts(sheet: Sheet, columns: Columns, opinions: OpinionColumns, file: Path) -> list[Text]:
    """The texts of a file in order; WrongInput with every id that cannot be one."""
    texts, faults = [], []
    lines_of: dict[str, int] = {}
    for n, (row, line) in enumerate(zip(sheet.rows, sheet.lines, strict=True), 1):
        cells = dict(zip(sheet.header, row, strict=True))
        text = cells.pop(columns.text)
        id = cells.pop(columns.id).strip() if columns.id else str(n)
        fault = _fault_of_id(id)
        if not fault and id in lines_of:
            fault = f"id '{id}' stands in line {lines_of[id]} already"
        if fault:
            faults.append(f"line {line}: {fault}")
        lines_of.setdefault(id, line)
        group = cells[columns.group].strip() if columns.group else ""
        found: list[str] = []
        own = Text(id, text, group, source=file.name, facts=cells)
        texts.append(opinion_of(own, cells, opinions, found))
        faults += [f"line {line}: {fault}" for fault in found]
    for id, line in lines_of.items():
        whole = WHOLE.fullmatch(id)
        if whole and whole[1] in lines_of:
            other = f"line {lines_of[whole[1]]}"
            faults.append(f"line {line}: id '{id}' is the number '{whole[1]}' of {other}")
    refuse_faults(file, faults, NOTHING_KEPT)
    return texts


def _fault_of_id(id: str) -> str:
    """Why a cell cannot be an id, "" if it can."""
    if not id:
        return "the id is empty"
    if len(id) > LONGEST_ID:
        most = f"at most {LONGEST_ID} are allowed"
        return f"the id has {len(id):,} characters, {most}; is this id=COLUMN?"
    if safe(id) != id or not id.isprintable():
        return f"id {id!r} has characters that cannot be seen"
    return ""


def _refuse_changed(
    sheet: Sheet, given: Sequence[Text], kept: Mapping[str, Text], file: Path
) -> None:
    """WrongInput, with the differences, where a row stands in the study with something else."""
    numbers = {}
    for id in kept:
        whole = WHOLE.fullmatch(id)
        numbers[whole[1] if whole else id] = id
    faults = []
    for text, line in zip(given, sheet.lines, strict=True):
        whole = WHOLE.fullmatch(text.id)
        as_kept = numbers.get(whole[1] if whole else text.id)
        if text.id in kept:
            before, now = _compared(kept[text.id]), _compared(text)
            if before != now:
                told = "; ".join(map(safe, differences(before, now)))
                faults.append(f"line {line}: id '{text.id}' stands with other cells: {told}")
        elif as_kept is not None:
            faults.append(f"line {line}: id '{text.id}' is written '{as_kept}' in the study")
    if faults:
        faults.insert(0, "texts that were imported are never changed; name another study")
    refuse_faults(file, faults, NOTHING_KEPT)


def _compared(text: Text) -> dict[str, Any]:
    facts = {f"'{name}'": value for name, value in text.facts.items()}
    said = {"author": text.author, "stance": text.stance, "minority": text.minority}
    known = {name: value for name, value in said.items() if value}
    return {"text": text.text, "group": text.group} | known | facts
