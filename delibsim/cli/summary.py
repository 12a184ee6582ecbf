"""The summary of one run as `delibsim run` prints it."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from delibsim.analysis.calls import repetition, without_effect
from delibsim.analysis.human.reference import reference
from delibsim.analysis.run_summary import UNPHASED, run_summary
from delibsim.cli.table import HEADINGS, Column, print_table
from delibsim.cli.terminal import number, safe, shown
from delibsim.conduct.hold import Outcome
from delibsim.conduct.score import measures_of, usual_scorers
from delibsim.domain.measure import PHASES, Measure
from delibsim.domain.score import Score
from delibsim.store.runs import Runs

OTHER_INSTRUMENT = (
    "they answered the original instrument: compare directions only",
    "measures that depend on the instrument are left out",
)
"""What is said of people's values where they answered another instrument than the participants."""

Result = dict[str, Any]


def summary(held: Outcome, scores: list[Score], runs: Runs) -> Result:
    """Everything the summary says, as plain values."""
    measures = measures_of(usual_scorers())
    result = run_summary(runs, held.session.id, scores, measures).plain()
    result["calls"]["asked_now"] = held.asked
    return result | {
        "already_held": held.already,
        "folder": shown(runs.path(held.session.id)),
    }


def print_summary(result: Result, screen: Console) -> None:
    """Print a summary for reading."""
    screen.print()
    screen.print(safe(result["topic"]["question"]), style="bold")
    rounds = f"{result['rounds']} round{'' if result['rounds'] == 1 else 's'}"
    screen.print(
        f"{result['participants']} participants ({safe(', '.join(result['models']))}), treatment"
        f" {result['treatment']}, {rounds}, survey {result['survey']['id']}"
    )
    personas = f"{result['personas']} personas" if result["personas"] else "no personas"
    design = (
        f"seed {result['seed']}, replicate {result['replicate']}, temperature"
        f" {_temperatures(result)}, wording {result['wording']}"
    )
    screen.print(safe(f"{design}, {personas}, network {result['network']}"), style="dim")
    if result["format"] == "debate":
        _print_speeches(result, screen)
    else:
        print_measures(result, measures_of(usual_scorers()), screen)
    for line in notes(result):
        screen.print(line, soft_wrap=True)
    place = result["folder"]
    files = f"\nFiles      {place}/run.json (the run), exchanges.jsonl (every call)"
    screen.print(files, soft_wrap=True)
    screen.print(f"Next       delibsim show {place}", soft_wrap=True)
    screen.print(f"           delibsim replay {place}", soft_wrap=True)


def _temperatures(result: Result) -> str:
    """The temperatures of the models of a run, in words."""
    dropped = result["calls"]["parameters_dropped"]
    stated = set()
    for model, temperature in result["temperature"].items():
        unset = "without effect" if "temperature" in dropped.get(model, ()) else "not set"
        stated.add(unset if temperature is None else f"{temperature:g}")
    return ", ".join(sorted(stated))


def _print_speeches(result: Result, screen: Console) -> None:
    for speech in result["speeches"]:
        remarks = [f"{speech['words']} words"]
        if speech["cut"]:
            remarks.append("cut because it was too long")
        if speech["broken"]:
            remarks.append(f"breaks the rules: {', '.join(speech['broken']).replace('_', ' ')}")
        heading = f"\n{safe(speech['speaker'])}, {speech['task']} ({', '.join(remarks)})"
        screen.print(heading, style="bold")
        screen.print(safe(speech["text"]))
    for name, *values in result["stances"]:
        before, after = ("-" if value is None else value for value in values)
        screen.print(f"\n{safe(name)}: stance {before} before, {after} after")
    screen.print()


def print_measures(
    result: Result,
    measures: Mapping[str, Measure],
    screen: Console,
) -> None:
    """Print the measures of a run by phase, beside those of people where they are known."""
    people, values = result["human"], result["measures"]
    unphased = any(UNPHASED in own for own in values.values())
    null = set(result["models"].values()) == {"citizen"}
    own_group = "null citizen" if null else "this group"
    columns = [Column("measure", text=True), *_phase_columns(own_group if people else "")]
    if unphased:
        columns.append(Column(UNPHASED))
    if people:
        columns += _phase_columns(f"people (n {people['n']})")
    rows = []
    for name, own in values.items():
        measure = measures[name]
        row = [safe(measure.label), *_phases(own, measure)]
        if unphased:
            row.append(number(own.get(UNPHASED)))
        if people:
            row += _phases({phase: people[phase].get(name) for phase in PHASES}, measure)
        rows.append(row)
    print_table("", columns, rows, screen)


