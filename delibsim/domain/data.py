"""Data that come with the package, as plain values: measures, reasons, formats, words."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parents[1] / "data"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(name: str) -> Any:
    """The plain values of a YAML or JSON file of `delibsim/data`; lists are tuples."""
    return _frozen(yaml.load((DATA / name).read_text(encoding="utf-8"), _LOADER))


def patterns(of: str) -> dict[str, Any]:
    """The regular expressions of one part of data/patterns.yaml: of a list any of its own."""
    found = read_data("patterns.yaml")[of]
    return {name: "|".join(one) if isinstance(one, tuple) else one for name, one in found.items()}


def filled(name: str, said: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]]) -> str:
    """A text of data/templates with what it says."""
    texts = _texts()
    texts.filters |= filters
    return texts.get_template(name).render(said)


@cache
def _texts() -> Any:
    """What fills templates in, and keeps those that were read."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    return Environment(
        loader=FileSystemLoader(DATA / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _frozen(inner) for name, inner in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
