"""The plan of a study as a document to be registered, with blanks for what its author must say."""

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.preregistration.design import design, instruments, materials, models
from delibsim.planning.preregistration.plans import BLANK, Plans, plain, table
from delibsim.planning.preregistration.rules import exclusion, measures, prompts, software, stopping
from delibsim.store.reading import read_json

SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"
NO_PREREGISTRATION = (
    "**This is no preregistration: the study had begun when this was written.** {} What follows"
    " describes a study under way; what is filled in was filled in with data at hand."
)
PREREGISTRATION = (
    "Written by delibsim {} at {}, before the first call: no model had been asked anything in this"
    " study. What is marked FILL IN is the author's to say, before the study is begun. Register the"
    " file where its date is certified (such as OSF or AsPredicted), with the prompts that"
    " `delibsim estimate --render FOLDER` writes."
)
HYPOTHESES = BLANK.format("the hypotheses, each with its direction, numbered")
OUTCOME = BLANK.format(
    "the one measure, phase and contrast that decide, the measure first and as in `dri_adjusted`,"
    " so that `delibsim analyze` knows it; then the secondary ones"
)
SAMPLE = BLANK.format("why this many: power, precision, or budget")
ANALYSIS = BLANK.format(
    "models, contrasts, clustering, corrections for several tests, and what would count against the"
    " hypotheses"
)


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end.

    The seal is a hash, by which a file that was filled in is known.
    """
    size = table(("what", "number"), plans.size.items())
    sections = {
        "Hypotheses": HYPOTHESES,
        "Primary outcome": OUTCOME,
        "Design": design(plans),
        "Sample size": "\n\n".join([size, *([plans.power] if plans.power else []), SAMPLE]),
        "Instruments": instruments(plans),
        "Treatments, wording, procedure": materials(plans),
        "Models and parameters": models(plans),
        "Measures": measures(plans),
        "Analysis": ANALYSIS,
        "Exclusion and missing data": exclusion(plans),
        "Stopping rule and budget": stopping(plans),
        "Software": software(plans),
        "Prompts": prompts(plans),
    }
    text = f"# Plan of the study {plain(plans.manifest.study)}\n\n{_standing(plans)}\n"
    for number, (title, body) in enumerate(sections.items(), 1):
        text += f"\n## {number}. {title}\n\n{body}\n"
    return sealed(text)


def sealed(text: str) -> str:
    """A text and its hash."""
    text = text.rstrip("\n") + "\n\n"
    return text + SEAL.format(hashlib.sha256(text.encode()).hexdigest())


def untouched(text: str) -> bool:
    """Whether a file is as it was written: nothing was filled in."""
    body, mark, _ = text.rpartition(SEAL.partition("{")[0])
    return bool(mark) and sealed(body) == text


def refuse_if_filled_in(path: Path, begun: str) -> None:
    """WrongInput for a file that was filled in, or may have been registered: one of a study of
    which `begun` says that it has begun.
    """
    if not path.exists():
        return
    fault = ""
    if not path.is_file() or not untouched(path.read_text(encoding="utf-8", errors="replace")):
        fault = "exists and was filled in or changed"
    elif begun:
        fault = "exists, and the study has begun since"
    if fault:
        raise WrongInput(f"{path} {fault}; it is left as it is. Name another file: -o FILE")


def _standing(plans: Plans) -> str:
    """Whether this is a preregistration."""
    if plans.begun:
        return NO_PREREGISTRATION.format(plans.begun)
    begun = plans.manifest.begun
    version = begun.get("versions", {}).get("delibsim", "")
    return PREREGISTRATION.format(version, begun.get("at", "an unknown time"))


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
