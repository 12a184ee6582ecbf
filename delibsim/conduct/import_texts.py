"""Importing the texts of a CSV file into a study of texts: all of its rows, or none. Of opinions
also question, kind, author, stance and minority.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from os.path import isfile
from pathlib import Path
from typing import Any

from delibsim.domain.annotation import Text
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.secret import refuse_key
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import KINDS, Voter, minority_of, stance_of
from delibsim.domain.text import counted, parts, safe, study_named, word_count
from delibsim.measures.designs import sizes_of
from delibsim.store.answers import gathered_from
from delibsim.store.codec import differences
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import PARTS, StudyTexts
from delibsim.store.tables.csv_cells import CsvSheet, read_columns, refuse_faults
from delibsim.store.tables.sheets import sha256_of

_KNOWN = read_data("foreign_columns.yaml")
GUESSED: Mapping[str, tuple[str, ...]] = _KNOWN["opinions"]
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
    """The columns of opinions that are read; WrongInput for a kind that the columns contradict.

    Without a question nothing is guessed: the texts are no opinions.
    """
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
        raise refused("texts_answer_another_question", study=study_named(study), was=was)


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


TEXT_COLUMNS: tuple[str, ...] = _KNOWN["texts"]["text"]
"""The columns that hold the texts where none is named, if a file has one of them only."""
ID_COLUMNS: tuple[str, ...] = _KNOWN["texts"]["id"]
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
class Portions:
    """What of a file is taken: texts of more than `most_words` words in parts, and of all of them
    `sample` drawn in proportion to the values of the column `stratify`; 0 and "" leave it out.
    """

    most_words: int = 0
    sample: int = 0
    stratify: str = ""

    def facts(self) -> dict[str, Any]:
        """What the study keeps of it; nothing where all is taken as it is."""
        return {name: value for name, value in vars(self).items() if value}


WHOLE_FILE = Portions()


@dataclass(frozen=True)
class ImportedTexts:
    """What an import came to: the columns that were read, and how many texts are new, were known
    before, and are in the study now; `told` is what was cut and drawn, in sentences.
    """

    runs: Runs
    file: Path
    columns: Columns
    new: int
    before: int
    texts: tuple[Text, ...]
    told: tuple[str, ...] = ()

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
        return [named, *self.told, f"{found}; {total}"]

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
    file: Path,
    study: str,
    root: Path,
    columns: Columns,
    opinions: OpinionColumns = PLAIN,
    portions: Portions = WHOLE_FILE,
) -> ImportedTexts:
    """Add the texts of a file to a study, which begins with them if there is none of that name.

    A draw comes from the names of study and text, so that a larger sample adds texts.

    The same rows again are known before. WrongInput, with the lines, and nothing is kept: for ids
    that are empty, stand twice or are one number in two spellings, for another text, group or fact
    under an id that stands, and for a study of sessions.
    """
    asked = [name for name in (columns.text, columns.id, columns.group) if name]
    sheet = read_columns(file, [*asked, *opinions.named()])
    columns = _chosen(sheet.header, columns, file)
    opinions = opinion_columns(sheet.header, opinions, file)
    rows = _texts(sheet, columns, opinions, file)
    lines = dict(zip((text.id for text in rows), sheet.lines, strict=True))
    runs = study_of_texts(study, root)
    if opinions.question and portions.most_words:
        raise WrongInput("an opinion is one person's, and is not cut; leave most_words= out")
    parted = list(_in_parts(rows, portions.most_words, lines))
    given = _drawn(parted, portions, runs.study)
    sha256 = sha256_of(file)
    part: dict[str, Any] = {"file": file.name, "sha256": sha256, "rows": len(rows)}
    part |= portions.facts()
    part |= {"column": columns.text, "id": columns.id, "group": columns.group}

    def check(kept: Mapping[str, Text]) -> None:
        _refuse_changed(lines, given, kept, file)

    fresh, texts = add_texts(runs, given, part | opinions.facts(), check)
    told = []
    if len(parted) > len(rows):
        what = f"of more than {portions.most_words:,} words are cut at the ends of sentences"
        told.append(f"texts {what}: {counted(len(rows), 'row')} are {len(parted):,} texts")
    if portions.sample:
        how = f"in proportion within {portions.stratify}" if portions.stratify else "at random"
        told.append(f"drawn {how}: {len(given):,} of {counted(len(parted), 'text')}")
    return ImportedTexts(runs, file, columns, fresh, len(given) - fresh, texts, told=tuple(told))


def _in_parts(rows: Sequence[Text], most: int, lines: dict[str, int]) -> Iterator[Text]:
    """Texts of more than `most` words in parts named ID.1, ID.2 ..., whose lines are added."""
    for text in rows:
        whole = not most or word_count(text.text) <= most
        pieces = [] if whole else parts(text.text, lambda piece: word_count(piece) <= most)
        if whole:
            yield text
        for n, piece in enumerate(pieces, 1):
            id = f"{text.id}.{n}"
            if id in lines:
                raise WrongInput(f"a part of text '{text.id}' would be '{id}', which is a text")
            yield replace(text, id=id, text=piece.strip(), facts={**text.facts, "part_of": text.id})
        lines |= {f"{text.id}.{n}": lines[text.id] for n in range(1, len(pieces) + 1)}


def _drawn(texts: Sequence[Text], portions: Portions, study: str) -> list[Text]:
    """The texts of a sample in the order of the file; all of them where none is drawn."""
    if not portions.sample:
        if portions.stratify:
            raise WrongInput(f"stratify={portions.stratify} is of a sample; add: sample=N")
        return list(texts)
    from delibsim.asking.kinds.code_people import stratum_of  # numpy is slow to import

    if portions.sample > len(texts):
        raise WrongInput(f"sample={portions.sample:,} is more than the {len(texts):,} texts")
    strata: dict[str, list[str]] = {}
    for text in texts:
        strata.setdefault(stratum_of(text, portions.stratify), []).append(text.id)
    chosen: set[str] = set()
    sizes = sizes_of([len(ids) for ids in strata.values()], portions.sample)
    for ids, size in zip(strata.values(), sizes, strict=True):
        chosen |= set(sorted(ids, key=lambda id: seed_of(study, "sample", id))[:size])
    return [text for text in texts if text.id in chosen]


def add_texts(
    runs: Runs,
    given: Sequence[Text],
    part: Mapping[str, Any],
    check: Callable[[Mapping[str, Text]], None],
    voters: Sequence[Voter] = (),
) -> tuple[int, tuple[Text, ...]]:
    """Add texts to a study of texts, which begins with them, and who voted on them; how many are
    new, and all it holds.

    `part` is what the study says of where they come from, with its `sha256`; `check` refuses texts
    that are not those kept under their ids. WrongInput for a study of sessions, and for answers to
    another question than the study's.
    """
    with runs.lock():
        held = StudyTexts(runs)
        manifest = runs.manifest()
        if not held.held() and (manifest is not None or runs.sessions()):
            raise refused("sessions_take_no_texts", study=study_named(runs.study))
        kept = held.named()
        if gathered := gathered_from(runs):
            raise refused(
                "gathered_take_no_texts",
                study=study_named(runs.study),
                gathered=", ".join(gathered),
            )
        refuse_other_question(manifest, part.get("question", ""), runs.study)
        check(kept)
        fresh = [text for text in given if text.id not in kept]
        texts = (*kept.values(), *fresh)
        named = {part["sha256"][:12]: dict(part)}
        added = Manifest(runs.study, {}, {PARTS: named}, begun=begun_now())
        settled = added if manifest is None else manifest.amended(added)
        if fresh or settled != manifest:
            held.keep(texts, settled, voters or held.voters())
    return len(fresh), texts


def study_of_texts(name: str, root: Path) -> Runs:
    """The study of this name or folder, whether it has begun or not."""
    if isfile(Path(name) / "study.json"):
        return Runs.at(Path(name).resolve())
    refuse_key("study", name)
    return Runs(root, name)


def begun_now() -> dict[str, Any]:
    """When an import was made, and by which version."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at, "versions": {"delibsim": version("delibsim")}}


def _chosen(header: Sequence[str], asked: Columns, file: Path) -> Columns:
    """The columns that are read; WrongInput where several fit."""
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


def _texts(sheet: CsvSheet, columns: Columns, opinions: OpinionColumns, file: Path) -> list[Text]:
    """The texts of a file in order; WrongInput with every id that cannot be one."""
    texts, faults = [], []
    lines_of: dict[str, int] = {}
    for n, (row, line) in enumerate(zip(sheet.rows, sheet.lines, strict=True), 1):
        cells = dict(zip(sheet.header, row, strict=True))
        text = cells.pop(columns.text)
        id = cells.pop(columns.id).strip() if columns.id else str(n)
        fault = fault_of_id(id)
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


def fault_of_id(id: str) -> str:
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
    lines: Mapping[str, int], given: Sequence[Text], kept: Mapping[str, Text], file: Path
) -> None:
    """WrongInput, with the differences, where a row stands in the study with something else."""
    numbers = {}
    for id in kept:
        whole = WHOLE.fullmatch(id)
        numbers[whole[1] if whole else id] = id
    faults = []
    for text in given:
        line, whole = lines[text.id], WHOLE.fullmatch(text.id)
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
