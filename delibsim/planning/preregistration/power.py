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
    "paired": "treatments share seeds, signs of differences flipped; these topics and models",
    "free": "treatments share no seeds, labels permuted in blocks; these topics and models",
    "topics": "treatments share seeds, t test over topics; topics like these",
}
SDS = {
    "topic": "effect between topics",
    "model": "effect between models",
    "pair": "shared by treatments of a replicate",
    "residual": "session within its block",
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
    drawn = "a sample as well" if design["models_random"] else "fixed"
    outcome, first, second = (plain(str(name)) for name in (answer["outcome"], a, b))
    effect, power, alpha = (_number(answer[name]) for name in ("effect", "power", "alpha"))
    sizes = (
        f"{counted(int(design['topics']), 'topic')}, {counted(int(design['models']), 'model')}"
        f" ({drawn}) and {counted(int(design['replicates']), 'replicate')}"
    )
    question = (
        f"Power was computed by `delibsim power` for an effect of {effect} in the change of"
        f" {outcome}, {first} less {second}, with power {power} at a two-sided alpha of {alpha},"
        f" and a design of {sizes}. The numbers needed hold the rest of the design; the smallest"
        " effect is the one found with that power."
    )
    sds = [(meaning, _number(components[name])) for name, meaning in SDS.items()]
    tests = []
    for one in answer["tests"]:
        counts = [_number(one["replicates"]), _number(one["topics"])]
        name = f"{one['test']}: {TESTS[one['test']]}"
        tests.append((name, _number(one["power"]), _number(one["smallest"]), *counts))
    source = f"Standard deviations of the change, {plain(str(components['source']))}:"
    return "\n\n".join([question, source, table(("what", "SD"), sds), table(HEAD, tests)])


def _number(value: float | None) -> str:
    """Four digits; a dash where there is no value."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of an answer")
    return f"{value:.4g}"
