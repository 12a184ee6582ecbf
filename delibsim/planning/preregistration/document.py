"""The plan of a study as a document to be registered, with blanks for what its author must say."""

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.effect import same_cells
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import Scorer
from delibsim.domain.text import counted
from delibsim.models.limits import Limits
from delibsim.planning.preregistration.design import (
    BLANK,
    Plans,
    cell_of_name,
    design,
    instruments,
    materials,
    models,
    plain,
    table,
)
from delibsim.plugins import declared, without_effect
from delibsim.store.reading import read_json

SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"
WORDS = read_data("preregistration.yaml")
BLANKS = {name: BLANK.format(what) for name, what in WORDS["blanks"].items()}
"""What is the author's to say, by section."""


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end.

    The seal is a hash, by which a file that was filled in is known.
    """
    size = table(("what", "number"), plans.size.items())
    sections = {
        "Hypotheses": BLANKS["hypotheses"],
        "Primary outcome": BLANKS["outcome"],
        "Design": design(plans),
        "Sample size": "\n\n".join(
            [size, *([plans.power] if plans.power else []), BLANKS["sample"]]
        ),
        "Instruments": instruments(plans),
        "Treatments, wording, procedure": materials(plans),
        "Models and parameters": models(plans),
        "Measures": measures(plans),
        "Analysis": BLANKS["analysis"],
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
        return WORDS["no_preregistration"].format(plans.begun)
    begun = plans.manifest.begun
    version = begun.get("versions", {}).get("delibsim", "")
    return WORDS["preregistration"].format(version, begun.get("at", "an unknown time"))


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
    spread = [(meaning, _number(components[name])) for name, meaning in WORDS["spread"].items()]
    tests = []
    for one in answer["tests"]:
        counts = [_number(one["replicates"]), _number(one["topics"])]
        tests.append(
            (WORDS["tests"][one["test"]], _number(one["power"]), _number(one["smallest"]), *counts)
        )
    source = f"How far changes spread, {plain(str(components['source']))}:"
    return "\n\n".join([question, source, table(("what", "value"), spread), table(HEAD, tests)])


def _number(value: float | None) -> str:
    """Four digits; a dash where there is no value."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of an answer")
    return f"{value:.4g}"


def exclusion(plans: Plans) -> str:
    """The section on exclusion and missing data."""
    procedures = [session.procedure for session in plans.sessions]
    reasks = {procedure.reasks for procedure in procedures}
    longest = {_number_of_words(procedure.longest_statement) for procedure in procedures}
    rules = "\n".join(f"- {rule}" for rule in WORDS["rules"]).format(
        reasks=" or ".join(map(str, sorted(reasks))) or "the procedure's",
        longest=" or ".join(sorted(longest)) or "the procedure's",
        tries=plans.limits.tries if plans.limits else "several",
    )
    blank = BLANK.format("exclusions of the analysis, if any, and how they are reported")
    return f"The software applies these rules and no others:\n\n{rules}\n\n{blank}"


def _number_of_words(most: int | None) -> str:
    return "any number of" if most is None else str(most)


def stopping(plans: Plans) -> str:
    """The section on the stopping rule and the budget."""
    blank = BLANK.format(
        "when the study ends if it cannot be finished, and whether it may be enlarged, by what rule"
    )
    return (
        "Every planned session is held once; no result has a bearing on what is held, or on when"
        f" the study ends. {_budget(plans.limits)}\n\n{blank}"
    )


def _budget(limits: Limits | None) -> str:
    """The budget in words."""
    if limits is None:
        return (
            "The limits it is held under stand in the command that holds it, and are not part of"
            " the study."
        )
    usd, tokens = limits.budget_usd, limits.budget_tokens
    if usd is None and tokens is None:
        return "No budget is set."
    dollars = "no limit in USD" if usd is None else f"{usd:g} USD"
    count = "no limit in tokens" if tokens is None else f"{tokens:,} tokens"
    return (
        f"Budget: {dollars}, {count}; no call is made that could exceed it, and the sessions that"
        " remain are then not held."
    )


ASKED_ALIKE = (
    "SHA-256 of what all replicates of a cell are asked alike, forms of reply included; personas"
    " and what is said are not in it."
)


def measures(plans: Plans) -> str:
    """The section on the measures."""
    rows = []
    for scorer in plans.scorers:
        rows.append((scorer.name, scorer.version, _labels(scorer), _sources(scorer)))
    version = plans.manifest.begun.get("versions", {}).get("delibsim", "")
    return (
        "Definitions, ranges, and when a measure is undefined: docs/measures.md of delibsim"
        f" {version}. A changed number raises the version of its scorer.\n\n"
        + table(("scorer", "version", "measures", "sources"), rows)
    )


def _labels(scorer: Scorer) -> str:
    """The labels of all measures that a scorer declares, as tables and the glossary name them."""
    labels = [measure.label for measure in declared(scorer.name)[1]]
    return "; ".join(dict.fromkeys(labels)) or "not declared"


def _sources(scorer: Scorer) -> str:
    """The sources of all measures that a scorer declares, each once."""
    found: dict[str, None] = {}
    for measure in declared(scorer.name)[1]:
        found |= dict.fromkeys(measure.source.split("; "))
    return "; ".join(found) or "not declared"


def software(plans: Plans) -> str:
    """The section on the versions, and on what was added to the study."""
    manifest = plans.manifest
    rows = list(manifest.begun.get("versions", {}).items())
    for name, commit in manifest.begun.get("commit", {}).items():
        rows.append((f"commit of {name}", commit))
    paragraphs = [
        table(("what", "version"), rows),
        'A "+" after a commit says that files differed from it.',
    ]
    for change in manifest.amendments:
        added = plain(json.dumps(change.get("added")))
        paragraphs.append(
            f"Amended at {change.get('at')}: {change.get('sessions')} sessions added, new: {added}"
        )
    return "\n\n".join(paragraphs)


def prompts(plans: Plans) -> str:
    """The section that lists the cells, each with its replicates and the hash of its prompts."""
    manifest = plans.manifest
    same = same_cells(plans.sessions, without_effect)
    replicates: dict[str, list[str]] = {}
    for session in manifest.sessions:
        cell = cell_of_name(session)
        replicates.setdefault(cell, []).append(session.removeprefix(cell).lstrip("."))
    heads = ["cell", "replicates", "SHA-256 of the prompts"]
    if same:
        heads.append("the same condition as")
    rows = []
    for cell, found in replicates.items():
        row = [cell, ", ".join(found), manifest.prompts.get(cell, "")]
        if same:
            row.append(same.get(cell, ""))
        rows.append(row)
    return f"{ASKED_ALIKE}\n\n{table(heads, rows)}"
