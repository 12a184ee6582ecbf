"""What the software fixes: measures, versions, and the hash of every prompt."""

import json

from delibsim.domain.effect import same_cells
from delibsim.domain.score import Scorer
from delibsim.planning.preregistration.design import cell_of_name
from delibsim.planning.preregistration.markdown import plain, table
from delibsim.planning.preregistration.plans import Plans
from delibsim.plugins import declared, without_effect

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
