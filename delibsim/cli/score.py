"""`delibsim score`: score every run of a study."""

from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from delibsim.analysis.reference import of_people
from delibsim.cli.summary import UNSIGNED, missing
from delibsim.cli.terminal import console, echo_json, number, safe, shown, study_at
from delibsim.conduct import score_all
from delibsim.domain.errors import unknown
from delibsim.domain.score import Score
from delibsim.plugins import names
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
PHASES = ("pre", "post", "change", "")


@app.command()
def score(
    study: Annotated[str, typer.Argument(help="Name or folder of the study.")],
    scorer: Annotated[list[str] | None, typer.Option(help="A scorer; may be given several times. Default: all installed.")] = None,
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Score every run of a study. Exit code 0; 3 if a run could not be read, 4 if there is none."""
    runs = study_at(study, root)
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    any_held = any(map(runs.held, runs.sessions()))
    scores, faults, files = score_all(runs, scorer or installed) if any_held else ([], [], [])
    rows, gaps = by_condition(runs, scores), missing_by_condition(runs)
    if as_json:
        echo_json(
            {"study": runs.study, "conditions": rows, "missing": gaps, "unreadable": faults, "files": [shown(file) for file in files]}
        )
    else:
        screen = console()
        if not any_held:
            screen.print(f"study '{runs.study}' has no runs to score yet")
        _tables(rows, gaps, screen)
        for fault in faults:
            screen.print(f"left out, damaged: {fault}")
        for file in files:
            screen.print(f"written: {shown(file)}")
    raise typer.Exit(0 if not faults and rows else 3 if rows else 4)


def by_condition(runs: Runs, scores: list[Score]) -> list[dict[str, Any]]:
    """Means of every run-level measure by topic, treatment and models, with counts (planned, held, valid, and why not), and people's."""
    conditions: dict[str, tuple[str, str, str]] = {}
    surveys: dict[str, str] = {}
    for session in runs.sessions():
        with suppress(Damaged):  # score_all has named it among the faults
            planned = runs.planned(session)
            surveys[planned.topic.id] = planned.survey.id
            conditions[session] = (planned.topic.id, planned.treatment.name, "+".join(planned.models))
    cells: dict[tuple[tuple[str, str, str], str, str], list[Score]] = defaultdict(list)
    for score in scores:
        if score.unit == "run" and score.target in conditions:
            cells[conditions[score.target], score.measure, score.phase].append(score)
    planned_counts = Counter(conditions.values())
    return [
        {
            "topic": condition[0], "treatment": condition[1], "models": condition[2], "measure": measure, "phase": phase,
            "planned": planned_counts[condition], "held": len(found), "valid": len(valid),
            "mean": fmean(valid) if valid else None, "sd": stdev(valid) if len(valid) > 1 else None,
            "missing": dict(Counter(s.note for s in found if s.note)),
            "people": of_people(condition[0], measure, phase, surveys[condition[0]])[0],
        }
        for (condition, measure, phase), found in cells.items()
        for valid in [[s.value for s in found if s.value == s.value]]
    ]  # fmt: skip


def missing_by_condition(runs: Runs) -> list[dict[str, Any]]:
    """What is missing from the runs of each condition: statements and answers, by status."""
    found: dict[tuple[str, str, str, str, str], Counter[str]] = defaultdict(Counter)
    for run in runs.all()[0]:
        session = run.session
        for gap in missing(run):
            what = "answers" if gap["answers"] else "statements"
            status = gap["reason"].partition(":")[0]
            condition = (session.topic.id, session.treatment.name, "+".join(session.models))
            found[(*condition, what, status)][session.id] += gap["answers"] or 1
    return [
        {"topic": topic, "treatment": treatment, "models": models, "what": what, "reason": reason, "n": sum(by.values()), "runs": len(by)}
        for (topic, treatment, models, what, reason), by in found.items()
    ]


def _tables(rows: list[dict[str, Any]], gaps: list[dict[str, Any]], screen: Console) -> None:
    """One table a condition; its counts are those of the phase with the fewest valid values."""
    conditions: dict[tuple[str, ...], dict[str, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        conditions[row["topic"], row["treatment"], row["models"]][row["measure"]][row["phase"]] = row
    for condition, measures in conditions.items():
        table = Table(title=", ".join(condition), title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("measure", no_wrap=True)
        for head in ("planned", "held", "valid", "before", "after", "change", "SD", "people", "mean"):
            table.add_column(head, justify="right")
        table.add_column("undefined because", overflow="fold")
        for measure, phases in measures.items():
            if measure.startswith("flags.") and not any(row["mean"] for row in phases.values()):
                continue
            least = min(phases.values(), key=lambda row: row["valid"])
            values = [
                number(phases[phase]["mean"], phase == "change" and measure not in UNSIGNED) if phase in phases else "" for phase in PHASES
            ]
            reasons = ", ".join(f"{reason} ({n})" for reason, n in least["missing"].items())
            values.insert(3, number(phases["change"]["sd"]) if "change" in phases and phases["change"]["sd"] is not None else "")
            people = phases["change"]["people"] if "change" in phases else None
            values.insert(4, "" if people is None else number(people, measure not in UNSIGNED))
            table.add_row(measure, str(least["planned"]), str(least["held"]), str(least["valid"]), *values, reasons)
        screen.print(table)
        for gap in gaps:
            if (gap["topic"], gap["treatment"], gap["models"]) == condition:
                screen.print(safe(f"missing: {gap['n']} {gap['what']} in {gap['runs']} run(s): {gap['reason']}"), soft_wrap=True)
