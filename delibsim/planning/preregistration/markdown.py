"""Markdown from foreign text: tables, and settings word for word."""

import json
from collections.abc import Iterable, Sequence
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table.

    >>> print(table(["topic", "n"], [("a|b", 2)]))
    | topic | n |
    | --- | --- |
    | a\|b | 2 |
    """
    lines = []
    for line in [heads, ["---"] * len(heads), *rows]:
        cells = [plain(str(cell)) for cell in line]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that stays in its cell and is no markup of its own."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def settings(content: Any) -> str:
    """Settings word for word, in a block that nothing in them can close."""
    lines = json.dumps(content, ensure_ascii=False, indent=1, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
