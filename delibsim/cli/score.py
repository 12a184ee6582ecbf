"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from delibsim.analysis.human.values import on_their_instrument, people_of
from delibsim.cli.calls import dropped_in
from delibsim.cli.effects import print_effects
from delibsim.cli.summary import OTHER_INSTRUMENT, missing
from delibsim.cli.terminal import console, echo_json, exit_code, number, safe, shown, study_at
from delibsim.cli.texts import kept_if_stopped, people_lines, score_texts
from delibsim.conduct.score import measures_of, score_all, usual_scorers
from delibsim.conduct.texts import human_references
from delibsim.domain.condition import Condition, conditions
from delibsim.domain.errors import unknown
from delibsim.domain.measure import Measure
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.study import cell_of
from delibsim.planning.effects import Effects, effects_of
from delibsim.plugins import names
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
PHASES = ("pre", "post", "change", "")


@app.command()
def score(
    study: Annotated[
        str,
        typer.Argument(
            help="Name or folder of the study; or the word texts, with a file of texts behind it."
        ),
    ],
    file: Annotated[
        Path | None, typer.Argument(help="With texts: a CSV file with a row a text.")
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="A scorer; may be given several times. Default: all that need not be asked for."
        ),
    ] = None,
    column: Annotated[str, typer.Option(help="With texts: the column that holds them.")] = "text",
    to: Annotated[
        Path | None, typer.Option(help="With texts: the file to write. Default: FILE.<scorer>.csv.")
    ] = None,
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Score every run of a study. Exit code 0; 3 if a run could not be read, or --scorer gave no
    run a value; 4 if there is none.

    `delibsim score texts FILE --scorer aqua` scores texts that were not held here: one row a text,
    in a CSV file.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if file is not None:
        raise typer.Exit(score_texts(study, file, column, to, scorer, as_json))
    runs = study_at(study, root)
    wanted = scorer or usual_scorers()
    any_held = any(map(runs.held, runs.sessions()))
    with kept_if_stopped() as watch:
        scores, faults, files = score_all(runs, wanted, watch) if any_held else ([], [], [])
    plans, held = runs.plans(), runs.all()[0]
    of = conditions(plans)
    gaps, effects = missing_by_condition(held, of), effects_of_runs(plans, held, runs)
    same, alike = named(effects.same, plans, of), named(effects.alike, plans, of)
    rows = by_condition(plans, scores, same, alike)
    if as_json:
        echo_json(
            {
                "study": runs.study,
                "conditions": rows,
                "missing": gaps,
                **effects.plain(),
                **effects.recorded(),
                "unreadable": faults,
                "people": {
                    measure: vars(known)
                    for measure, known in human_references(scorer or []).items()
                },
                "files": [shown(file) for file in files],
            }
        )
    else:
        screen = console()
        if not any_held:
            screen.print(f"study '{runs.study}' has no runs to score yet")
        print_effects(effects, screen)
        _tables(rows, gaps, measures_of(wanted), screen)
        _people(plans, screen)
        for line in people_lines(scorer or []):
            screen.print(line)
        for fault in faults:
            screen.print(f"left out, damaged: {fault}")
        for file in files:
            screen.print(f"written: {shown(file)}")
    nothing_valid = bool(scorer) and not any(row["valid"] for row in rows)
    raise typer.Exit(exit_code(bool(rows), not (faults or nothing_valid)))


def effects_of_runs(plans: Sequence[Session], held: Sequence[Run], runs: Runs) -> Effects:
    """What the sessions of a study vary without effect, by declaration and by the record."""
    dropped = {run.session.id: dropped_in(run, runs) for run in held}
    return effects_of(plans, [plan for plan in plans if plan.id in dropped], dropped)


def named(
    same: Mapping[str, str],
    plans: Iterable[Session],
    of: Mapping[str, Condition],
) -> dict[Condition, Condition]:
    """Conditions that are the same as another, from the names of their cells."""
    cells = {cell_of(session): of[session.id] for session in plans}
    found = {cells[cell]: cells[first] for cell, first in same.items()}
    return {condition: first for condition, first in found.items() if condition != first}


def by_condition(
    plans: Sequence[Session],
    scores: Iterable[Score],
    same: Mapping[Condition, Condition],
    alike: Mapping[Condition, Condition],
) -> list[dict[str, Any]]:
    """Means of every run-level measure by condition, with counts and reasons, and those of people.

    `equal_to` is the condition that a row's is the same as by construction, `asked_like` the one
    that was asked alike because the parameter they differ in was dropped; None without one.
    """
    of = conditions(plans)
    people = {of[plan.id]: people_of(plan) for plan in plans}
    cells: dict[tuple[Condition, str, str], list[Score]] = defaultdict(list)
    for score in scores:
        if score.unit == "run" and score.target in of:
            cells[of[score.target], score.measure, score.phase].append(score)
    planned = Counter(of.values())
    rows = []
    for (condition, measure, phase), found in sorted(cells.items(), key=_name_first):
        known = people[condition] or {}
        row = _named(condition)
        row |= {"equal_to": _text(same.get(condition)), "asked_like": _text(alike.get(condition))}
        row |= {"measure": measure, "phase": phase, "planned": planned[condition]}
        rows.append(row | _means(found) | {"people": known.get(phase, {}).get(measure)})
    return rows


def _name_first(cell: tuple[tuple[Condition, str, str], Any]) -> str:
    return str(cell[0][0])


