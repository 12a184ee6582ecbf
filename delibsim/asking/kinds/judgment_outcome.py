"""What came of asking judges of summaries, as plain values and in sentences."""

from collections import Counter
from statistics import fmean
from typing import Any

from delibsim.asking.nouns import Outcome, Plan
from delibsim.domain.judgment import DIMENSIONS, Judgment
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted

RULE_BASED = (
    "citizens are no language models: they count shared words by rule, so their judgments are a"
    " null model and no evidence of quality"
)
ALIKE = "gave the same four numbers at every sitting, so nothing can be told apart by it"


def judge_rows(planned: Plan) -> list[dict[str, Any]]:
    """By judge: sittings planned and judged, what is missing, and the mean rating a dimension."""
    wanted = {sitting.id for sitting in planned.about.sittings}
    found: dict[str, list[Judgment]] = {judge: [] for judge in planned.models}
    for one in planned.answers.all():
        if one.judge in found and one.sitting.id in wanted:
            found[one.judge].append(one)
    rows = []
    for judge, own in found.items():
        there = [one for one in own if one.missing is None]
        rated = [one for one in there if not one.sitting.other and not one.sitting.control]
        row: dict[str, Any] = {"judge": judge, "planned": len(wanted), "judged": len(there)}
        row["missing"] = len(own) - len(there)
        for name in DIMENSIONS:
            values = [one.values[name] for one in rated if name in one.values]
            row[name] = fmean(values) if values else None
        row["alike"] = len(there) > 1 and len({tuple(one.values.items()) for one in there}) == 1
        rows.append(row)
    return rows


def notes_of(planned: Plan, rows: list[dict[str, Any]]) -> list[str]:
    """What must be known of the judges before their judgments are read."""
    notes = []
    if any(settings["kind"] == "citizen" for settings in planned.models.values()):
        notes.append(RULE_BASED)
    notes += [f"{row['judge']} {ALIKE}" for row in rows if row["alike"]]
    return notes


def counts_of(planned: Plan) -> dict[str, int]:
    """How many sittings are ratings, controls and comparisons."""
    kinds: Counter[str] = Counter()
    for sitting in planned.about.sittings:
        kind = "comparisons" if sitting.other else "ratings"
        kinds["controls" if sitting.control else kind] += 1
    return dict(kinds)


def judging_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    rows = judge_rows(planned)
    return {
        "study": planned.runs.study,
        "name": planned.settings.name,
        "summaries": len(planned.about.material.summaries),
        "sittings": counts_of(planned),
        **outcome.plain(),
        "judges": rows,
        "notes": [*planned.notes, *notes_of(planned, rows)],
        "warnings": list(planned.warnings),
        "faults": list(outcome.faults),
    }


def judging_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many judgments there are, and which are missing and why."""
    summaries = counted(len(planned.about.material.summaries), "summary")
    judges = counted(len(planned.models), "judge")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts_of(planned).items())
    new = f"{counted(outcome.new, 'judgment')} now, {outcome.before:,} before"
    calls = counted(outcome.asked, "call")
    lines = [f"{summaries}, {judges}, {kinds} each: {new} ({calls})"]
    for code, n in outcome.missing.items():
        lines.append(f"Missing    {counted(n, 'judgment')}: {in_words(code)}")
    return lines
