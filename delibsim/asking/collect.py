"""Forms on paper brought back: each cell is checked against what its sheet asks; all of a form is
kept, or nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from delibsim.asking.paper import COLUMNS, asked_in, steps_of
from delibsim.asking.people import Pack, SheetStep
from delibsim.domain.coding import NO_CODE
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.models.person.fields import Field
from delibsim.prompts.prompt import UnreadableReply
from delibsim.store.tables.csv_cells import read_sheet

SHOWN = 30
"""Of so many faults each is told; of more, how many there are."""
NOTHING = "Nothing was imported; mend these lines and give the command again"
KEPT = (
    "Nothing was imported: answers are never overwritten. Put these lines back as they were, or"
    " hand another pack out to other people, and import its form"
)
MOST_WRITTEN = 10**9
"""No number in a form is as large."""


@dataclass(frozen=True)
class CollectedForm:
    """What came of a form: how many answers it held, how many are new or missing, cells left empty,
    answers by rater, what must be known of them (`notes`), and the packs whose answers are new.
    """

    noun: str
    given: int
    new: int
    missing: int
    empty: int
    raters: Mapping[str, int]
    notes: tuple[str, ...]
    studies: tuple[str, ...]
    packs: tuple[Pack, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every cell was filled in, and every answer has a value."""
        return not self.empty and not self.missing

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        own = {name: value for name, value in vars(self).items() if name != "packs"}
        return own | {"known": self.given - self.new, "raters": dict(self.raters)}


def is_form(header: Iterable[str]) -> bool:
    """Whether a table is the form of a pack."""
    return set(COLUMNS) <= set(header)


