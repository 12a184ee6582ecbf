"""What is said of one run: its design, its measures beside people's, what is missing, and what a
careful reader must know before using its numbers.
"""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from delibsim.analysis.calls import CallSummary, repetition, without_effect
from delibsim.analysis.human.reference import reference
from delibsim.domain.cost import Money
from delibsim.domain.effect import INSTRUCTIONS, circumstances
from delibsim.domain.format import format_named
from delibsim.domain.reason import in_words, missing_kind
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Measure, Score, heading_of
from delibsim.domain.survey import PHASES, Phase
from delibsim.domain.text import counted
from delibsim.domain.transcript import PREPARATION
from delibsim.plugins import without_effect as parts_without_effect

UNPHASED = "value"
"""The name of a value that belongs to no phase."""
FLAG = "flags."
"""What the measures begin with that count statements to look at."""
STANCE = "S1"
"""The item of the survey of a debate that asks for the stance on the motion."""
OTHER_INSTRUMENT = (
    "they answered the original instrument: compare directions only",
    "measures that depend on the instrument are left out",
)
"""What is said of people's values where they answered another instrument than the participants."""

Summary = Mapping[str, Any]
Note = tuple[str, str]
"""What a note is about ("" where it goes on with the one before), and what it says."""


def design(session: Session, calls: CallSummary) -> dict[str, Any]:
    """How a session was planned, as plain values; a temperature without effect is None."""
    treatment, procedure = session.treatment, session.procedure
    personas = [participant.persona for participant in session.participants]
    return {
        "topic": {"id": session.topic.id, "question": session.topic.question},
        "survey": {"id": session.survey.id, "validated": session.survey.validated},
        "format": session.format,
        "treatment": treatment.name,
        "instructions_without_effect_on": not_instructed(session),
        "rounds": treatment.rounds if treatment.interaction else 0,
        "participants": len(session.participants),
        "personas": sum(map(bool, personas)),
        "wording": session.wording.id,
        "network": procedure.audience.network,
        **({"parts": parts} if (parts := parts_of(session)) else {}),
        "temperature": _temperatures(session, calls),
        "transcript_window": procedure.transcript_window,
        "models": {name: settings["kind"] for name, settings in session.models.items()},
        "seed": session.seed,
        "replicate": session.replicate,
    }


def parts_of(session: Session) -> list[str]:
    """What precedes the rounds of a session, and who leads them, in words; [] for nothing."""
    procedure, found = session.procedure, []
    if session.briefing is not None:
        order = f" ({session.briefing_order})" if session.briefing_order else ""
        found.append(f"briefing {session.briefing.name}{order}")
    if session.witnesses:
        names = ", ".join(one.name for one in session.witnesses)
        asked = counted(procedure.questions, "question")
        found.append(f"witnesses {names} with {asked} each")
    if session.small_groups and session.treatment.interaction:
        found.append(counted(len(session.small_groups), "small group"))
    if session.facilitated:
        names = ", names speakers" if procedure.facilitator_names else ""
        found.append(f"facilitation {procedure.facilitation} by {session.invited[0].model}{names}")
    if procedure.phases is not None:
        found.append(f"phases {', '.join(procedure.phases).replace('_', ' ')}")
    return found


def _temperatures(session: Session, calls: CallSummary) -> dict[str, float | None]:
    """The temperature of each model; None where it is not set, or was requested without effect."""
    found = {}
    for name, settings in session.models.items():
        without = "temperature" in calls.parameters_dropped.get(name, ())
        found[name] = None if without else settings.get("temperature")
    return found


def values_of(
    scores: Iterable[Score],
    measures: Mapping[str, Measure],
) -> dict[str, dict[str, float]]:
    """The values of a run by measure of the summary and phase; "value" for what has no phase."""
    values: dict[str, dict[str, float]] = {name: {} for name in _in_summary(measures)}
    for score in scores:
        if score.unit == "run" and score.measure in values:
            values[score.measure][score.phase or UNPHASED] = score.value
    return values


