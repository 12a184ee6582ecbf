"""The rules of a study: what is missing, what is excluded, when it ends, and its software."""

import json

from delibsim.domain.effect import same_cells
from delibsim.domain.score import Scorer
from delibsim.models.limits import Limits
from delibsim.planning.preregistration.design import cell_of_name
from delibsim.planning.preregistration.plans import BLANK, Plans, plain, table
from delibsim.plugins import declared, without_effect

RULES = (
    "An answer or a statement that cannot be read is asked for again, with the concrete fault, up"
    " to {reasks} times; what cannot be read then\n  is missing, with its reason. A statement of"
    " more than {longest} words cannot be read.",
    "A refusal, a reply cut at the limit of tokens, and a reply held back by a filter are outcomes:"
    " missing with their status, not asked again.",
    "A call that could not be made (no connection, rate limit, quota) is no outcome. After {tries}"
    " attempts at most the session stops; it goes\n  on from its record when the command is given"
    " again. The failure never becomes data.",
    "No answer is imputed and none has a default. Answers are measured as they were given, items"
    " that lean the other way included; only what\n  was answered on a scale shown the other way"
    " round is mapped back.",
    "A measure of a group in which an answer is missing is undefined (NaN) with a reason code"
    ' (docs/measures.md, "Undefined values"); it is\n  not computed on those who remain.',
    "A run with anything missing is kept and marked `partial`; the software excludes no run."
    " Flagged statements change no number.",
    "A parameter that a model does not take is dropped, and the run says so; it is then no run"
    " under that parameter.",
)
"""What the software does about missing answers, in lines of up to 140 characters."""


def exclusion(plans: Plans) -> str:
    """The section on exclusion and missing data."""
    procedures = [session.procedure for session in plans.sessions]
    reasks = {procedure.reasks for procedure in procedures}
    longest = {_number_of_words(procedure.longest_statement) for procedure in procedures}
    rules = "\n".join(f"- {rule}" for rule in RULES).format(
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
