"""The votes of the comparisons about a study as a table of its export."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.domain.comparison import Vote
from delibsim.store.gathered import AboutStudy, comparisons_about
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import Table


@cache
def vote_columns() -> tuple[str, tuple[Column, ...]]:
    """What a row of the table is, and its columns."""
    plain = read_yaml(Path(__file__).parents[2] / "data" / "vote_table.yaml")
    return plain["row"], tuple(Column(**column) for column in plain["columns"])


def vote_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The table `votes` of a study, of pairs with a text of it; none where nothing was compared.

    Damaged lines are left out and told in `faults`.
    """
    about = list(comparisons_about(runs))
    if not about:
        return []
    row, columns = vote_columns()
    return [Table("votes", row, columns, _rows(runs, about, columns, faults))]


def _rows(
    runs: Runs, about: Sequence[AboutStudy], columns: Sequence[Column], faults: list[str]
) -> Iterator[list[Any]]:
    for one in about:
        kind = "imported" if "imported" in one.comparisons.files.task() else "model"
        found = [(kind, vote) for vote in one.comparisons.all(faults)]
        found += [("human", vote) for vote in one.comparisons.people(faults)]
        for judge, vote in found:
            texts = vote.sheet.a, vote.sheet.b
            if any(text.startswith(one.prefix) for text in texts):
                values = _row(vote, judge) | {"study": runs.study, "comparison": one.coder}
                yield [values.get(column.name) or None for column in columns]


def _row(vote: Vote, kind: str) -> dict[str, Any]:
    """A vote by the names of the columns."""
    return {
        "dimension": vote.dimension,
        "group": vote.sheet.group,
        "text_a": vote.sheet.a,
        "text_b": vote.sheet.b,
        "judge": vote.judge,
        "judge_kind": kind,
        "run": vote.run,
        "outcome": vote.outcome,
        "missing": None if vote.missing is None else str(vote.missing),
        "rationale": vote.rationale,
    }
