"""Reading the body of a response, however odd it is: an answer that was paid for is not lost to a
byte-order mark, to deep nesting or to a number of four hundred digits.
"""

import json
import re
from typing import Any

DEEPEST = 50
"""How deep values may be nested; answers of the chat-completions protocol have about six levels."""
MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A text in quotation marks, or a bracket outside of one."""
DIGITS = 18
"""A whole number of more digits counts no tokens and no dollars, and is None."""


def text_of(body: bytes) -> str:
    """The text of a body in UTF-8, UTF-16 or UTF-32, without a byte-order mark."""
    return body.decode(json.detect_encoding(body), errors="replace")


def decoded(text: str) -> Any:
    """The JSON value in a text, or None if it holds none; what is nested deeper than DEEPEST is
    None.

    >>> decoded('{"cost": ' + "9" * 400 + "}")
    {'cost': None}
    >>> decoded('{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "b": "[["}')["b"]
    '[['
    """
    try:
        try:
            return DECODE(text)
        except RecursionError:
            return DECODE(_pruned(text))
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= DIGITS else None


DECODE = json.JSONDecoder(parse_int=_whole).decode


def _pruned(text: str) -> str:
    """A JSON text with null in the place of what is nested too deeply."""
    kept, depth, begun = [], 0, 0
    for mark in MARK.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth == DEEPEST:
                kept.append(text[begun : mark.start()])
        elif mark[0] in "]}":
            depth -= 1
            if depth == DEEPEST - 1:
                kept.append("null")
                begun = mark.end()
    if depth >= DEEPEST:
        return "".join(kept)
    return "".join(kept) + text[begun:]