def _means(found: Sequence[Score]) -> dict[str, Any]:
    """The mean of the values that are defined, and why the others are not."""
    valid = [score.value for score in found if not isnan(score.value)]
    return {
        "held": len(found),
        "valid": len(valid),
        "mean": fmean(valid) if valid else None,
        "sd": stdev(valid) if len(valid) > 1 else None,
        "missing": dict(Counter(score.note for score in found if score.note)),
    }


def missing_by_condition(held: Iterable[Run], of: Mapping[str, Condition]) -> list[dict[str, Any]]:
    """What is missing from the runs of each condition: statements and answers, by status."""
    found: dict[tuple[Condition, str, str], Counter[str]] = defaultdict(Counter)
    for run in held:
        for gap in missing(run):
            what = "answers" if gap["answers"] else "statements"
            status = gap["reason"].partition(":")[0]
            found[of[run.session.id], what, status][run.session.id] += gap["answers"] or 1
    return [
        _named(condition) | {"what": what, "reason": reason, "n": sum(by.values()), "runs": len(by)}
        for (condition, what, reason), by in found.items()
    ]


def _text(condition: Condition | None) -> str | None:
    return None if condition is None else str(condition)


def _named(condition: Condition) -> dict[str, Any]:
    return {field: getattr(condition, field) for field in ("topic", "treatment", "models")} | {
        "settings": dict(condition.settings)
    }


def _condition(row: Mapping[str, Any]) -> Condition:
    return Condition(row["topic"], row["treatment"], row["models"], tuple(row["settings"].items()))


def _people(plans: Sequence[Session], screen: Console) -> None:
    """What must be known of the column of people before anything is compared with it."""
    of_surveys = {(plan.topic.id, plan.survey.id): plan for plan in plans}
    for (topic, _), plan in of_surveys.items():
        known = people_of(plan)
        if known is None:
            continue
        line = (
            f"people on {topic}: the change of {known['n']} people pooled, which no single group"
            " shows"
        )
        if not on_their_instrument(plan):
            line = "; ".join((line, *OTHER_INSTRUMENT))
        screen.print(line, soft_wrap=True)


def _tables(
    rows: list[dict[str, Any]],
    gaps: list[dict[str, Any]],
    measures: Mapping[str, Measure],
    screen: Console,
) -> None:
    """One table a condition; of one that is another's by construction only what differs."""
    tabulated: dict[Condition, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        tabulated[_condition(row)].append(row)
    by_name = {str(condition): own for condition, own in tabulated.items()}
    for condition, own in tabulated.items():
        screen.print(safe(f"{condition}{_mark(own[0])}"), soft_wrap=True)
        table = _table(_unlike(own, by_name.get(own[0]["equal_to"], [])), measures)
        if table.row_count:
            screen.print(table)
        for gap in gaps:
            if _condition(gap) == condition:
                told = f"missing: {gap['n']} {gap['what']} in {gap['runs']} run(s): {gap['reason']}"
                screen.print(safe(told), soft_wrap=True)


def _mark(row: Mapping[str, Any]) -> str:
    """What stands behind a condition that is the same as another, or was asked alike."""
    if row["equal_to"] is not None:
        return f" (= {row['equal_to']}, by construction; only numbers that differ are shown)"
    return "" if row["asked_like"] is None else f" (asked like {row['asked_like']})"


def _unlike(own: list[dict[str, Any]], first: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of measures in which a condition differs from the one that it is the same as."""
    numbers = {(row["measure"], row["phase"]): _numbers(row) for row in first}
    unlike = set()
    for row in own:
        if _numbers(row) != numbers.get((row["measure"], row["phase"])):
            unlike.add(row["measure"])
    return [row for row in own if row["measure"] in unlike]


def _numbers(row: Mapping[str, Any]) -> list[Any]:
    return [row[name] for name in ("planned", "held", "valid", "mean", "sd", "missing")]


def _table(rows: Iterable[dict[str, Any]], declared: Mapping[str, Measure]) -> Table:
    """The measures of one condition; counts are those of the phase with the fewest valid values."""
    measures: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        measures[row["measure"]][row["phase"]] = row
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("measure", no_wrap=True)
    for head in ("planned", "held", "valid", "before", "after", "change", "SD", "people", "mean"):
        table.add_column(head, justify="right")
    table.add_column("undefined because", overflow="fold")
    for measure, phases in measures.items():
        if not measure.startswith("flags.") or any(row["mean"] for row in phases.values()):
            signed = measure not in declared or declared[measure].signed
            table.add_row(measure, *_cells(phases, signed))
    return table


def _cells(phases: Mapping[str, dict[str, Any]], signed: bool) -> list[str]:
    """The row of one measure, from its rows by phase; a change has its sign if `signed`."""
    least = min(phases.values(), key=lambda row: row["valid"])
    counts = [str(least[name]) for name in ("planned", "held", "valid")]
    means = {}
    for phase, row in phases.items():
        means[phase] = number(row["mean"], signed and phase == "change")
    change = phases.get("change", {})
    sd = "" if change.get("sd") is None else number(change["sd"])
    people = "" if change.get("people") is None else number(change["people"], signed)
    reasons = ", ".join(f"{reason} ({n})" for reason, n in least["missing"].items())
    before, after, changed, unphased = (means.get(phase, "") for phase in PHASES)
    return [*counts, before, after, changed, sd, people, unphased, reasons]
