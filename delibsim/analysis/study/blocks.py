"""Two treatments compared within blocks: what enters, what each block and pair gives, what is left.

A block is one topic, model and setting. It enters only with values under both treatments, and a
pair is a replicate of a block with exactly one value under each. A session in which nobody speaks
has no rounds of speech: it is held once for all levels of a setting of speech, and stands in the
blocks of all these levels. Paraphrases of a treatment are wordings of it: each wording of a has a
block with each of b. Whatever does not enter is counted and named in `left_out`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan

import numpy as np
import pandas as pd

from delibsim.analysis.study.factors import SETTINGS_OF, Stated, stated
from delibsim.analysis.study.study_table import BLOCK, WORDING
from delibsim.domain.effect import OF_TURNS
from delibsim.measures.inference.contrasts import block_differences

NONE = "none"
"""The treatment under which nobody speaks."""
NAMED = 5
"""How many things a note names before it only counts them."""
UNIT = [*BLOCK, "replicate", "treatment"]
"""What tells the sessions of a study apart."""


@dataclass(frozen=True, eq=False)
class BlockComparison:
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
        found = (*self.blocks["difference"], *self.pairs["difference"])
        return len(self.blocks) > 0 and not np.any(found)

    def part(self, blocks: Sequence[int] | pd.Index) -> "BlockComparison":
        """The same of some blocks alone, by their numbers."""
        runs, pairs = (own[own["block"].isin(blocks)] for own in (self.runs, self.pairs))
        return replace(self, runs=runs, blocks=self.blocks.loc[blocks], pairs=pairs)

    @property
    def shared(self) -> str:
        """A sentence on the sessions that stand in several blocks; "" where none does."""
        several = int((self.runs["held"].value_counts() > 1).sum())
        if not several:
            return ""
        sessions = "1 session" if several == 1 else f"{several} sessions"
        return f"shared: {sessions} compared at several levels of speech, or with several wordings"

    @property
    def no_block(self) -> str:
        """What is said where nothing can be compared."""
        return f"no topic and model has values under both {self.a} and {self.b}"


class TableKey:
    """A table as a key of what was computed from it: equal to itself alone."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows

    def __hash__(self) -> int:
        return id(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableKey) and self.rows is other.rows


def compared(rows: pd.DataFrame, outcome: str, a: str, b: str) -> BlockComparison:
    """Treatments a and b compared on a column of the table of a study.

    What was compared last is kept, because most analyses take the same contrasts of one table.
    """
    return _compared(TableKey(rows), outcome, a, b)


@lru_cache(maxsize=64)
def _compared(table: TableKey, outcome: str, a: str, b: str) -> BlockComparison:
    rows = of_contrast(table.rows, a, b)
    needed = [name for name in (*UNIT, "interaction", WORDING) if name in rows.columns]
    both = rows[needed].reset_index(drop=True)
    both["value"] = np.nan
    if outcome in rows.columns:
        both["value"] = rows[outcome].astype(float).to_numpy()
    left_out = []
    if both["value"].isna().any() or outcome not in rows.columns:
        left_out.append(missing_note(rows, outcome))
    both = _by_wording(placed(both.assign(held=both.index)), a, b)
    planned = both.groupby(list(BLOCK), dropna=False, sort=True).ngroup()
    known = both["value"].notna()
    runs = both.loc[known, [*UNIT, "held", "value", "wording"]].assign(block=planned[known])
    first = runs["treatment"] == a
    has_a, has_b = set(runs.loc[first, "block"]), set(runs.loc[~first, "block"])
    for only, other in ((has_a - has_b, b), (has_b - has_a, a)):
        if only:
            alone = runs[runs["block"].isin(only)].drop_duplicates("block")
            named = _counted(alone[list(BLOCK)], "block")
            left_out.append(f"no_{other}: {named} no value under {other}")
    blocks, given = planned.nunique(), runs["block"].nunique()
    if given < blocks:
        empty = f"no value under either treatment in {blocks - given} of {blocks} blocks"
        left_out.append(f"empty_blocks: {empty}")
    runs = runs[runs["block"].isin(has_a & has_b)]
    runs["block"] = np.unique(runs["block"], return_inverse=True)[1]
    runs = runs.sort_values(["block", "treatment", "replicate"], kind="stable")
    runs["held"] = pd.factorize(runs["held"])[0]
    left_out += duplicates_note(runs)
    pairs, unpaired = _pairs(runs, a)
    return BlockComparison(a, b, runs, _blocks(runs, pairs, a), pairs, tuple(left_out), unpaired)


