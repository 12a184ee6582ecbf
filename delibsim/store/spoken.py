"""What was said in a run, read without the rest of it."""

from pathlib import Path
from typing import Any

from delibsim.store.reading import file_bytes, json_value
from delibsim.store.runs import Runs

Said = tuple[int, str, str]
"""The index of a turn, its speaker, and the statement."""


def spoken(runs: Runs, session: str) -> list[Said]:
    """The statements of a run in their order; [] where there is no run that can be read.

    Nothing else of the run is checked: who needs more reads it with `Runs.run`.
    """
    path: Path = runs.path(session) / "run.json"
    try:
        return [_said(statement) for statement in json_value(file_bytes(path))["transcript"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _said(statement: Any) -> Said:
    turn, text = statement["turn"], statement["text"]
    if type(turn["index"]) is not int or type(turn["speaker"]) is not str or type(text) is not str:
        raise TypeError("not the statement of a run")
    return turn["index"], turn["speaker"], text
