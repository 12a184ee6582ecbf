"""What the log of calls says that a run does not: parameters without effect, ids given twice, who
answered.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.domain.run import Run
from delibsim.store.runs import Runs

Record = Mapping[str, Any]
Ids = dict[tuple[str, str], list[int]]
"""For every model and response id the texts it came with, each as a check sum."""


def dropped(records: Iterable[Record]) -> dict[str, list[str]]:
    """The parameters that were requested of a model and did not take effect in some call, by
    model.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if names := record.get("completion", {}).get("parameters_dropped"):
            found[str(record.get("model"))].update(names)
    return {model: sorted(names) for model, names in found.items()}


def dropped_in(run: Run, runs: Runs) -> dict[str, list[str]]:
    """The same as the run says it, or its log where the run was held before runs said it."""
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
    """Add the response ids of these calls, so that ids can be compared across the sessions of a
    study.
    """
    for record in records:
        completion = record.get("completion", {})
        if id := completion.get("response_id"):
            text = str(completion.get("text", "")).encode(errors="replace")
            ids.setdefault((str(record.get("model")), str(id)), []).append(zlib.crc32(text))


def repeated(ids: Ids) -> dict[str, Any] | None:
    """How many calls came with an id that another call of that model had, and how many of those
    with the same text; None if none.
    """
    twice = {key: texts for key, texts in ids.items() if len(texts) > 1}
    if not twice:
        return None
    same = sum(n for texts in twice.values() for n in Counter(texts).values() if n > 1)
    return {
        "calls": sum(map(len, twice.values())),
        "same_text": same,
        "ids": [id for _, id in twice][:5],
    }


def repetition(found: Mapping[str, Any]) -> str:
    """Repeated ids in words."""
    some = ", ".join(found["ids"])
    return (
        f"{found['calls']} calls came with the response id of another ({some}),"
        f" {found['same_text']} of them with its text too"
    )
