"""Importing judgments of pairs that were made elsewhere: all rows of a CSV file, or none."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.pair_texts import fault_of
from delibsim.asking.road import refuse_if
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import OUTCOMES, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import study_named
from delibsim.store.answers import Comparisons
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.csv_cells import read_columns, refuse_faults
from delibsim.store.tables.sheets import sha256_of

PEOPLE = "people"
"""The judge of a file that names no raters."""
NOTHING_KEPT = "cannot be imported, and nothing of it was kept"


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


@dataclass(frozen=True)
class PairsImported:
    """What an import came to: votes that are new and that were known before, pairs, texts, judges
    and groups in the comparison now.
    """

    runs: Runs
    name: str
    new: int
    before: int
    pairs: int
    texts: int
    judges: int
    groups: int

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        own = {name: value for name, value in vars(self).items() if name != "runs"}
        return {"study": self.runs.study, **own}


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
) -> PairsImported:
    """Add the judgments of a file to a comparison of a study, which begins with them if there is
    none of that name.

    The same columns of the same file on the same dimension are known before; other columns, or
    another dimension, are further judgments. Ids are unique within a group only, so a text whose
    study holds no texts is named GROUP:ID where there are groups. WrongInput, with the lines, and
    nothing is kept: for outcomes other than a, b and tie, self pairs, empty ids, texts that the
    study does not hold, and pairs across groups.
    """
    cells = read_columns(file, columns.named)
    known = StudyTexts(runs).named() if StudyTexts(runs).held() else {}
    runs_of: Counter[tuple[str, str, str]] = Counter()
    votes, faults = [], []
    for line, given in cells.records():
        vote, fault = _vote(given, columns, known, dimension)
        if vote is None:
            faults.append(f"line {line}: {fault}")
            continue
        place = (vote.sheet.a, vote.sheet.b, vote.judge)
        runs_of[place] += 1
        votes.append(replace(vote, run=runs_of[place]))
    refuse_faults(file, faults, NOTHING_KEPT)
    read_as = {"dimension": dimension, "columns": columns.named}
    return _kept(file, runs, Comparisons.of(runs, name), votes, read_as)


def _vote(
    given: Mapping[str, str], columns: PairColumns, known: Mapping[str, Text], dimension: str
) -> tuple[Vote | None, str]:
    """The vote of a row; None, and why there is none."""
    a, b = given[columns.a], given[columns.b]
    group = given[columns.group] if columns.group else ""
    outcome = given[columns.outcome].casefold()
    judge = given[columns.rater] if columns.rater else PEOPLE
    if not (a and b):
        return None, "the id of a text is empty"
    if a == b:
        return None, f"{a} is compared with itself"
    if outcome not in OUTCOMES:
        return None, f"the outcome is '{given[columns.outcome]}'; it must be a, b or tie"
    if not judge:
        return None, "the rater is empty"
    if known:
        fault = fault_of(a, b, known, group)
        if fault:
            return None, fault
        sheet = Sheet(a, b, known[a].group)
    elif group:
        sheet = Sheet(f"{group}:{a}", f"{group}:{b}", group)
    else:
        sheet = Sheet(a, b)
    return Vote(sheet, judge, dimension, outcome), ""


def _kept(
    file: Path,
    runs: Runs,
    comparisons: Comparisons,
    votes: Sequence[Vote],
    read_as: Mapping[str, Any],
) -> PairsImported:
    """The comparison with the votes of a file, which are added unless they are known: the file was
    `read_as` this before.
    """
    digest = sha256_of(file)
    texts = StudyTexts(runs)
    if runs.manifest() is None and not texts.held():
        begun = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        texts.keep([], Manifest(runs.study, {}, {}, begun=begun))
    with runs.lock():
        task = comparisons.files.task()
        where = f"{study_named(runs.study)}, comparison {comparisons.name}"
        if task and "imported" not in task:
            refuse_if(
                [f"{len(comparisons.all()):,} votes of language models"],
                f"{where} was asked of language models, and imported judgments stand apart",
                "name another comparison: name=NAME",
            )
        imported = dict(task.get("imported", {}))
        old = comparisons.all()
        before = imported.get(digest, {}).get("read_as", [])
        new = [] if read_as in before else _after(old, votes)
        if new:
            known = {"file": file.name, "rows": len(votes), "read_as": [*before, read_as]}
            imported[digest] = known
            comparisons.files.settle(_task(runs, task, imported, [*old, *new]))
            comparisons.add(new)
    found = [*old, *new]
    ids = {id for vote in found for id in (vote.sheet.a, vote.sheet.b)}
    return PairsImported(
        runs=runs,
        name=comparisons.name,
        new=len(new),
        before=len(votes) - len(new),
        pairs=len({vote.sheet.pair for vote in found}),
        texts=len(ids),
        judges=len({vote.judge for vote in found}),
        groups=len({vote.sheet.group for vote in found}),
    )


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
