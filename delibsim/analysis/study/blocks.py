"""Two treatments compared within blocks: what enters, what each block and pair gives, what is left.

A block is one topic, model and setting. It enters only with values under both treatments, and a
pair is a replicate of a block with exactly one value under each. A session without interaction
stands in the blocks of all levels of speech that it is compared with (see `silent_sessions`).
Paraphrases of a treatment are wordings of it: each wording of a has a block with each of b.
Whatever does not enter is counted and named in `left_out`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from delibsim.analysis.study.silent_sessions import placed
from delibsim.analysis.study.study_table import BLOCK
from delibsim.measures.inference.contrasts import block_differences

NAMED = 5
"""How many things a note names before it only counts them."""
UNIT = [*BLOCK, "replicate", "treatment"]
"""What tells the sessions of a study apart."""
WORDING = "paraphrase"
"""The column with the treatment as it was held, where treatments have paraphrases."""


@dataclass(frozen=True)
class Compared:
    """Treatments a and b on one outcome.

    `runs` has the columns of `DESIGN`, `value`, `block`, the number of the block from 0, and
    `held`, the number of the session, and holds the sessions that enter, once for each block.
    `blocks` has one row a block, in the order of these numbers: topic, model, setting, `wording`
    (the paraphrases that are compared, "" where there are none), `difference` (mean under a less
    mean under b) and `pairs`, how many it has. `pairs` has one row a pair: `block`, `topic`,
    `replicate`, `difference`, and `draw`, the number of its topic and replicate: pairs of one draw
    share people and orders. `left_out` are sentences on what does not enter, `unpaired` one on the
    runs that enter and make no pair, or none.
    """

    a: str
    b: str
    runs: pd.DataFrame
    blocks: pd.DataFrame
    pairs: pd.DataFrame
    left_out: tuple[str, ...] = ()
    unpaired: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether both treatments gave the same value in every block and every pair."""
        if not len(self.blocks):
            return False
        found = (*self.blocks["difference"], *self.pairs["difference"])
        return not np.any(found)

    def part(self, blocks: Sequence[int] | pd.Index) -> "Compared":
        """The same of some blocks alone, by their numbers."""
        runs, pairs = self.runs, self.pairs
        return replace(
            self,
            runs=runs[runs["block"].isin(blocks)],
            blocks=self.blocks.loc[blocks],
            pairs=pairs[pairs["block"].isin(blocks)],
        )

    @property
    def shared(self) -> str:
        """A sentence on the sessions that stand in several blocks; "" where none does."""
        several = int((self.runs["held"].value_counts() > 1).sum())
        if not several:
            return ""
        sessions = "1 session" if several == 1 else f"{several} sessions"
        return f"shared: {sessions} compared at several levels of speech, or with several wordings"


class _Table:
    """A table as a key of what was computed from it: equal to itself alone."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows

    def __hash__(self) -> int:
        return id(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Table) and self.rows is other.rows


def compared(rows: pd.DataFrame, outcome: str, a: str, b: str) -> Compared:
    """Treatments a and b compared on a column of the table of a study.

    What was compared last is kept, because most analyses take the same contrasts of one table.
    """
    return _compared(_Table(rows), outcome, a, b)


@lru_cache(maxsize=64)
def _compared(table: _Table, outcome: str, a: str, b: str) -> Compared:
    rows = table.rows
    either = rows["treatment"].isin([a, b])
    known = outcome in rows.columns and rows.loc[either, outcome].notna().all()
    lost = "" if known else missing_note(rows[either], outcome)
    left_out = [lost] if lost else []
    needed = [name for name in (*UNIT, "interaction", WORDING) if name in rows.columns]
    values = rows[outcome].astype(float) if outcome in rows.columns else np.nan
    both = rows[needed].assign(value=values)[either].reset_index(drop=True)
    both = placed(both.assign(held=both.index))
    both = _by_wording(both, a, b)
    planned = both.groupby(list(BLOCK), dropna=False, sort=True).ngroup()
    known = both["value"].notna()
    runs = both.loc[known, [*UNIT, "held", "value", "wording"]].copy()
    runs["block"] = planned[known]
    first = runs["treatment"] == a
    has_a = set(runs.loc[first, "block"])
    has_b = set(runs.loc[~first, "block"])
    left_out += _one_sided(runs, {a: has_a - has_b, b: has_b - has_a}, (a, b))
    left_out += _empty(planned, runs["block"])
    runs = runs[runs["block"].isin(has_a & has_b)]
    runs["block"] = np.unique(runs["block"], return_inverse=True)[1]
    runs = runs.sort_values(["block", "treatment", "replicate"], kind="stable")
    runs["held"] = pd.factorize(runs["held"])[0]
    twice = duplicated(runs)
    left_out += duplicates_note(runs)
    pairs, unpaired = _pairs(runs, twice, a)
    return Compared(a, b, runs, _blocks(runs, pairs, a), pairs, tuple(left_out), unpaired)


def _by_wording(rows: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """The sessions with a column `wording`, once for each wording of a beside each of b.

    `setting` tells the blocks of wordings apart.
    """
    if WORDING not in rows.columns:
        return rows.assign(wording="")
    parts = []
    sides = [rows[rows["treatment"] == name] for name in (a, b)]
    for first, of_a in sides[0].groupby(WORDING, sort=True):
        for second, of_b in sides[1].groupby(WORDING, sort=True):
            pair = pd.concat([of_a, of_b])
            told = "" if {first, second} == {a, b} else f"{first} against {second}"
            setting = pair["setting"].astype(str)
            named = (setting + f", wording={told}").str.removeprefix(", ") if told else setting
            parts.append(pair.assign(setting=named, wording=f"{first} against {second}"))
    return pd.concat(parts, ignore_index=True) if parts else rows.assign(wording="")


def _blocks(runs: pd.DataFrame, pairs: pd.DataFrame, a: str) -> pd.DataFrame:
    """The table of blocks."""
    named = [*BLOCK, "wording"]
    blocks = runs.drop_duplicates("block")[named].reset_index(drop=True)
    if not len(blocks):
        return blocks.assign(difference=pd.Series(dtype=float), pairs=pd.Series(dtype=int))
    difference = block_differences(runs["value"], runs["treatment"] == a, runs["block"])
    return blocks.assign(
        difference=difference,
        pairs=np.bincount(pairs["block"], minlength=len(blocks)),
    )


def duplicated(rows: pd.DataFrame) -> pd.Series:
    """Which sessions share block, treatment, wording and replicate with another one: a fault."""
    unit = [name for name in (*UNIT, WORDING) if name in rows.columns]
    return rows.duplicated(unit, keep=False) & rows["replicate"].notna()


def duplicates_note(rows: pd.DataFrame) -> list[str]:
    """A sentence on sessions that share block, treatment and replicate, or none."""
    return _duplicates(rows[duplicated(rows)])


def _duplicates(twice: pd.DataFrame) -> list[str]:
    if not len(twice):
        return []
    named = _counted(twice.drop_duplicates(UNIT), "replicate", "has", "have")
    return [
        f"duplicated_runs: {named} more than one session under a treatment, {len(twice)} in all;"
        " they count in means and make no pair"
    ]


def _pairs(
    runs: pd.DataFrame,
    twice: pd.Series,
    a: str,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table of pairs, and a sentence on the runs without a counterpart."""
    faulty = pd.MultiIndex.from_frame(runs.loc[twice, ["block", "replicate"]])
    keys = pd.MultiIndex.from_frame(runs[["block", "replicate"]])
    single = runs[~keys.isin(faulty) & runs["replicate"].notna()]
    place = ["block", "topic", "replicate"]
    first = single["treatment"] == a
    sides = single[[*place, "value"]]
    both = sides[first].merge(sides[~first], on=place, suffixes=("", "_b"))
    draw = both.groupby(["topic", "replicate"], dropna=False).ngroup()
    pairs = both[place].assign(difference=both["value"] - both["value_b"], draw=draw)
    paired = keys.isin(pd.MultiIndex.from_frame(pairs[["block", "replicate"]]))
    alone = runs[~paired & ~twice.to_numpy()]
    if not len(alone):
        return pairs, ()
    named = _counted(alone, "session", "has", "have")
    return pairs, (f"unpaired: {named} no counterpart under the other treatment",)