def _phase_columns(group: str) -> list[Column]:
    return [Column(heading, group=group) for heading in HEADINGS.values()]


def _phases(values: Mapping[str, float | None], measure: Measure) -> list[str]:
    """Values before, after and in change, the last with its sign where it is a difference."""
    before, after, change = (values.get(phase) for phase in PHASES)
    return [number(before), number(after), number(change, measure.signed)]


def notes(result: Result) -> list[str]:
    """What a careful reader must know before using the numbers."""
    return [
        *_notes_on_answers(result),
        *_notes_on_comparison(result),
        *_notes_on_models(result),
    ]


def _notes_on_answers(result: Result) -> list[str]:
    """What is undefined or missing, and how participants were asked."""
    lines = [] if result["format"] == "debate" else _undefined(result)
    for entry in result["missing"]:
        occasion = HEADINGS.get(entry["occasion"], entry["occasion"])
        what = f"{entry['answers']} answers" if entry["answers"] else "statement"
        told = f"{entry['participant']}, {occasion}: {what} ({entry['reason']})"
        lines.append(f"Missing    {safe(told)}")
    if not result["missing"]:
        lines.append("Missing    no answer and no statement")
    if result["flags"]:
        flags = ", ".join(f"{kind} ({n})" for kind, n in result["flags"].items())
        lines.append(f"Flagged    statements to look at: {flags}")
    if result["scale_reversed"]:
        names = safe(", ".join(result["scale_reversed"]))
        told = f"shown the other way round to {names}; their answers are mapped back."
        lines.append(f"Scale      {told}")
    if window := result["transcript_window"]:
        told = f"participants were shown the last {window} statements they heard, and no more."
        lines.append(f"Window     {told}")
    return lines


def _undefined(result: Result) -> list[str]:
    measures = measures_of(usual_scorers())
    lines = []
    for name in result["measures"]:
        for phase, heading in (("", ""), *HEADINGS.items()):
            reason = result["undefined"].get(f"{name}.{phase}" if phase else name)
            if reason:
                label = " ".join(filter(None, (measures[name].label, heading)))
                lines.append(f"Undefined  {safe(label)}: {reason}")
    return lines


def _notes_on_comparison(result: Result) -> list[str]:
    """What limits a comparison with people or with other groups."""
    lines = []
    survey, people = result["survey"], result["human"]
    if not survey["validated"] and result["format"] != "debate":
        lines.append(f"Survey     {survey['id']} has not been validated as an instrument.")
    if people:
        against = f"{people['n']} people pooled against one group of {result['participants']}"
        lines.append(f"People     {against}: a single session is one draw, not an effect.")
        if not result["same_instrument"]:
            lines += [f"           {line.capitalize()}." for line in OTHER_INSTRUMENT]
    elif reference(result["topic"]["id"]):
        lines.append("People     left out: they did not answer this survey on this topic.")
    if drawn := (result.get("group") or {}).get("diversity"):
        target = number(drawn["target"])
        if drawn["people"] is not None:
            target += f"; people have {number(drawn['people'])}"
        reached = f"diversity of its personas on people's answers {number(drawn['reached'])}"
        lines.append(f"Group      {reached}, to be {drawn['wanted']} ({target}).")
    return lines


def _notes_on_models(result: Result) -> list[str]:
    """What is known of the models, and what their calls came to."""
    lines, calls = [], result["calls"]
    if "citizen" in result["models"].values():
        lines.append("Model      the citizen is rule-based, a null model; it is no language model.")
    if models := result["instructions_without_effect_on"]:
        told = f"the instructions of the treatment {result['treatment']} have no effect on"
        lines.append(safe(f"No effect  {told} {', '.join(models)}."))
    lines += [f"Dropped    {safe(line)}" for line in without_effect(calls["parameters_dropped"])]
    if calls["repeated_response_ids"]:
        lines.append(f"Flagged    {safe(repetition(calls['repeated_response_ids']))}")
    statuses = ", ".join(f"{n} {status}" for status, n in calls["by_status"].items())
    cost = "cost unknown" if calls["cost_usd"] is None else f"{calls['cost_usd']:.2f} USD"
    already = " (held before; nothing was asked now)" if result["already_held"] else ""
    lines.append(f"Calls      {calls['recorded']}: {statuses}; {cost}{already}")
    return lines
