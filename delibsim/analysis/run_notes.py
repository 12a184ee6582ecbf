"""What a careful reader must know before using the numbers of one run, in words."""

from collections.abc import Mapping
from typing import Any

from delibsim.analysis.calls import repetition, without_effect
from delibsim.analysis.human.reference import reference
from delibsim.domain.cost import Money
from delibsim.domain.format import format_named
from delibsim.domain.measure import HEADINGS, Measure
from delibsim.domain.reason import in_words
from delibsim.domain.run import missing_kind
from delibsim.domain.text import counted

OTHER_INSTRUMENT = (
    "they answered the original instrument: compare directions only",
    "measures that depend on the instrument are left out",
)
"""What is said of people's values where they answered another instrument than the participants."""

Summary = Mapping[str, Any]
Note = tuple[str, str]
"""What a note is about ("" where it goes on with the one before), and what it says."""


def notes(summary: Summary, measures: Mapping[str, Measure]) -> list[Note]:
    """The notes on a run, from its summary as plain values.

    Beside what `RunSummary.plain` holds the summary says whether the run was `already_held`, and
    may hold the `group` that was drawn. `measures` are those of the scorers, by id.
    """
    return [
        *_on_answers(summary, measures),
        *_on_comparison(summary),
        *_on_models(summary),
    ]


def notes_on_measures(summary: Summary, measures: Mapping[str, Measure]) -> list[Note]:
    """Those of the notes that the measures of a run need: what is undefined, and what limits a
    comparison.
    """
    if format_named(summary["format"]).own_survey:
        return []
    return [*_undefined(summary, measures), *_on_comparison(summary)]


def _on_answers(summary: Summary, measures: Mapping[str, Measure]) -> list[Note]:
    """What is undefined or missing, and how participants were asked."""
    found = [] if format_named(summary["format"]).own_survey else _undefined(summary, measures)
    for entry in summary["missing"]:
        occasion = HEADINGS.get(entry["occasion"], entry["occasion"])
        kind = missing_kind(entry["occasion"], entry["answers"]).removesuffix("s")
        what = counted(entry["answers"], kind) if entry["answers"] else kind
        told = f"{entry['participant']}, {occasion}: {what} ({entry['reason']})"
        found.append(("Missing", told))
    if not summary["missing"]:
        found.append(("Missing", "no answer and no statement"))
    if summary["flags"]:
        flags = ", ".join(f"{kind} ({n})" for kind, n in summary["flags"].items())
        found.append(("Flagged", f"statements to look at: {flags}"))
    if summary["scale_reversed"]:
        told = f"shown the other way round to {', '.join(summary['scale_reversed'])}"
        found.append(("Scale", f"{told}; their answers are mapped back."))
    if window := summary["transcript_window"]:
        last = "statement" if window == 1 else f"{window} statements"
        told = f"participants were shown the last {last} they heard, and no more."
        found.append(("Window", told))
    return found


def _undefined(summary: Summary, measures: Mapping[str, Measure]) -> list[Note]:
    found = []
    for name in summary["measures"]:
        for phase, heading in (("", ""), *HEADINGS.items()):
            reason = summary["undefined"].get(f"{name}.{phase}" if phase else name)
            if reason:
                label = " ".join(filter(None, (measures[name].label, heading)))
                found.append(("Undefined", f"{label}: {in_words(reason)}"))
    return found


def _on_comparison(summary: Summary) -> list[Note]:
    """What limits a comparison with people or with other groups."""
    found = []
    survey, people = summary["survey"], summary["human"]
    if not survey["validated"] and not format_named(summary["format"]).own_survey:
        found.append(("Survey", f"{survey['id']} has not been validated as an instrument."))
    if people:
        against = f"{people['n']} people pooled against one group of {summary['participants']}"
        found.append(("People", f"{against}: a single session is one draw, not an effect."))
        if not summary["same_instrument"]:
            found += [("", f"{line.capitalize()}.") for line in OTHER_INSTRUMENT]
    elif reference(summary["topic"]["id"]):
        found.append(("People", "left out: they did not answer this survey on this topic."))
    if drawn := (summary.get("group") or {}).get("diversity"):
        found.append(("Group", _drawn(drawn)))
    return found


def _drawn(diversity: Mapping[str, Any]) -> str:
    """How diverse a group was drawn, and how diverse it was to be."""
    target = f"{diversity['target']:.3f}"
    if diversity["people"] is not None:
        target += f"; people have {diversity['people']:.3f}"
    reached = f"diversity of its personas on people's answers {diversity['reached']:.3f}"
    return f"{reached}, to be {diversity['wanted']} ({target})."


def _on_models(summary: Summary) -> list[Note]:
    """What is known of the models, and what their calls came to."""
    found, calls = [], summary["calls"]
    if "citizen" in summary["models"].values():
        told = "the citizen is rule-based, a null model; it is no language model."
        found.append(("Model", told))
    if models := summary["instructions_without_effect_on"]:
        told = f"the instructions of the treatment {summary['treatment']} have no effect on"
        found.append(("No effect", f"{told} {', '.join(models)}."))
    found += [("Dropped", line) for line in without_effect(calls["parameters_dropped"])]
    if calls["repeated_response_ids"]:
        found.append(("Flagged", repetition(calls["repeated_response_ids"])))
    statuses = ", ".join(f"{n} {status}" for status, n in calls["by_status"].items())
    cost = Money(**calls["money"]) if calls["cost_usd"] is None else f"{calls['cost_usd']:.2f} USD"
    already = " (held before; nothing was asked now)" if summary["already_held"] else ""
    found.append(("Calls", f"{calls['recorded']}: {statuses}; {cost}{already}"))
    return found
