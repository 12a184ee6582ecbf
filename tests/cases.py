"""The tables of a test module that are data: YAML beside it, by the name of a test or a constant."""

from pathlib import Path
from typing import Any

import yaml


def cases_of(module: str) -> dict[str, Any]:
    """The tables in the YAML file of the module's name; lists of lists are the rows of cases."""
    return yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))