def of_contrast(rows: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """The sessions under a and b: two treatments, or two levels of a setting such as
    `facilitation=rounds`, which then stand as treatments, and the treatment in the setting.
    """
    either = rows["treatment"].isin([a, b])
    factor = a.partition("=")[0]
    if either.any() or f"{factor}=" not in rows.columns:
        return rows[either]
    own = rows[rows[f"{factor}="].isin([a, b])]
    held = own.get(WORDING, own["treatment"]).astype(str)
    settings = [_without(factor, one) for one in own["setting"].astype(str)]
    named = pd.Series(settings, index=own.index)
    if rows["treatment"].nunique() > 1 or WORDING in rows.columns:
        named = (named + ", treatment=" + held).str.removeprefix(", ")
    placed_by = {"treatment": own[f"{factor}="], "setting": named}
    return own.assign(**placed_by).drop(columns=WORDING, errors="ignore")


@lru_cache(maxsize=1024)
def _without(factor: str, setting: str) -> str:
    """The text of all settings without those of a factor."""
    kept = []
    for key, value in sorted(stated(setting)):
        if not SETTINGS_OF[factor].fullmatch(key):
            kept.append(f"{key}={value}" if key else value)
    return ", ".join(kept)


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
    blocks = runs.drop_duplicates("block")[[*BLOCK, "wording"]].reset_index(drop=True)
    if not len(blocks):
        return blocks.assign(difference=pd.Series(dtype=float), pairs=pd.Series(dtype=int))
    difference = block_differences(runs["value"], runs["treatment"] == a, runs["block"])
    counts = np.bincount(pairs["block"], minlength=len(blocks))
    return blocks.assign(difference=difference, pairs=counts)


def _pairs(runs: pd.DataFrame, a: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table of pairs, and a sentence on the runs without a counterpart."""
    numbers = pd.factorize(runs["replicate"], sort=True)[0]  # -1 of a replicate without a number
    key = runs["block"].to_numpy() * (numbers.max(initial=0) + 1) + numbers
    twice = duplicated(runs).to_numpy()
    single = (numbers >= 0) & ~np.isin(key, key[twice])
    first = (runs["treatment"] == a).to_numpy()
    sides = np.flatnonzero(single & first), np.flatnonzero(single & ~first)
    both, at_a, at_b = np.intersect1d(key[sides[0]], key[sides[1]], return_indices=True)
    of_a, of_b = runs.iloc[sides[0][at_a]], runs.iloc[sides[1][at_b]]
    pairs = of_a[["block", "topic", "replicate"]].reset_index(drop=True)
    pairs["difference"] = of_a["value"].to_numpy() - of_b["value"].to_numpy()
    pairs["draw"] = pairs.groupby(["topic", "replicate"], dropna=False).ngroup()
    alone = runs[~np.isin(key, both) & ~twice]
    if not len(alone):
        return pairs, ()
    named = _counted(alone, "session")
    return pairs, (f"unpaired: {named} no counterpart under the other treatment",)


def duplicated(rows: pd.DataFrame) -> pd.Series:
    """Which sessions share block, treatment, wording and replicate with another one: a fault."""
    unit = [name for name in (*UNIT, WORDING) if name in rows.columns]
    return rows.duplicated(unit, keep=False) & rows["replicate"].notna()


def duplicates_note(rows: pd.DataFrame) -> list[str]:
    """A sentence on sessions that share block, treatment and replicate, or none."""
    twice = rows[duplicated(rows)]
    if not len(twice):
        return []
    named = _counted(twice.drop_duplicates(UNIT), "replicate")
    return [
        f"duplicated_runs: {named} more than one session under a treatment, {len(twice)} in all;"
        " they count in means and make no pair"
    ]


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
    measure = outcome.removesuffix("_change")
    codes = pd.Series("", index=range(len(missing)))
    for column in (f"{measure}_note", f"{measure.removesuffix('_relative')}_note", "status"):
        if column in missing.columns:
            given = missing[column].fillna("").astype(str).str.partition(":")[0]
            codes = codes.where(codes != "", given.to_numpy())
    named = codes.where(~codes.isin(["", "complete"]), "no reason given")
    return {str(code): int(count) for code, count in named.value_counts().items()}


def _counted(rows: pd.DataFrame, noun: str) -> str:
    """How many rows, with the names of the first few: "2 sessions (a; b) have"."""
    columns = [name for name in (*BLOCK, "treatment", "replicate") if name in rows.columns]
    names = []
    for row in rows[columns].head(NAMED).to_dict("records"):
        number = row.get("replicate")
        if isinstance(number, (int, float)) and not isnan(number):
            row["replicate"] = f"r{number:g}"
        names.append(" ".join(str(part) for part in row.values() if str(part)))
    if len(rows) > NAMED:
        names.append(f"{len(rows) - NAMED} more")
    head = f"1 {noun}" if len(rows) == 1 else f"{len(rows)} {noun}s"
    return f"{head} ({'; '.join(names)}) {'has' if len(rows) == 1 else 'have'}"


def is_silent(rows: pd.DataFrame) -> pd.Series:
    """Which sessions are without interaction, as booleans.

    The column `interaction` says so. Where it is not known, sessions under the treatment none are.
    """
    named = rows["treatment"].astype(str) == NONE
    if "interaction" not in rows.columns:
        return named
    known = rows["interaction"].astype("boolean")
    return (~known).fillna(named).astype(bool)


def beside_speech(setting: str) -> Stated:
    """The settings of a session without those of its speech.

    >>> sorted(beside_speech("group.size=4, rounds=2"))
    [('group.size', '4')]
    """
    return frozenset(part for part in stated(setting) if part[0] not in OF_TURNS)


def counterparts(spoken: Collection[str], silent: Collection[str]) -> dict[str, str]:
    """For each setting with speech that of the silent sessions it is compared with, where one is.

    Both agree in all that does not concern speech. Of several such settings it is the one that
    agrees in most that does, then the first by name.

    >>> counterparts(["rounds=2", "rounds=4"], [""])
    {'rounds=2': '', 'rounds=4': ''}
    """
    found = {}
    for setting in spoken:
        rest, own = beside_speech(setting), stated(setting)
        alike = [other for other in silent if beside_speech(other) == rest]
        if alike:
            found[setting] = min(alike, key=lambda other: (-len(own & stated(other)), other))
    return found


def placed(rows: pd.DataFrame) -> pd.DataFrame:
    """The sessions, those without interaction once in every block in which they are compared.

    `setting` is then that of the block. Silent sessions that no other session of their topic and
    model can be compared with stay in the block of their own.
    """
    if rows["setting"].nunique(dropna=False) < 2:
        return rows
    silent = is_silent(rows)
    if silent.all() or not silent.any():
        return rows
    place = ["topic", "model"]
    parts = [rows[~silent]]
    spoken = {where: own["setting"] for where, own in rows[~silent].groupby(place, dropna=False)}
    for where, own in rows[silent].groupby(place, dropna=False, sort=False):
        settings = list(dict.fromkeys(spoken.get(where, ())))
        chosen = counterparts(settings, set(own["setting"]))
        parts.append(own[~own["setting"].isin(set(chosen.values()))])
        for setting, counterpart in chosen.items():
            parts.append(own[own["setting"] == counterpart].assign(setting=setting))
    return pd.concat(parts, ignore_index=True)


def shares(rows: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """How far each session stands at each of these settings: 1 at its own, and 0 at the others.

    A silent session stands at the mean of the settings with speech that it is compared with, so
    that a treatment with several levels is compared with it at the mean of these levels.
    """
    found = pd.DataFrame(0.0, index=rows.index, columns=list(settings))
    silent = is_silent(rows)
    spoken = list(dict.fromkeys(rows.loc[~silent, "setting"]))
    chosen = counterparts(spoken, set(rows.loc[silent, "setting"]))
    for setting in settings:
        own = rows["setting"] == setting
        levels = [level for level, counterpart in chosen.items() if counterpart == setting]
        found.loc[own & ~silent, setting] = 1.0
        found.loc[own & silent, levels or [setting]] = 1.0 / max(len(levels), 1)
    return found