def undefined(scores: Iterable[Score], measures: Mapping[str, Measure]) -> dict[str, str]:
    """Why a measure of the summary is undefined, by "measure.phase"."""
    shown = _in_summary(measures)
    reasons = {}
    for score in scores:
        if score.note and score.unit == "run" and score.measure in shown:
            name = f"{score.measure}.{score.phase}" if score.phase else score.measure
            reasons[name] = score.note
    return reasons


def flags_of(scores: Iterable[Score]) -> dict[str, int]:
    """How many statements of a run were flagged, by kind of flag; no kind without a statement."""
    found = {}
    for score in scores:
        if score.unit == "run" and score.measure.startswith(FLAG) and score.value:
            found[score.measure.removeprefix(FLAG)] = int(score.value)
    return found


def _in_summary(measures: Mapping[str, Measure]) -> list[str]:
    return [name for name, measure in measures.items() if measure.in_summary]


def not_instructed(session: Session) -> list[str]:
    """The models of a session on which the instructions of its treatment have no effect, by name.

    All of them where the wording or the format of the session does not show instructions.
    """
    if not session.treatment.instructions.strip():
        return []
    if INSTRUCTIONS in circumstances(session):
        return list(session.models)
    kinds = {name: str(settings["kind"]) for name, settings in session.models.items()}
    return [name for name, kind in kinds.items() if INSTRUCTIONS in parts_without_effect(kind)]


def is_null(session: Session) -> bool:
    """Whether every participant is a citizen of ours: a null model and no language model."""
    return {str(settings["kind"]) for settings in session.models.values()} == {"citizen"}


def speeches(run: Run) -> list[dict[str, Any]]:
    """The speeches of a debate, with their words, whether each was cut, and the rules it breaks.

    Notes that a debater made while preparing are no speeches.
    """
    rules = run.session.procedure.rules
    found = []
    for statement in run.transcript:
        if statement.turn.task == PREPARATION:
            continue
        text = statement.text
        speech: dict[str, Any] = {"speaker": statement.turn.speaker, "task": statement.turn.task}
        speech |= {"words": len(text.split()), "text": text, "cut": statement.cut}
        found.append(speech | {"broken": list(rules.broken(text)) if rules else []})
    return found


def stances(run: Run) -> list[tuple[str, int | None, int | None]]:
    """Each respondent's name, and stance on the motion before and after; None where missing."""
    found = []
    for respondent in run.session.respondents:
        name = respondent.id
        before, after = (run.response(name, phase).answers.get(STANCE) for phase in PHASES)
        found.append((name, before, after))
    return found


def missing(run: Run) -> list[dict[str, Any]]:
    """What is missing from a run, and why: one entry a survey or turn and reason.

    An entry holds `participant`, `occasion` (pre, "turn 3", post), `answers` (how many; 0 for a
    statement) and `reason`.
    """
    found = []
    for gap in run.gaps:
        entry = {"participant": gap.participant, "occasion": gap.occasion}
        found.append(entry | {"answers": gap.answers, "reason": str(gap.reason)})
    return found


def notes(summary: Summary, measures: Mapping[str, Measure]) -> list[Note]:
    """The notes on a run, from its summary as plain values.

    Beside what `RunView.summary` holds the summary may say whether the run was `already_held`, and
    the `group` that was drawn. `measures` are those of the scorers, by id.
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
        occasion = heading_of(entry["occasion"])
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
        for phase in ("", *get_args(Phase), "change"):
            reason = summary["undefined"].get(f"{name}.{phase}" if phase else name)
            if reason:
                label = " ".join(filter(None, (measures[name].label, heading_of(phase))))
                found.append(("Undefined", f"{label}: {in_words(reason)}"))
    return found


def _on_comparison(summary: Summary) -> list[Note]:
    """What limits a comparison with people or with other groups."""
    found = []
    survey, people = summary["survey"], summary["human"]
    asked = not (format_named(summary["format"]).own_survey or summary.get("not_surveyed"))
    if asked and not survey["validated"]:
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
    already = " (held before; nothing was asked now)" if summary.get("already_held") else ""
    found.append(("Calls", f"{calls['recorded']}: {statuses}; {cost}{already}"))
    return found
