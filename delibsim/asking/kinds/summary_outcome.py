"""What came of asking summarisers, as plain values and in sentences."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from delibsim.asking.nouns import Outcome, Plan
from delibsim.domain.language import prevailing
from delibsim.domain.reason import in_words
from delibsim.domain.summary import Summary, flags_of
from delibsim.domain.text import counted

RULE_BASED = (
    "extractive, themes and citizens are no language models: they copy sentences by rule, and are"
    " the floor that a summariser must pass"
)
TOLD = {
    "counts": "name how many people or opinions there are, against the wording",
    "declined": "read like a refusal",
    "other_language": "are in another language than the opinions",
}


def summaries_of_plan(planned: Plan) -> list[Summary]:
    """The summaries that there are of those that a command was to give."""
    wanted = set(planned.about.slots)
    return [one for one in planned.answers.all() if one.slot in wanted]


def summariser_rows(planned: Plan, found: Sequence[Summary]) -> list[dict[str, Any]]:
    """By summariser and size: summaries planned, made, missing, and the median of their words."""
    rows = []
    for model in planned.coders:
        for size in sorted({slot.size for slot in planned.about.of(model)}):
            planned_here = [slot for slot in planned.about.of(model) if slot.size == size]
            own = [one for one in found if (one.slot.model, one.slot.size) == (model, size)]
            made = [one for one in own if one.missing is None]
            row: dict[str, Any] = {"model": model, "size": size, "planned": len(planned_here)}
            row |= {"made": len(made), "missing": len(own) - len(made)}
            row["words"] = median(one.words for one in made) if made else None
            rows.append(row)
    return rows


def flag_counts(planned: Plan, found: Sequence[Summary]) -> dict[str, dict[str, int]]:
    """How many summaries of each summariser have which flag."""
    spoken = prevailing(planned.about.material.opinions.values())
    counts: dict[str, Counter[str]] = {}
    for one in found:
        if one.missing is None:
            own = counts.setdefault(one.slot.model, Counter())
            own.update(flags_of(one.text, spoken))
    return {model: dict(own) for model, own in counts.items() if own}


def notes_of(planned: Plan, found: Sequence[Summary]) -> list[str]:
    """What must be known of the summaries before they are read."""
    notes = [RULE_BASED]
    for model, flags in flag_counts(planned, found).items():
        for flag, n in flags.items():
            notes.append(
                f"{model}: {counted(n, 'summary', 'summaries')} (kept) {TOLD[flag]} ({flag})"
            )
    return notes


def summaries_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    found = summaries_of_plan(planned)
    return {
        "study": planned.runs.study,
        "name": planned.settings.name,
        "question": planned.about.material.question,
        "opinions": len(planned.about.material.opinions),
        **outcome.plain(),
        "summaries": summariser_rows(planned, found),
        "flags": flag_counts(planned, found),
        "notes": [*planned.notes, *notes_of(planned, found)],
        "faults": list(outcome.faults),
    }


def summaries_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many summaries there are, and which are missing and why."""
    opinions = counted(len(planned.about.material.opinions), "opinion")
    who = counted(len(planned.coders), "summariser")
    new = counted(outcome.new, "summary")
    calls = counted(outcome.asked, "call")
    lines = [f"{opinions}, {who}: {new} now, {outcome.before:,} before ({calls})"]
    for code, n in outcome.missing.items():
        lines.append(f"Missing    {counted(n, 'summary', 'summaries')}: {in_words(code)}")
    return lines
