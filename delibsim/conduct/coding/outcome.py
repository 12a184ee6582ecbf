"""What came of asking coders, as plain values and in sentences."""

from collections import Counter
from typing import Any

from delibsim.conduct.asking.ask import Outcome
from delibsim.conduct.coding.plan import CodingPlan
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted


def coding_plain(planned: CodingPlan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    return {
        "study": planned.runs.study,
        "scheme": planned.scheme.id,
        "dimensions": [dimension.id for dimension in planned.dimensions],
        "coders": list(planned.models),
        "wordings": list(planned.wordings),
        "texts": len(planned.chosen),
        "samples_a_text": planned.settings.samples,
        "new": outcome.new,
        "before": outcome.before,
        "calls": outcome.asked,
        "usable": outcome.usable,
        "missing": dict(outcome.missing),
        "not_coded": [
            {"text": one.text, "dimension": one.dimension, "reason": str(one.reason)}
            for one in planned.uncoded
            if one.text in planned.chosen
        ],
        "faults": [*outcome.faults, *planned.faults],
        "steps": planned.codings.steps(),
    }


def coding_told(planned: CodingPlan, outcome: Outcome) -> list[str]:
    """How many samples there are, which have no level and why, and which texts are not coded."""
    texts, coders = counted(len(planned.chosen), "text"), counted(len(planned.models), "coder")
    dimensions = counted(len(planned.dimensions), "dimension")
    count = f"{counted(outcome.new, 'sample')} now, {outcome.before} before"
    calls = counted(outcome.asked, "call")
    lines = [f"{texts}, {dimensions}, {coders}: {count} ({calls})"]
    for code, n in outcome.missing.items():
        lines.append(f"No level   {counted(n, 'sample')}: {in_words(code)}")
    return [*lines, *uncoded_told(planned)]


def uncoded_told(planned: CodingPlan) -> list[str]:
    """How many texts are not put before coders on each dimension, by reason."""
    counts: dict[str, Counter[str]] = {}
    for one in planned.uncoded:
        if one.text in planned.chosen:
            counts.setdefault(one.reason.code, Counter())[one.dimension] += 1
    lines = []
    for code, by_dimension in counts.items():
        each = ", ".join(f"{n} on {dimension}" for dimension, n in by_dimension.items())
        lines.append(f"Not coded  {each}: {in_words(code)}")
    return lines
