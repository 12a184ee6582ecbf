"""One run for reading, from its summary as plain values: how it was planned, what was measured."""

from collections.abc import Iterator, Mapping
from typing import Any

from delibsim.analysis.run_notes import Summary
from delibsim.analysis.run_summary import UNPHASED
from delibsim.analysis.table import Column, Table, number, numbers, texts
from delibsim.domain.measure import HEADINGS, SCORE_PHASES, Measure
from delibsim.domain.text import counted


def who_and_how(summary: Summary) -> str:
    """Who took part, under which treatment, and what they were asked."""
    rounds = counted(summary["rounds"], "round")
    who = f"{summary['participants']} participants ({', '.join(summary['models'])})"
    return f"{who}, treatment {summary['treatment']}, {rounds}, survey {summary['survey']['id']}"


def design_in_words(summary: Summary) -> str:
    """The settings that tell one run of a study from another."""
    personas = counted(summary["personas"], "persona") if summary["personas"] else "no personas"
    repeated = f"seed {summary['seed']}, replicate {summary['replicate']}"
    asked = f"temperature {_temperatures(summary)}, wording {summary['wording']}"
    return f"{repeated}, {asked}, {personas}, network {summary['network']}"


def _temperatures(summary: Summary) -> str:
    """The temperatures of the models of a run, in words."""
    dropped = summary["calls"]["parameters_dropped"]
    stated = set()
    for model, temperature in summary["temperature"].items():
        unset = "without effect" if "temperature" in dropped.get(model, ()) else "not set"
        stated.add(unset if temperature is None else f"{temperature:g}")
    return ", ".join(sorted(stated))


def speeches_in_words(summary: Summary) -> Iterator[tuple[str, str]]:
    """The speeches of a debate: what stands above each, and its text."""
    for speech in summary["speeches"]:
        remarks = [counted(speech["words"], "word")]
        if speech["cut"]:
            remarks.append("cut because it was too long")
        if speech["broken"]:
            remarks.append(f"breaks the rules: {', '.join(speech['broken']).replace('_', ' ')}")
        yield f"{speech['speaker']}, {speech['task']} ({', '.join(remarks)})", speech["text"]


def stances_in_words(summary: Summary) -> list[str]:
    """The stance of each respondent before and after."""
    lines = []
    for name, *values in summary["stances"]:
        before, after = ("-" if value is None else value for value in values)
        lines.append(f"{name}: stance {before} before, {after} after")
    return lines


def table_of_measures(summary: Summary, measures: Mapping[str, Measure]) -> Table:
    """The measures by phase, beside those of people where they are known; `measures` are those of
    the scorers, by id.
    """
    people, values = summary["human"], summary["measures"]
    unphased = any(UNPHASED in own for own in values.values())
    null = set(summary["models"].values()) == {"citizen"}
    own_group = "null citizen" if null else "this group"
    columns = [*texts("measure"), *numbers(HEADINGS.values(), own_group if people else "")]
    if unphased:
        columns.append(Column(UNPHASED))
    if people:
        columns += numbers(HEADINGS.values(), f"people (n {people['n']})")
    rows = []
    for name, own in values.items():
        measure = measures[name]
        row = [measure.label, *_phases(own, measure)]
        if unphased:
            row.append(number(own.get(UNPHASED)))
        if people:
            row += _phases(_of_people(people, name), measure)
        rows.append(row)
    return Table(columns, rows)


def _of_people(people: Mapping[str, Any], measure: str) -> dict[str, float | None]:
    return {phase: people[phase].get(measure) for phase in SCORE_PHASES}


def _phases(values: Mapping[str, float | None], measure: Measure) -> list[str]:
    """Values before, after and in change, the last with its sign where it is a difference."""
    before, after, change = (values.get(phase) for phase in SCORE_PHASES)
    return [number(before), number(after), number(change, measure.signed)]
