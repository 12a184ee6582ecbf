"""How many tokens a prompt and its reply may have together, where a server tells it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from delibsim.domain.data import read_data
from delibsim.models.clients.connection import decoded

PLACES = read_data("servers.yaml")
"""Where servers tell it."""
Get = Callable[[str], Awaitable[str]]
"""Gives the body of an address beside /v1, "" where there is none."""


def listed(text: str) -> dict[str, Mapping[str, Any]]:
    """The entries of a list of models by their names; none if the text is no such list."""
    try:
        return {str(entry["id"]): entry for entry in decoded(text)["data"]}
    except (KeyError, TypeError):
        return {}


async def window_of(model: str, entry: Mapping[str, Any], get: Get) -> int | None:
    """The window of a model by its entry in the list of models, else by what its server tells
    elsewhere; None where it tells nothing.
    """
    told = filter(None, (_number(entry, path) for path in PLACES["listed"]))
    if window := next(told, None):
        return window
    pages = await asyncio.gather(*(get(place["path"]) for place in PLACES["elsewhere"]))
    for place, page in zip(PLACES["elsewhere"], pages, strict=True):
        if window := _in_page(decoded(page), place, model):
            return window
    return None


def _in_page(page: Any, place: Mapping[str, str], model: str) -> int | None:
    if "list" not in place:
        return _number(page, place["window"])
    entries = page.get(place["list"]) if isinstance(page, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get(place["name"]) == model:
            return _number(entry, place["window"])
    return None


def _number(value: Any, path: str) -> int | None:
    """The whole number at a path of members; None where there is none above 0."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