@dataclass
class _Form:
    """The cells of a form by pack, sheet and rater: each by question, with its line."""

    sheets: dict[tuple[str, str, str], dict[str, tuple[int, str]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    empty: int = 0


def collect(file: Path, packs: Mapping[str, Pack]) -> CollectedForm:
    """Keep the answers in a form of these packs, by name.

    WrongInput that names every line at fault, and nothing is kept, where a sheet was never handed
    out or shows what was edited since, a cell says what cannot be said, or an answer contradicts
    one that was kept before.
    """
    found = _cells(file)
    given: dict[str, list[tuple[int, Any]]] = {}
    for (name, sheet, rater), cells in found.sheets.items():
        first = min([line for line, _ in cells.values()])
        pack = packs.get(name)
        if pack is None:
            found.faults.append(f"line {first}: pack '{name}' was not handed out from this study")
            continue
        answers = _answers(pack, (sheet, rater, first), cells, found)
        given.setdefault(name, []).extend([(first, one) for one in answers])
    refuse(file, found.faults, NOTHING)
    new: dict[str, list[Any]] = {}
    clashes: list[str] = []
    for name, answers in given.items():
        new[name], others = packs[name].compared([one for _, one in answers])
        for old, n in others:
            (line, one), said = answers[n], packs[name].said
            place = f"line {line}: {', '.join(map(str, one.key))}"
            clashes.append(f"{place}: {said(old)} before, {said(one)} here")
    refuse(file, clashes, KEPT)
    with ExitStack() as stack:
        for folder in {packs[name].runs.folder: packs[name].runs for name in given}.values():
            stack.enter_context(folder.lock())
        for name, answers in given.items():
            packs[name].keep([one for _, one in answers])
    return _collected(found, packs, given, new)


def _collected(
    found: _Form,
    packs: Mapping[str, Pack],
    given: Mapping[str, Sequence[tuple[int, Any]]],
    new: Mapping[str, Sequence[Any]],
) -> CollectedForm:
    every = [one for answers in given.values() for _, one in answers]
    notes: list[str] = []
    for name, answers in given.items():
        notes += packs[name].told([one for _, one in answers])
    raters = Counter({rater: 0 for _, _, rater in found.sheets})
    for (*_, rater), cells in found.sheets.items():
        raters[rater] += any(cell for _, cell in cells.values())
    missing = [one for one in every if one.missing and not _of_text(one.missing)]
    return CollectedForm(
        noun=next((packs[name].noun for name in given), "answer"),
        given=len(every),
        new=sum(map(len, new.values())),
        missing=len(missing),
        empty=found.empty,
        raters=raters,
        notes=tuple(notes),
        studies=tuple(sorted({packs[name].runs.study for name in given})),
        packs=tuple(packs[name] for name, answers in new.items() if answers),
    )


def _of_text(missing: Any) -> bool:
    """Whether a reason says something of the text, and not of the rater."""
    return getattr(missing, "code", "") == "not_applicable"


def packs_in(file: Path) -> list[str]:
    """The names of the packs that a form is of; WrongInput for what is no form."""
    cells = read_sheet(file, COLUMNS)
    if not is_form(cells.header):
        raise WrongInput(
            f"{file}, line 1: the columns must be those of a form that was exported:"
            f" {', '.join(COLUMNS)}"
        )
    return list(dict.fromkeys(row["pack"] for _, row in cells.records()))


def _cells(file: Path) -> _Form:
    """The cells of a form; a question that stands twice on a sheet is a fault."""
    found = _Form()
    for line, row in read_sheet(file, COLUMNS).records():
        own = found.sheets.setdefault((row["pack"], row["sheet"], row["rater"]), {})
        if row["question"] in own:
            first = own[row["question"]][0]
            found.faults.append(
                f"line {line}: sheet {row['sheet']} stands here twice, first on line {first}"
            )
        own.setdefault(row["question"], (line, row["answer"]))
    return found


def _answers(
    pack: Pack, at: tuple[str, str, int], cells: Mapping[str, tuple[int, str]], found: _Form
) -> list[Any]:
    """The answers on one sheet; what is wrong with it is added to the faults of the form."""
    sheet, rater, line = at
    key = pack.sheets.get(sheet)
    if key is None:
        found.faults.append(f"line {line}: sheet '{sheet}' is not in pack {pack.name}")
        return []
    whose = pack.rater(sheet, key)
    if rater != whose and not (pack.anyone and rater):
        found.faults.append(f"line {line}: sheet {sheet} is that of {whose}, not of '{rater}'")
        return []
    given: dict[str, Any] = {}
    left = dict(cells)
    try:
        for step in steps_of(pack, sheet):
            given[step.name] = _reply(pack, step, left, found)
        answers = pack.written(sheet, given, rater)
    except WrongInput as error:
        found.faults.append(f"line {line}: {error}")
        return []
    for question, (own, _) in left.items():
        found.faults.append(f"line {own}: sheet {sheet} does not ask '{question}'")
    return answers


def _reply(pack: Pack, step: SheetStep, cells: dict[str, tuple[int, str]], found: _Form) -> Any:
    """What was written for a step: words, or values by field; None where nothing was."""
    values: dict[str, Any] = {}
    for question, asked in asked_in(step):
        line, cell = cells.pop(question, (0, ""))
        if _empty(cell, asked):
            found.empty += 1
            continue
        try:
            values[asked.name] = _value(pack, step, (question, asked), cell)
        except (ValueError, UnreadableReply) as fault:
            found.faults.append(f"line {line}: {question}: {fault}")
    if step.prompt is None:
        return str(values[step.name]) if values else None
    if len(values) == 1 and asked_in(step)[0][1].kind == "words":
        return next(iter(values.values()))
    return values or None


def _empty(cell: str, asked: Field) -> bool:
    """Whether a cell says nothing."""
    written = cell.casefold()
    named = {str(option.value).casefold() for option in asked.options}
    return written in NO_CODE and written not in named


def _value(pack: Pack, step: SheetStep, of: tuple[str, Field], cell: str) -> Any:
    """What a cell says; ValueError for what is none of what can be said."""
    _, asked = of
    if asked.options:
        return pack.level(step, asked, cell)
    if asked.kind == "words":
        assert step.prompt is not None
        return step.prompt.reply.read(cell)
    whole = cell.isascii() and cell.isdigit() and len(cell) < len(str(MOST_WRITTEN))
    if not whole or not asked.low <= int(cell) <= asked.high:
        raise ValueError(f"'{cell[:20]}' is no whole number from {asked.low} to {asked.high}")
    return int(cell)


def refuse(file: Path, faults: Sequence[str], advice: str) -> None:
    """WrongInput that names what is wrong with a file, line by line, if anything is."""
    if not faults:
        return
    more = len(faults) - SHOWN
    shown = [f"{file}, {fault}" for fault in faults[:SHOWN]]
    rest = [f"and {counted(more, 'fault')} more"] if more > 0 else []
    raise WrongInput("\n".join([*shown, *rest, advice]))
