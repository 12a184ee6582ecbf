"""The summary of one run: what changed, what people did on that topic, what was missing, where the
files are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from delibsim.analysis.human.reference import reference
from delibsim.analysis.human.values import on_their_instrument, people_of
from delibsim.cli.calls import Ids, dropped, note_ids, repeated, repetition, without_effect
from delibsim.cli.terminal import number, safe, shown
from delibsim.conduct.hold import Outcome
from delibsim.conduct.score import measures_of, usual_scorers
from delibsim.domain.cost import cost_of, sum_of
from delibsim.domain.effect import INSTRUCTIONS, circumstances
from delibsim.domain.measure import PHASES, Measure
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.transcript import PREPARATION
from delibsim.plugins import without_effect as declared
from delibsim.store.runs import Runs

UNPHASED = "value"
"""The name of a value that belongs to no phase."""
OTHER_INSTRUMENT = (
    "they answered the original instrument: compare directions only",
    "measures that depend on the instrument are left out",
)
"""What is said of people's values where they answered another instrument than the participants."""


def summary(held: Outcome, scores: list[Score], runs: Runs) -> dict[str, Any]:
    """Everything the summary says, as plain values."""
    run = runs.run(held.session.id)
    session = run.session
    records, damaged = runs.exchanges(session.id)
    unused, ids = dropped(records), Ids()
    note_ids(records, ids)
    measures = measures_of(usual_scorers())
    people = people_of(session)
    return {
        "study": runs.study,
        "session": session.id,
        "status": run.status,
        "already_held": held.already,
        "topic": {"id": session.topic.id, "question": session.topic.question},
        "survey": {"id": session.survey.id, "validated": session.survey.validated},
        "format": session.format,
        "speeches": speeches(run) if session.format == "debate" else [],
        "stances": (
            [
                (p.id, *(run.response(p.id, phase).answers.get("S1") for phase in ("pre", "post")))
                for p in session.respondents
            ]
            if session.format == "debate"
            else []
        ),
        "treatment": session.treatment.name,
        "instructions_without_effect_on": deaf(session),
        "rounds": session.treatment.rounds if session.treatment.interaction else 0,
        "participants": len(session.participants),
        "personas": sum(bool(participant.persona) for participant in session.participants),
        "wording": session.wording.id,
        "network": session.procedure.audience.network,
        # none where it was requested and had no effect: nothing is labelled with what it did not
        # have
        "temperature": {
            name: None if "temperature" in unused.get(name, ()) else settings.get("temperature")
            for name, settings in session.models.items()
        },
        "scale_reversed": [r.participant for r in run.responses if r.reversed and r.phase == "pre"],
        "transcript_window": session.procedure.transcript_window,
        "models": {name: settings["kind"] for name, settings in session.models.items()},
        "seed": session.seed,
        "replicate": session.replicate,
        "measures": values_of(scores, measures),
        "undefined": undefined(scores, measures),
        "human": people,
        "same_instrument": on_their_instrument(session),
        "flags": {
            s.measure.removeprefix("flags."): int(s.value)
            for s in scores
            if s.unit == "run" and s.measure[:6] == "flags." and s.value
        },
        "missing": missing(run),
        "calls": {
            "recorded": len(records),
            "asked_now": held.asked,
            "by_status": dict(Counter(record["completion"]["status"] for record in records)),
            "parameters_dropped": unused,
            "repeated_response_ids": repeated(ids),
            "cost_usd": None if damaged else _cost(records),
            "damaged_lines": damaged,
        },
        "folder": shown(runs.path(session.id)),
    }


def values_of(
    scores: Iterable[Score],
    measures: Mapping[str, Measure],
) -> dict[str, dict[str, float]]:
    """The values of a run by measure of the table and phase; "value" for what has no phase."""
    values: dict[str, dict[str, float]] = {name: {} for name in _tabulated(measures)}
    for score in scores:
        if score.unit == "run" and score.measure in values:
            values[score.measure][score.phase or UNPHASED] = score.value
    return values


def undefined(scores: Iterable[Score], measures: Mapping[str, Measure]) -> dict[str, str]:
    """Why a measure of the table is undefined, by measure and phase."""
    tabulated = _tabulated(measures)
    reasons = {}
    for score in scores:
        if score.note and score.unit == "run" and score.measure in tabulated:
            name = f"{score.measure}.{score.phase}" if score.phase else score.measure
            reasons[name] = score.note
    return reasons


