"""Importing summaries and judgments of summaries that were made elsewhere: all rows, or none."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.judgment import judged_material
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.road import IMPORTED, refuse_if
from delibsim.asking.texts import checked_wording
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.summary import DIMENSIONS, SCALE, Judgment, Sitting, Slot, Summary
from delibsim.domain.text import study_named
from delibsim.domain.treatment import wording_plain
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.answers import Judgments, Summaries, TaskAnswers
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of
from delibsim.store.tables.csv_cells import read_sheet, refuse_faults
from delibsim.store.tables.sheets import sha256_of

NOTHING = "cannot be imported, and nothing of it was kept"
MISSING = ("", "na", "nan", ".")
Cells = Mapping[str, str]


@dataclass(frozen=True)
class AnswersImported:
    """What an import came to: the answers of a file that are new, and that were known before, and
    by whom they are.
    """

    runs: Runs
    name: str
    new: int
    before: int
    by: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        own = {name: value for name, value in vars(self).items() if name != "runs"}
        return {"study": self.runs.study, **own, "by": list(self.by)}


def import_summaries(file: Path, runs: Runs, name: str) -> AnswersImported:
    """Add the summaries of a file (columns model, text, perhaps run) of all opinions of a study.

    WrongInput, with the lines, for rows without a model or text, for a run that is no number from 1
    on, and for another text than a summariser has under the same run.
    """
    summaries, opinions = Summaries.of(runs, name), opinions_of(runs)
    size, counted = len(opinions.spoken), dict[str, int]()

    def read(cells: Cells) -> Summary:
        model, text = cells["model"].strip(), cells["text"]
        if not model or not text.strip():
            raise WrongInput(f"the {'text' if model else 'model'} is empty")
        counted[model] = counted.get(model, 0) + 1
        run = _whole(cells.get("run", "") or str(counted[model]), "run", (1, 1_000_000))
        return Summary(Slot(model, size, run=run), text)

    rows = _rows(file, ("model", "text"), read)
    asked: dict[str, Any] = summaries.files.task()
    if asked:
        _refuse_asked(summaries, asked)
    else:
        asked = {**plan_summaries(runs, [f"name={name}", "sizes=all", "runs=1"]).task, "floors": []}
    models = {one.slot.model: {"name": one.slot.model, "kind": IMPORTED} for one in rows}
    known: dict[str, Any] = asked["models"] if IMPORTED in asked else {}
    task = {**asked, "models": {**known, **models}}
    return _kept(runs, summaries, file, rows, task, models)


def import_judgments(
    file: Path, runs: Runs, name: str, of: str = "", people: bool = False
) -> AnswersImported:
    """Add the judgments of a file on the summaries `of` a study: columns judge, summary (its id),
    opinion (its id), rep, inf, neu and pol from 1 to 5; with a second summary in `other` they
    compare the two, from 1 (the first is much better) to 5; `first` is the one that was rated
    before, where there is one. `people`: people gave them.

    WrongInput, with the lines, for summaries and opinions that the study does not hold, for values
    off the scale, for rows without any, and for other values than were imported before.
    """
    summaries, judgments = Summaries.begun(runs, of), Judgments.of(runs, name)
    made = [one for one in summaries.all() if one.missing is None]
    material = judged_material(runs, summaries, opinions_of(runs), made)

    def read(cells: Cells) -> Judgment:
        judge, first, other = (cells.get(one, "").strip() for one in ("judge", "summary", "other"))
        if not judge:
            raise WrongInput("the judge is empty")
        for one in (first, other) if other else (first,):
            _known("summary", one, material.summaries)
        opinion = _known("opinion", cells["opinion"].strip(), material.opinions)
        control = opinion not in material.sources[first]
        given = {one: cells.get(one, "").strip() for one in DIMENSIONS}
        said = {one: cell for one, cell in given.items() if cell.casefold() not in MISSING}
        values = {one: _whole(cell, one, SCALE) for one, cell in said.items()}
        if not values:
            raise WrongInput(f"there is no value of {', '.join(DIMENSIONS)}")
        if first == other:
            raise WrongInput(f"{first} is compared with itself")
        before = cells.get("first", "").strip()
        if before not in ("", first, other) or (before and not other):
            raise WrongInput(f"first is '{before}', none of the two that are compared")
        sitting = Sitting(first, opinion, other, control and not other)
        return Judgment(sitting, judge, values, first=before)

    rows = _rows(file, ("judge", "summary", "opinion"), read)
    asked = judgments.files.task()
    if asked:
        _refuse_asked(judgments, asked)
        if asked["summaries"] != summaries.name:
            raise WrongInput(f"judgments {name} are of summaries {asked['summaries']}; name=NAME")
    task = {
        **{key: summaries.files.task()[key] for key in ("study", "seed", "reasks")},
        "summaries": summaries.name,
        "judged": {one.id: one.sha256 for one in made},
        "asks": [],
        "role": "reader",
        "temperature": None,
        "wording": wording_plain(checked_wording("verdict", check_verdict_texts)),
        "models": {},
    }
    task[IMPORTED] = asked.get(IMPORTED, {})
    return _kept(runs, judgments, file, rows, task, {one.judge for one in rows}, people)


def _rows(file: Path, needed: Collection[str], read: Callable[[Cells], Any]) -> list[Any]:
    """The answer of every row; WrongInput with all lines at fault, and with keys given twice."""
    sheet = read_sheet(file)
    for name in needed:
        if name not in sheet.header:
            raise unknown("column", name, sheet.header, f"Columns are those of {file}")
    found: dict[Any, Any] = {}
    faults = []
    for line, cells in sheet.records():
        try:
            one = read(cells)
        except WrongInput as error:
            faults.append(f"line {line}: {error}")
            continue
        if one.key in found:
            faults.append(f"line {line}: a line before it says the same of the same")
        found[one.key] = one
    refuse_faults(file, faults, NOTHING)
    if not found:
        raise WrongInput(f"{file} has no row below its header")
    return list(found.values())


def _refuse_asked(answers: TaskAnswers[Any], task: Mapping[str, Any]) -> None:
    if IMPORTED not in task:
        raise WrongInput(
            f"{answers.called} {answers.name} were asked for, and imported ones stand apart; name"
            " others: name=NAME"
        )


def _kept(
    runs: Runs,
    answers: TaskAnswers[Any],
    file: Path,
    rows: list[Any],
    task: Mapping[str, Any],
    by: Iterable[str],
    people: bool = False,
) -> AnswersImported:
    """Keep the rows that are new; WrongInput where what was kept before says otherwise."""
    with runs.lock():
        before = {one.key: one for one in answers.every()}
        clashes = [str(one.key) for one in rows if before.get(one.key, one) != one]
        where = f"{study_named(runs.study)}, {answers.called} {answers.name}"
        refuse_if(clashes, f"{where} has others than {file}", "import them as others: name=NAME")
        new = [one for one in rows if one.key not in before]
        if new:
            known = {**task.get(IMPORTED, {}), sha256_of(file): {"file": file.name}}
            answers.files.settle({**task, IMPORTED: known})
            answers.add(new, people=people)
    return AnswersImported(runs, answers.name, len(new), len(rows) - len(new), tuple(sorted(by)))


def _known(what: str, id: str, known: Collection[str]) -> str:
    if id not in known:
        raise WrongInput(f"the study has no {what} '{id}'")
    return id


def _whole(cell: str, name: str, ends: tuple[int, int]) -> int:
    if not (cell.isascii() and cell.isdigit() and ends[0] <= int(cell) <= ends[1]):
        raise WrongInput(f"{name} is '{cell}', no whole number from {ends[0]} to {ends[1]:,}")
    return int(cell)
