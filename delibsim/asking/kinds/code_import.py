"""Codes of people brought back to a study, from the form of a pack or from any table of codes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.forms import NOTHING, refuse
from delibsim.asking.kinds.code_tables import (
    CodeTable,
    Known,
    contradictions,
    is_form,
    read_codes,
    read_form_codes,
)
from delibsim.asking.kinds.coding import Coding, coding_of
from delibsim.domain.coding import Code
from delibsim.domain.errors import WrongInput
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.codings import PREFIX, Codings
from delibsim.store.packs import packs_of
from delibsim.store.places import study_at
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import Sheet, read_sheet

KEPT = (
    "Nothing was imported: codes are never overwritten. Put these lines back as they were, or"
    " import the new codes under another coder's name"
)


@dataclass(frozen=True)
class ImportedCodes:
    """What came of a table: how many codes it held, new ones, of training, empty cells, by coder.

    `studies` names where they are kept; `not_read` the columns that were left aside; `coded` are
    the studies whose codes are to be scored anew.
    """

    given: int
    new: int
    training: int
    empty: int
    coders: Mapping[str, int]
    studies: tuple[str, ...]
    not_read: tuple[str, ...] = ()
    coded: tuple[Runs, ...] = ()

    @property
    def known(self) -> int:
        """How many codes were imported before."""
        return self.given - self.new

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        fields = {name: value for name, value in vars(self).items() if name != "coded"}
        listed = {"studies": list(self.studies), "not_read": list(self.not_read)}
        return fields | {"known": self.known} | listed


def import_codes(
    file: Path, root: Path, study: str = "", scheme: str = "", training: bool = False
) -> ImportedCodes:
    """Keep the codes in a table: the form of packs of any study below `root`, or a long or wide
    table about one study and scheme.

    WrongInput that names every line at fault, and nothing is kept, where a level is off the scale,
    an id unknown, a code given twice, or another than was imported before.
    """
    sheet = read_sheet(file)
    if is_form(sheet):
        if study or scheme or training:
            raise WrongInput(
                f"{file} is the form of a pack, which knows its study, its scheme and whether it is"
                " for training; leave these settings out"
            )
        return _import_form(file, sheet, _codings_below(root))
    if not study:
        raise WrongInput(
            f"{file} is no form of a pack; a table of codes is imported: delibsim import STUDY"
            f" {file} --as codes scheme=NAME"
        )
    coding = coding_of(study_at(study, root), scheme)
    table = read_codes(sheet, _known(coding, training))
    refuse(file, table.faults, NOTHING)
    return _kept(file, table, [(coding, table.codes)])


def _import_form(file: Path, sheet: Sheet, studies: Sequence[tuple[Runs, str]]) -> ImportedCodes:
    """The codes in the form of packs, each kept with its study."""
    wanted = {row[sheet.header.index("pack")].strip() for row in sheet.rows}
    packs, known, owners = {}, {}, {}
    for runs, name in studies:
        own = packs_of(Codings.of(runs, name).files)
        mine = wanted & own.keys()
        if mine:
            coding = coding_of(runs, name)
            about = _known(coding)
            for pack in mine:
                packs[pack], known[pack], owners[pack] = own[pack], about, coding
    table = read_form_codes(sheet, packs, known)
    refuse(file, table.faults, NOTHING)
    parts = []
    for pack, coding in owners.items():
        parts.append((coding, [one for one in table.codes if one[0].pack == pack]))
    return _kept(file, table, parts)


def _codings_below(root: Path) -> list[tuple[Runs, str]]:
    """Every study below a folder, with each scheme of which people were given a pack."""
    found = []
    for folder in sorted(root.glob(f"*/{ANNOTATIONS}/{PREFIX}*")):
        study = folder.parent.parent
        if (study / "study.json").is_file():
            found.append((Runs.at(study), folder.name.removeprefix(PREFIX)))
    return found


def _known(coding: Coding, training: bool = False) -> Known:
    """What codes of a study by a scheme may be about."""
    texts = {text.id: text.sha256 for text in coding.texts()}
    models = tuple(coding.codings.files.task().get("models", {}))
    return Known(coding.scheme, texts, models, training)


def _kept(
    file: Path,
    table: CodeTable,
    parts: Sequence[tuple[Coding, Sequence[tuple[Code, int]]]],
) -> ImportedCodes:
    """Keep what is new of a table, or nothing where a line contradicts what is known."""
    waiting, clashes = [], []
    for coding, codes in parts:
        new, found = contradictions(codes, coding.codings.people())
        waiting.append((coding, new))
        clashes += found
    refuse(file, clashes, KEPT)
    for (coding, codes), (_, new) in zip(parts, waiting, strict=True):
        if codes:
            with coding.runs.lock():
                coding.codings.keep_scheme(coding.scheme, coding.unit, coding.context)
                coding.codings.add(new, people=True)
    codes = [code for code, _ in table.codes]
    studies = {coding.runs.study for coding, _ in parts}
    return ImportedCodes(
        given=len(codes),
        new=sum(len(new) for _, new in waiting),
        training=sum(code.training for code in codes),
        empty=table.empty,
        coders=dict(Counter(code.coder for code in codes)),
        studies=tuple(sorted(studies)),
        coded=tuple(coding.runs for coding, own in parts if own),
        not_read=tuple(table.not_read),
    )