def _tabulated(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    return {name: measure for name, measure in measures.items() if measure.in_summary}


def deaf(session: Session) -> list[str]:
    """The models of a session on which the instructions of its treatment have no effect, or that
    nobody tells them, by name.
    """
    if not session.treatment.instructions.strip():
        return []
    if INSTRUCTIONS in circumstances(session):
        return list(session.models)
    kinds = {name: str(settings["kind"]) for name, settings in session.models.items()}
    return [name for name, kind in kinds.items() if INSTRUCTIONS in declared(kind)]


def speeches(run: Run) -> list[dict[str, Any]]:
    """What was said in a debate, turn by turn, with the words of each speech, whether it was cut
    and the rules it breaks; no notes.
    """
    rules = run.session.procedure.rules
    return [
        {"speaker": said.turn.speaker, "task": said.turn.task, "words": len(said.text.split()), "text": said.text,
         "cut": said.cut, "broken": list(rules.broken(said.text)) if rules else []}
        for said in run.transcript if said.turn.task != PREPARATION
    ]  # fmt: skip


def missing(run: Run) -> list[dict[str, Any]]:
    """What is missing from a run, and why: one entry a survey or turn and reason."""
    found: list[dict[str, Any]] = []
    for response in run.responses:
        for reason, items in Counter(response.missing.values()).items():
            found.append(
                {
                    "participant": response.participant,
                    "occasion": response.phase,
                    "answers": items,
                    "reason": reason,
                }
            )
    for silence in run.silences:
        reason = f"{silence.status}: {silence.reason}"
        found.append(
            {
                "participant": silence.turn.speaker,
                "occasion": f"turn {silence.turn.index}",
                "answers": 0,
                "reason": reason,
            }
        )
    return found


def print_summary(result: dict[str, Any], screen: Console) -> None:
    """Print a summary for reading."""
    models = safe(", ".join(result["models"]))
    screen.print()
    screen.print(safe(result["topic"]["question"]), style="bold")
    rounds = f"{result['rounds']} round{'' if result['rounds'] == 1 else 's'}"
    screen.print(
        f"{result['participants']} participants ({models}), treatment {result['treatment']},"
        f" {rounds}, survey {result['survey']['id']}"
    )
    unused = {
        model
        for model, names in result["calls"]["parameters_dropped"].items()
        if "temperature" in names
    }
    stated = {
        ("without effect" if model in unused else "not set") if t is None else f"{t:g}"
        for model, t in result["temperature"].items()
    }
    temperatures = ", ".join(sorted(stated))
    personas = f"{result['personas']} personas" if result["personas"] else "no personas"
    design = (
        f"seed {result['seed']}, replicate {result['replicate']}, temperature {temperatures},"
        f" wording {result['wording']}"
    )
    screen.print(safe(f"{design}, {personas}, network {result['network']}"), style="dim")
    if result["format"] == "debate":
        _print_speeches(result, screen)
    else:
        screen.print(_table(result))
    for line in notes(result):
        screen.print(line, soft_wrap=True)
    place = result["folder"]
    screen.print(
        f"\nFiles      {place}/run.json (the run), exchanges.jsonl (every call)", soft_wrap=True
    )
    screen.print(
        f"Next       delibsim show {place}\n           delibsim replay {place}", soft_wrap=True
    )


def _print_speeches(result: dict[str, Any], screen: Console) -> None:
    for speech in result["speeches"]:
        cut = ", cut because it was too long" if speech["cut"] else ""
        broken = (
            f", breaks the rules: {', '.join(speech['broken']).replace('_', ' ')}"
            if speech["broken"]
            else ""
        )
        screen.print(
            f"\n{safe(speech['speaker'])}, {speech['task']} ({speech['words']} words{cut}{broken})",
            style="bold",
        )
        screen.print(safe(speech["text"]))
    for name, before, after in result["stances"]:
        screen.print(f"\n{safe(name)}: stance {_stance(before)} before, {_stance(after)} after")
    screen.print()


def _stance(value: int | None) -> str:
    return "-" if value is None else str(value)


def _table(result: dict[str, Any]) -> Table:
    """The measures of a run by phase, beside those of people; a column for what has no phase."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("measure")
    people = result["human"]
    unphased = any(UNPHASED in values for values in result["measures"].values())
    for head in _heads(people, unphased):
        table.add_column(head, justify="right")
    measures = measures_of(usual_scorers())
    for name, values in result["measures"].items():
        measure = measures[name]
        row = _phases(values, measure)
        if unphased:
            row.append(number(values.get(UNPHASED)))
        if people:
            row += _phases({phase: people[phase].get(name) for phase in PHASES}, measure)
        table.add_row(safe(measure.label), *row)
    return table


def _heads(people: dict[str, Any] | None, unphased: bool) -> list[str]:
    heads = ["before", "after", "change"]
    if unphased:
        heads.append(UNPHASED)
    if people:
        heads += [f"people (n {people['n']}): before", "after", "change"]
    return heads


def _phases(values: Mapping[str, float | None], measure: Measure) -> list[str]:
    """Values before, after and in change, the last with its sign where it is a difference."""
    before, after, change = (values.get(phase) for phase in PHASES)
    return [number(before), number(after), number(change, measure.signed)]


def notes(result: dict[str, Any]) -> list[str]:
    """What a careful reader must know before using the numbers."""
    lines = []
    undefined = {} if result["format"] == "debate" else result["undefined"]
    for measure, reason in undefined.items():
        lines.append(f"Undefined  {measure}: {reason}")
    for entry in result["missing"]:
        what = f"{entry['answers']} answers" if entry["answers"] else "statement"
        lines.append(
            f"Missing    {safe(entry['participant'])}, {entry['occasion']}: {what}"
            f" ({safe(entry['reason'])})"
        )
    if not result["missing"]:
        lines.append("Missing    no answer and no statement")
    if result["flags"]:
        flags = ", ".join(f"{kind} ({n})" for kind, n in result["flags"].items())
        lines.append(f"Flagged    statements to look at: {flags}")
    if result["scale_reversed"]:
        lines.append(
            f"Scale      shown the other way round to {safe(', '.join(result['scale_reversed']))};"
            " their answers are mapped back."
        )
    if result["transcript_window"]:
        lines.append(
            f"Window     participants were shown the last {result['transcript_window']} statements"
            " they heard, and no more."
        )
    if not result["survey"]["validated"] and result["format"] != "debate":
        lines.append(
            f"Survey     {result['survey']['id']} has not been validated as an instrument."
        )
    if result["human"]:
        n, group = result["human"]["n"], result["participants"]
        lines.append(
            f"People     {n} people pooled against one group of {group}: a single session is one"
            " draw, not an effect."
        )
        if not result["same_instrument"]:
            lines += [f"           {told.capitalize()}." for told in OTHER_INSTRUMENT]
    elif reference(result["topic"]["id"]):
        lines.append("People     left out: they did not answer this survey on this topic.")
    if drawn := (result.get("group") or {}).get("diversity"):
        people = f"; people have {number(drawn['people'])}" if drawn["people"] is not None else ""
        lines.append(f"Group      diversity of its personas on people's answers {number(drawn['reached'])}, to be {drawn['wanted']} "
                     f"({number(drawn['target'])}{people}).")  # fmt: skip
    if "citizen" in result["models"].values():
        lines.append("Model      the citizen is rule-based, a null model; it is no language model.")
    if models := result["instructions_without_effect_on"]:
        told = f"the instructions of the treatment {result['treatment']} have no effect on"
        lines.append(safe(f"No effect  {told} {', '.join(models)}."))
    calls = result["calls"]
    lines += [f"Dropped    {safe(line)}" for line in without_effect(calls["parameters_dropped"])]
    if calls["repeated_response_ids"]:
        lines.append(f"Flagged    {safe(repetition(calls['repeated_response_ids']))}")
    statuses = ", ".join(f"{n} {status}" for status, n in calls["by_status"].items())
    cost = "cost unknown" if calls["cost_usd"] is None else f"{calls['cost_usd']:.2f} USD"
    already = " (held before; nothing was asked now)" if result["already_held"] else ""
    lines.append(f"Calls      {calls['recorded']}: {statuses}; {cost}{already}")
    return lines


def _cost(records: list[dict[str, Any]]) -> float | None:
    """US dollars of all calls and their failed attempts; None as soon as the cost of one is
    unknown.
    """
    done = [record["completion"] for record in records]
    return sum_of(
        cost_of(attempt)
        for completion in done
        for attempt in (*completion.get("tries", ()), completion)
    )