def missing_note(rows: pd.DataFrame, outcome: str) -> str:
    """How many sessions have no value of a column, and why; "" where all have one."""
    if outcome not in rows.columns:
        return f"missing: the study has no column {outcome}"
    missing = rows[rows[outcome].isna()]
    if not len(missing):
        return ""
    reasons = [f"{count} {reason}" for reason, count in reasons_of(missing, outcome).items()]
    return f"missing: {len(missing)} of {len(rows)} sessions have no value ({', '.join(reasons)})"


def reasons_of(missing: pd.DataFrame, outcome: str) -> dict[str, int]:
    """Why sessions have no value of a column, with counts: the code of the note, or the status."""
    missing = missing.reset_index(drop=True)
    measure = outcome.removesuffix("_change")
    codes = pd.Series("", index=missing.index)
    for column in (f"{measure}_note", f"{measure.removesuffix('_relative')}_note", "status"):
        if column in missing.columns:
            given = missing[column].fillna("").astype(str).str.partition(":")[0]
            codes = codes.where(codes != "", given)
    named = codes.where(~codes.isin(["", "complete"]), "no reason given")
    return {str(code): int(count) for code, count in named.value_counts().items()}


def _one_sided(
    runs: pd.DataFrame,
    only: dict[str, set],
    treatments: Sequence[str],
) -> list[str]:
    """Sentences on the blocks with values of one treatment alone."""
    sentences = []
    for treatment, other in zip(treatments, reversed(treatments), strict=True):
        if only[treatment]:
            alone = runs[runs["block"].isin(only[treatment])].drop_duplicates("block")
            named = _counted(alone[list(BLOCK)], "block", "has", "have")
            sentences.append(f"no_{other}: {named} no value under {other}")
    return sentences


def _empty(planned: np.ndarray, known: pd.Series) -> list[str]:
    """A sentence on the blocks without any value, by the numbers of blocks, or none."""
    blocks = len(np.unique(planned))
    empty = blocks - known.nunique()
    if not empty:
        return []
    return [f"empty_blocks: no value under either treatment in {empty} of {blocks} blocks"]


def _counted(rows: pd.DataFrame, noun: str, one: str, many: str) -> str:
    """How many rows, with the names of the first few: "2 sessions (a; b) have"."""
    names = [" ".join(parts) for parts in _names(rows.head(NAMED))]
    if len(rows) > NAMED:
        names.append(f"{len(rows) - NAMED} more")
    head, verb = (f"1 {noun}", one) if len(rows) == 1 else (f"{len(rows)} {noun}s", many)
    return f"{head} ({'; '.join(names)}) {verb}"


def _names(rows: pd.DataFrame) -> Iterable[list[str]]:
    """The parts of the name of each row: topic, model and so on."""
    columns = [name for name in (*BLOCK, "treatment", "replicate") if name in rows.columns]
    for row in rows[columns].itertuples(index=False):
        named = zip(columns, row, strict=True)
        yield [_part(name, value) for name, value in named if str(value) != ""]


def _part(column: str, value: object) -> str:
    """A value as it stands in the name of a session."""
    if column == "replicate" and isinstance(value, (int, float, np.number)):
        return f"r{value:g}"
    return str(value)
