"""Answers that were given elsewhere: votes on pairs, summaries, and judgments of summaries; all
rows of a file are kept, or none.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.judgment import judged_material
from delibsim.asking.kinds.pair_texts import fault_of
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.road import IMPORTED, refuse_if
from delibsim.asking.texts import checked_wording
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import OUTCOMES, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import DIMENSIONS, SCALE, Judgment, Sitting, Slot, Summary
from delibsim.domain.text import study_named
from delibsim.domain.treatment import wording_plain
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.answers import Comparisons, Judgments, Summaries, TaskAnswers
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts, opinions_of
from delibsim.store.tables.csv_cells import read_columns, refuse_faults
from delibsim.store.tables.sheets import sha256_of

PEOPLE = "people"
"""The judge of a file that names no raters."""
NOTHING = "cannot be imported, and nothing of it was kept"
MISSING = ("", "na", "nan", ".")
Cells = Mapping[str, str]


@dataclass(frozen=True)
class AnswersImported:
    """What an import came to: the answers of a file that are new, and that were known before; and
    what is known of the task now (`facts`).
    """

    runs: Runs
    name: str
    new: int
    before: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        counts = {"name": self.name, "new": self.new, "before": self.before}
        return {"study": self.runs.study, **counts, **self.facts}


@dataclass(frozen=True)
class PairColumns:
    """The columns of a file: both texts, the outcome, and, "" where there is none, the rater and
    the group.
    """

    a: str
    b: str
    outcome: str
    rater: str = ""
    group: str = ""

    @property
    def named(self) -> list[str]:
        """The columns that are read."""
        own = (self.a, self.b, self.outcome, self.rater, self.group)
        return [name for name in own if name]


def columns_of(pairs: str, group: str) -> PairColumns:
    """The columns that these settings name; WrongInput for fewer than three or more than five.

    >>> columns_of("a,b,outcome", "topic").group
    'topic'
    """
    named = [name.strip() for name in pairs.split(",")]
    if not 3 <= len(named) <= 5 or not all(named):
        raise WrongInput(f"columns={pairs}: name the columns as a,b,outcome[,rater[,group]]")
    if group and len(named) == 5:
        raise WrongInput(f"columns= names the group '{named[4]}', and group= names '{group}'")
    own = [*named, *[""] * (5 - len(named))]
    if group:
        own[4] = group
    if len(set(filter(None, own))) < len(list(filter(None, own))):
        raise WrongInput(f"columns={pairs}: a column stands twice")
    return PairColumns(*own)


def import_pairs(
    file: Path, runs: Runs, columns: PairColumns, name: str, dimension: str
) -> AnswersImported:
    """Add the judgments of a file to a comparison of a study, which begins with them if there is
    none of that name.

    The same columns of the same file on the same dimension are known before; other columns, or
    another dimension, are further judgments. Ids are unique within a group only, so a text whose
    study holds no texts is named GROUP:ID where there are groups. WrongInput, with the lines, and
    nothing is kept: for outcomes other than a, b and tie, self pairs, empty ids, texts that the
    study does not hold, and pairs across groups.
    """
    texts, comparisons = StudyTexts(runs), Comparisons.of(runs, name)
    known = texts.named() if texts.held() else {}
    runs_of: Counter[tuple[str, str, str]] = Counter()

    def read(cells: Cells) -> Vote:
        vote = _vote(cells, columns, known, dimension)
        place = (vote.sheet.a, vote.sheet.b, vote.judge)
        runs_of[place] += 1
        return replace(vote, run=runs_of[place])

    votes = _rows(file, columns.named, read)
    if runs.manifest() is None and not texts.held():
        begun = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        texts.keep([], Manifest(runs.study, {}, {}, begun=begun))
    with runs.lock():
        task, old = comparisons.files.task(), comparisons.all()
        if task and IMPORTED not in task:
            where = f"{study_named(runs.study)}, comparison {comparisons.name}"
            refuse_if(
                [f"{len(old):,} votes of language models"],
                f"{where} was asked of language models, and imported judgments stand apart",
                "name another comparison: name=NAME",
            )
        files, digest = dict(task.get(IMPORTED, {})), sha256_of(file)
        before = files.get(digest, {}).get("read_as", [])
        read_as = {"dimension": dimension, "columns": columns.named}
        new = [] if read_as in before else _after(old, votes)
        if new:
            files[digest] = {"file": file.name, "rows": len(votes), "read_as": [*before, read_as]}
            comparisons.files.settle(_task(runs, task, files, [*old, *new]))
            comparisons.add(new)
    sheets = {vote.sheet for vote in (*old, *new)}
    facts = {
        "pairs": len({sheet.pair for sheet in sheets}),
        "texts": len({id for sheet in sheets for id in (sheet.a, sheet.b)}),
        "judges": len({vote.judge for vote in (*old, *new)}),
        "groups": len({sheet.group for sheet in sheets}),
    }
    return AnswersImported(runs, comparisons.name, len(new), len(votes) - len(new), facts)


def _vote(given: Cells, columns: PairColumns, known: Mapping[str, Text], dimension: str) -> Vote:
    """The vote of a row; WrongInput where there is none."""
    a, b = given[columns.a], given[columns.b]
    group = given[columns.group] if columns.group else ""
    named = given[columns.outcome]
    outcome = next((one for one in OUTCOMES if one == named.casefold()), None)
    judge = given[columns.rater] if columns.rater else PEOPLE
    fault = ""
    if not (a and b):
        fault = "the id of a text is empty"
    elif a == b:
        fault = f"{a} is compared with itself"
    elif outcome is None:
        fault = f"the outcome is '{named}'; it must be a, b or tie"
    elif not judge:
        fault = "the rater is empty"
    elif known:
        fault = fault_of(a, b, known, group)
    if fault:
        raise WrongInput(fault)
    if known:
        return Vote(Sheet(a, b, known[a].group), judge, dimension, outcome)
    names = (f"{group}:{a}", f"{group}:{b}") if group else (a, b)
    return Vote(Sheet(*names, group), judge, dimension, outcome)


def _after(old: Sequence[Vote], votes: Sequence[Vote]) -> list[Vote]:
    """The votes of a further file, numbered after those that a judge gave on the same sheet."""
    last: dict[tuple[Any, ...], int] = {}
    for vote in old:
        place = vote.key[:4]
        last[place] = max(last.get(place, 0), vote.run)
    return [replace(vote, run=vote.run + last.get(vote.key[:4], 0)) for vote in votes]


def _task(
    runs: Runs, task: Mapping[str, Any], imported: Mapping[str, Any], votes: Sequence[Vote]
) -> dict[str, Any]:
    """What a study keeps of a comparison whose votes were imported."""
    ids = dict.fromkeys(id for vote in votes for id in (vote.sheet.a, vote.sheet.b))
    return {
        "study": runs.study,
        "seed": task.get("seed", 0),
        "imported": dict(imported),
        "design": {"kind": "list", "order": "one"},
        "dimensions": dict.fromkeys((vote.dimension for vote in votes), None),
        "texts": dict.fromkeys(ids, ""),
    }


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


def _rows(file: Path, needed: Sequence[str], read: Callable[[Cells], Any]) -> list[Any]:
    """The answer of every row; WrongInput with all lines at fault, and with keys given twice."""
    found: dict[Any, Any] = {}
    faults = []
    for line, cells in read_columns(file, needed).records():
        try:
            one = read(cells)
        except WrongInput as error:
            faults.append(f"line {line}: {error}")
            continue
        if one.key in found:
            faults.append(f"line {line}: a line before it says the same of the same")
        found[one.key] = one
    refuse_faults(file, faults, NOTHING)
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
    facts = {"by": sorted(by)}
    return AnswersImported(runs, answers.name, len(new), len(rows) - len(new), facts)


def _known(what: str, id: str, known: Collection[str]) -> str:
    if id not in known:
        raise WrongInput(f"the study has no {what} '{id}'")
    return id


def _whole(cell: str, name: str, ends: tuple[int, int]) -> int:
    if not (cell.isascii() and cell.isdigit() and ends[0] <= int(cell) <= ends[1]):
        raise WrongInput(f"{name} is '{cell}', no whole number from {ends[0]} to {ends[1]:,}")
    return int(cell)
