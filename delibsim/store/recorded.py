"""Reading a record of exchanges in part: those of some calls, without parsing the others.

A record holds every prompt word for word, so that of 700,000 judgments has gigabytes. Who goes on
with them needs the exchanges only of what has no answer yet. A line begins with who was asked what
(hash, model, seed, purpose), before the prompt; so its beginning says whether it is needed.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from delibsim.store.reading import json_value

Wanted = Callable[[str, str], bool]
"""Whether the calls to a participant on an occasion are needed."""
_TEXT = rb'"([^"\\]*)"'
_HEAD = re.compile(
    rb'\{"hash":"[0-9a-f]*","model":'
    + _TEXT
    + rb',"seed":-?\d+,"purpose":\{"participant":'
    + _TEXT
    + rb',"occasion":'
    + _TEXT
)


def lines_of_calls(file: Path, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """The JSON objects of a record whose call is wanted; a missing file has none.

    A line whose beginning is written otherwise is parsed and given too, since it may be needed;
    damaged lines are left out.
    """
    try:
        record = file.open("rb")
    except FileNotFoundError:
        return
    with record:
        for line in record:
            if _needed(_HEAD.match(line), wanted):
                yield from _parsed(line.removesuffix(b"\n"))


def _needed(head: re.Match[bytes] | None, wanted: Wanted) -> bool:
    """Whether a line is needed that begins like this; one that begins otherwise may be."""
    if head is None:
        return True
    try:
        return wanted(head[2].decode(), head[3].decode())
    except UnicodeDecodeError:
        return True


def _parsed(line: bytes) -> Iterator[dict[str, Any]]:
    """The JSON object of a line; nothing where it is damaged or empty."""
    try:
        found = json_value(line) if line else None
    except ValueError:
        return
    if isinstance(found, dict):
        yield found
