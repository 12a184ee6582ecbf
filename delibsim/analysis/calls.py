"""What the log of calls tells of a session: status, cost, dropped parameters, repeated ids; and
what is known of one call.
"""

import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delibsim.analysis.causes import DAMAGED, Cause, cause_of
from delibsim.domain.cost import MOST_USD, Money, cost_of, sum_of, total_of
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.models.counted import unchecked as unchecked_by
from delibsim.prompts.prompt import Message
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.sent import Sent

if TYPE_CHECKING:
    from delibsim.models.clients.settings import Price
    from delibsim.models.replay import Exchange


Record = Mapping[str, Any]
FAULTY = (LookupError, TypeError, ValueError, AttributeError)
"""What reading a record raises that is none of a call."""


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
    `repeated_response_ids` is what `repeated` gives; `money` says more of the cost.
    """

    recorded: int
    by_status: Mapping[str, int]
    parameters_dropped: Mapping[str, Sequence[str]]
    repeated_response_ids: Mapping[str, Any] | None
    cost_usd: float | None
    damaged_lines: int
    money: Money = Money()


def summary_of(
    records: Sequence[Record],
    damaged_lines: int,
    models: Mapping[str, Mapping[str, Any]] | None = None,
    cut_off: Sequence[Sent] = (),
) -> CallSummary:
    """What the records of a session's log, of which some lines may be damaged, and the calls that
    were cut off come to; `models` are the settings of those asked, by name.
    """
    money = tally(records, damaged_lines, models or {}, cut_off).money
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
        cost_usd=None if damaged_lines or cut_off else cost_usd(records),
        damaged_lines=damaged_lines,
        money=money,
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """What one log of calls comes to.

    `calls` counts the calls by how they ended at last: one that failed and was answered when it
    was asked again is ok. `failed` gives of each that is not ok its cause and its name in words;
    `retried` counts attempts, by status, that another followed; `servers` names who answered.
    """

    calls: Mapping[str, int]
    failed: tuple[tuple[Cause, str], ...]
    retried: Mapping[str, int]
    money: Money
    damaged_lines: int = 0
    servers: frozenset[str] = frozenset()


def tally(
    records: Sequence[Record],
    damaged_lines: int,
    models: Mapping[str, Mapping[str, Any]],
    cut_off: Sequence[Sent] = (),
) -> Tally:
    """What the records of a log, and the calls that were cut off, come to; `models` are the
    settings of those asked, by name.
    """
    from delibsim.models.clients.settings import price_in

    ended = last_of_each(records)
    failed = [record for record in ended if _status(record) != "ok"]
    retried: Counter[str] = Counter()
    for record in records:
        retried.update(str(one.get("status")) for one in _completion(record).get("tries") or ())
    prices = {name: price_in(settings) for name, settings in models.items()}
    spent = [_money(record, models, prices) for record in records]
    # A line that a kill has torn is that of a call that was cut off.
    torn = max(0, damaged_lines - len(cut_off))
    spent.append(Money(unknown=0 if is_free(models) else torn))
    spent += map(_money_of_cut_off, cut_off)
    return Tally(
        Counter(map(_status, ended)),
        tuple((cause_of(record), _call(record)) for record in failed),
        retried,
        total_of(spent),
        damaged_lines,
        frozenset(str(_completion(record).get("provider") or "") for record in records) - {""},
    )


def is_free(models: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether models, by their settings, cost nothing; no models may cost anything."""
    from delibsim.models.clients.settings import price_in

    return bool(models) and all(price_in(settings).free for settings in models.values())


def together(parts: Sequence[Tally]) -> Tally:
    """What several logs come to together."""
    return Tally(
        sum((Counter(part.calls) for part in parts), Counter()),
        tuple(failed for part in parts for failed in part.failed),
        sum((Counter(part.retried) for part in parts), Counter()),
        total_of(part.money for part in parts),
        sum(part.damaged_lines for part in parts),
        frozenset[str]().union(*(part.servers for part in parts)),
    )


def last_of_each(records: Iterable[Record]) -> list[Record]:
    """The last record of each call; a call that stopped a session is asked again when it goes on.

    What is no record of a call is kept.
    """
    found: dict[Any, Record] = {}
    for n, record in enumerate(records):
        purpose = record.get("purpose")
        call: Any = n
        if isinstance(purpose, Mapping) and purpose:
            asked = (purpose.get(part) for part in ("participant", "occasion", "attempt"))
            call = (*map(str, asked), str(record.get("seed")))
        found[call] = record
    return list(found.values())


def _completion(record: Record) -> Mapping[str, Any]:
    completion = record.get("completion")
    return completion if isinstance(completion, Mapping) else {}


