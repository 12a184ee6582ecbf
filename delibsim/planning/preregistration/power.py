"""The analysis of power in a preregistration, from the answer of `delibsim power`."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.preregistration.markdown import plain, table
from delibsim.store.reading import read_json

TESTS = {
    "topics": "over topics like these, t test over topics",
    "draws": "on these topics, signs flipped by draw",
}
SPREAD = {
    "topic": "SD of the effect between topics",
    "residual": "SD of a session within its block",
    "correlation": "correlation of the models' differences within a draw",
}
HEAD = ("test", "power", "smallest effect", "replicates needed", "topics needed")


def power_analysis(path: Path) -> str:
    """The analysis of power in a file as Markdown; WrongInput where the file is none."""
    if not path.is_file():
        raise WrongInput(f"{path} is no file; make it with delibsim power --json > {path}")
    try:
        return _written(read_json(path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WrongInput(
            f"{path} is no answer of delibsim power; make it with delibsim power --json > {path}"
        ) from error


def _written(answer: Mapping[str, Any]) -> str:
    """The answer as Markdown; KeyError, TypeError or ValueError where a part is missing."""
    design, components = answer["design"], answer["components"]
    a, b = answer["between"]
    outcome, first, second = (plain(str(name)) for name in (answer["outcome"], a, b))
    effect, power, alpha = (_number(answer[name]) for name in ("effect", "power", "alpha"))
    sizes = (
        f"{counted(int(design['topics']), 'topic')}, {counted(int(design['models']), 'model')}"
        f" and {counted(int(design['replicates']), 'replicate')}"
    )
    question = (
        f"Power was computed by `delibsim power` for an effect of {effect} in the change of"
        f" {outcome}, {first} less {second}, with power {power} at a two-sided alpha of {alpha},"
        f" and a design of {sizes}. The numbers needed hold the rest of the design; the smallest"
        " effect is the one found with that power."
    )
    spread = [(meaning, _number(components[name])) for name, meaning in SPREAD.items()]
    tests = []
    for one in answer["tests"]:
        counts = [_number(one["replicates"]), _number(one["topics"])]
        tests.append((TESTS[one["test"]], _number(one["power"]), _number(one["smallest"]), *counts))
    source = f"How far changes spread, {plain(str(components['source']))}:"
    return "\n\n".join([question, source, table(("what", "value"), spread), table(HEAD, tests)])


def _number(value: float | None) -> str:
    """Four digits; a dash where there is no value."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of an answer")
    return f"{value:.4g}"
