"""What the calls of a run came to: how many, tokens, US dollars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.calls import cost_usd, readable


@dataclass(frozen=True)
class Cost:
    """The recorded calls of a run, with their failed attempts; None where a number is unknown."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None


def cost_of_run(records: Sequence[Mapping[str, Any]], damaged_lines: int = 0) -> Cost:
    """What the records of a run's log come to; where lines of it are damaged, only their number is
    known.
    """
    whole = readable(records)
    if damaged_lines or len(whole) < len(records):
        return Cost(len(whole), None, None, None)
    return Cost(
        calls=len(records),
        input_tokens=_tokens(records, "input_tokens"),
        output_tokens=_tokens(records, "output_tokens"),
        usd=cost_usd(records),
    )


def _tokens(records: Sequence[Mapping[str, Any]], kind: str) -> int | None:
    """Tokens of all calls that came back; None where one does not say."""
    total = 0
    for record in records:
        tokens = record["completion"].get("usage", {}).get(kind)
        if tokens is None:
            return None
        total += tokens
    return total