def _status(record: Record) -> str:
    return str(_completion(record).get("status", DAMAGED))


def _call(record: Record) -> str:
    """A call in words: whose it is, how it ended and why."""
    purpose = record.get("purpose")
    purpose = purpose if isinstance(purpose, Mapping) else {}
    parts = (str(purpose.get(part, "?")) for part in ("participant", "occasion", "attempt"))
    return f"{'/'.join(parts)}: {_status(record)}: {_completion(record).get('detail', '')}"


def _money(
    record: Record, models: Mapping[str, Mapping[str, Any]], prices: "Mapping[str, Price]"
) -> Money:
    """What one call has cost with its failed attempts."""
    from delibsim.models.clients.settings import Price
    from delibsim.models.retry import worst_case

    try:
        completion = record["completion"]
        attempts = [*completion.get("tries", ()), completion]
        costs = list(map(cost_of, attempts))
        known = math.fsum(cost for cost in costs if cost is not None)
        if not abs(known) < MOST_USD:
            return Money(unknown=1)
        doubtful = costs.count(None)
        price = prices.get(record["model"], Price())
        if not doubtful or price.free:
            return Money(known)
        most = models[record["model"]].get("max_tokens") if record["model"] in models else None
        said = [Message(**message) for message in record["messages"]]
        worst = worst_case(said, price, most).cost_usd if most else None
    except FAULTY:
        return Money(unknown=1)
    if worst is None:
        return Money(known, unknown=1)
    return Money(known, worst * doubtful, 1)


def _money_of_cut_off(sent: Sent) -> Money:
    """What a call may have cost that was sent and has no answer on record."""
    if sent.usd is None:
        return Money(unknown=1)
    return Money(0.0, sent.usd, 1, 0, sent.usd, 1) if sent.usd else Money()


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
    return _by_model(records, lambda completion: completion.get("parameters_dropped"))


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
    return _by_model(records, lambda completion: filter(None, [completion.get("fingerprint")]))


def unchecked(records: Iterable[Record]) -> dict[str, list[str]]:
    """By model, why it cannot be said whether it read whole prompts, where a call shows it."""
    return _by_model(records, unchecked_by)


def _by_model(
    records: Iterable[Record], named: Callable[[Record], Iterable[str] | None]
) -> dict[str, list[str]]:
    """By model, the names that its calls have; without models whose calls have none."""
    found: dict[str, set[str]] = {}
    for record in records:
        if names := set(named(record.get("completion", {})) or ()):
            found.setdefault(str(record.get("model")), set()).update(names)
    return {model: sorted(names) for model, names in found.items()}


Noted = tuple[str, str, int]
"""A model, the response id of a call to it, and the check sum of its text."""


def noted(records: Iterable[Record]) -> list[Noted]:
    """The response ids of these calls."""
    found = []
    for record in records:
        completion = record.get("completion", {})
        if id := completion.get("response_id"):
            text = str(completion.get("text", "")).encode(errors="replace")
            found.append((str(record.get("model")), str(id), zlib.crc32(text)))
    return found


def note_ids(records: Iterable[Record], ids: Ids) -> None:
    """Add the response ids of these calls, so that sessions of a study can be compared."""
    for one in noted(records):
        ids.note(*one)


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


def facts(exchange: "Exchange") -> dict[str, str]:
    """What is known of a call beside its messages and its reply; nothing that is empty."""
    done = exchange.completion
    tries = [f"{one.status}: {one.detail} (waited {one.waited:g} s)" for one in done.tries]
    by = f", answered by {done.model_returned}" if done.model_returned else ""
    known = {
        "detail": done.detail,
        "reasoning": done.reasoning,
        "model": f"{done.model_requested}{by}",
        "parameters sent": in_words(done.parameters_sent),
        "parameters dropped": ", ".join(done.parameters_dropped),
        "usage": in_words({name: n for name, n in vars(done.usage).items() if n is not None}),
        "finish reason": done.finish_reason,
        "tries before": "; ".join(tries),
        "seed": "" if exchange.seed is None else str(exchange.seed),
    }
    return {name: fact for name, fact in known.items() if fact}


def in_words(values: Mapping[str, Any]) -> str:
    """Names with their values, as a person writes them.

    >>> in_words({"max_tokens": 900, "stop": ["a", "b"], "logprobs": True, "user": "x"})
    'max tokens 900, stop ["a","b"], logprobs true, user x'
    """
    found = []
    for name, value in values.items():
        said = value if isinstance(value, str) else json_text(value)
        found.append(f"{name.replace('_', ' ')} {said}")
    return ", ".join(found)
