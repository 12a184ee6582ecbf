"""What the log of calls tells of a session: status, cost, dropped parameters, repeated ids."""

import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.domain.cost import cost_of, sum_of
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.store.runs import Runs

Record = Mapping[str, Any]


class Ids:
    """The response ids of calls by model: for each the texts it came with, as check sums.

    Millions are looked at, and few come twice: of the others only digests are kept.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._repeated: dict[bytes, tuple[str, list[int]]] = {}

    def note(self, model: str, id: str, text: int) -> None:
        """Add one call; `text` is the check sum of its text."""
        key = hashlib.blake2b(repr((model, id)).encode(), digest_size=16).digest()
        if key in self._first:
            self._repeated.setdefault(key, (id, [self._first[key]]))[1].append(text)
        else:
            self._first[key] = text

    def repeated(self) -> list[tuple[str, list[int]]]:
        """The ids that several calls came with, in the order in which they first came."""
        if not self._repeated:
            return []
        return [self._repeated[key] for key in self._first if key in self._repeated]


@dataclass(frozen=True)
class CallSummary:
    """The recorded calls of a session: how many, how they ended, and what they cost.

    `cost_usd` is None where the cost of a call is unknown or a line of the log is damaged.
    `parameters_dropped` holds, by model, what was requested and had no effect;
    `repeated_response_ids` is what `repeated` gives.
    """

    recorded: int
    by_status: Mapping[str, int]
    parameters_dropped: Mapping[str, Sequence[str]]
    repeated_response_ids: Mapping[str, Any] | None
    cost_usd: float | None
    damaged_lines: int


def summary_of(records: Sequence[Record], damaged_lines: int) -> CallSummary:
    """What the records of a session's log, of which some lines may be damaged, come to."""
    lines = len(records) + damaged_lines
    records = readable(records)
    damaged_lines = lines - len(records)
    ids = Ids()
    note_ids(records, ids)
    return CallSummary(
        recorded=len(records),
        by_status=dict(Counter(record["completion"]["status"] for record in records)),
        parameters_dropped=dropped(records),
        repeated_response_ids=repeated(ids),
        cost_usd=None if damaged_lines else cost_usd(records),
        damaged_lines=damaged_lines,
    )


def readable(records: Iterable[Record]) -> list[Record]:
    """The records that say how their call ended; others are damaged lines."""
    found = []
    for record in records:
        completion = record.get("completion")
        if isinstance(completion, Mapping) and "status" in completion:
            found.append(record)
    return found


def cost_usd(records: Iterable[Record]) -> float | None:
    """US dollars of all calls and their failed attempts; None where the cost of one is unknown."""
    attempts: list[Mapping[str, Any]] = []
    for record in records:
        completion = record["completion"]
        attempts += [*completion.get("tries", ()), completion]
    return sum_of(map(cost_of, attempts))


def dropped(records: Iterable[Record]) -> dict[str, list[str]]:
    """By model, the parameters that were requested and had no effect in some call."""
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if names := record.get("completion", {}).get("parameters_dropped"):
            found[str(record.get("model"))].update(names)
    return {model: sorted(names) for model, names in found.items()}


def dropped_in(run: Run, runs: Runs) -> dict[str, list[str]]:
    """The same of a run; from its log where the run was held before runs recorded it."""
    if run.dropped is None:
        return dropped(runs.exchanges(run.session.id)[0])
    return {model: list(names) for model, names in run.dropped.items()}


def without_effect(found: Mapping[str, Iterable[str]]) -> list[str]:
    """Dropped parameters in words, one line a model."""
    return [
        f"{', '.join(names)}: requested, and without effect on {model}"
        for model, names in found.items()
    ]


def fingerprints(records: Iterable[Record]) -> dict[str, list[str]]:
    """The fingerprints under which each model answered, by model."""
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if fingerprint := record.get("completion", {}).get("fingerprint"):
            found[str(record.get("model"))].add(fingerprint)
    return {model: sorted(names) for model, names in found.items()}


def note_ids(records: Iterable[Record], ids: Ids) -> None:
    """Add the response ids of these calls, so that sessions of a study can be compared."""
    for record in records:
        completion = record.get("completion", {})
        if id := completion.get("response_id"):
            text = str(completion.get("text", "")).encode(errors="replace")
            ids.note(str(record.get("model")), str(id), zlib.crc32(text))


def repeated(ids: Ids) -> dict[str, Any] | None:
    """How many calls had the id of another call of their model, and how many its text too.

    None where every id is unique.
    """
    twice = ids.repeated()
    if not twice:
        return None
    same = 0
    for _, texts in twice:
        same += sum(n for n in Counter(texts).values() if n > 1)
    return {
        "calls": sum(len(texts) for _, texts in twice),
        "same_text": same,
        "ids": [id for id, _ in twice][:5],
    }


def repetition(found: Mapping[str, Any]) -> str:
    """Repeated ids in words."""
    calls = f"{counted(found['calls'], 'call')} came with the response id of another"
    ids = ", ".join(found["ids"])
    return f"{calls} ({ids}), {found['same_text']} of them with its text too"
