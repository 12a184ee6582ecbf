"""Data that come with the package, as plain values: measures, reasons, families of models."""

from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parents[1] / "data"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(name: str) -> Any:
    """The plain values of a YAML or JSON file of `delibsim/data`."""
    return yaml.load((DATA / name).read_text(encoding="utf-8"), _LOADER)
