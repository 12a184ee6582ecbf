"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from delibsim.analysis.reference import of_people, reference
from delibsim.cli.summary import UNSIGNED, missing
from delibsim.cli.terminal import console, echo_json, number, safe, shown, study_at
from delibsim.cli.texts import kept_if_stopped, people_lines, people_of, score_texts
from delibsim.conduct import score_all, usual_scorers
from delibsim.domain.condition import Condition, conditions
from delibsim.domain.errors import unknown
from delibsim.domain.run import Session
from delibsim.domain.score import Score
from delibsim.plugins import names
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
PHASES = ("pre", "post", "change", "")


@app.command()
def score(
    study: Annotated[str, typer.Argument(help="Name or folder of the study; or the word texts, with a file of texts behind it.")],
    file: Annotated[Path | None, typer.Argument(help="With texts: a CSV file with a row a text.")] = None,
    scorer: Annotated[
        list[str] | None, typer.Option(help="A scorer; may be given several times. Default: all that need not be asked for.")
    ] = None,
    column: Annotated[str, typer.Option(help="With texts: the column that holds them.")] = "text",
    to: Annotated[Path | None, typer.Option(help="With texts: the file to write. Default: FILE.<scorer>.csv.")] = None,
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Score every run of a study. Exit code 0; 3 if a run could not be read, or --scorer gave no run a value; 4 if there is none.

    `delibsim score texts FILE --scorer aqua` scores texts that were not held here: one row a text, in a CSV file.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if file is not None:
        raise typer.Exit(score_texts(study, file, column, to, scorer, as_json))
    runs = study_at(study, root)
    any_held = any(map(runs.held, runs.sessions()))
    with kept_if_stopped() as watch:
        scores, faults, files = score_all(runs, scorer or usual_scorers(), watch) if any_held else ([], [], [])
    of = conditions(plans(runs))
    surveys = {planned.topic.id: planned.survey.id for planned in plans(runs)}
    rows, gaps = by_condition(of, scores, surveys), missing_by_condition(runs, of)
    if as_json:
        echo_json(
            {
                "study": runs.study,
                "conditions": rows,
                "missing": gaps,
                "unreadable": faults,
                "people": {measure: vars(known) for measure, known in people_of(scorer or []).items()},
                "files": [shown(file) for file in files],
            }
        )
    else:
        screen = console()
        if not any_held:
            screen.print(f"study '{runs.study}' has no runs to score yet")
        _tables(rows, gaps, screen)
        _people(surveys, screen)
        for line in people_lines(scorer or []):
            screen.print(line)
        for fault in faults:
            screen.print(f"left out, damaged: {fault}")
        for file in files:
            screen.print(f"written: {shown(file)}")
    nothing_valid = bool(scorer) and not any(row["valid"] for row in rows)
    raise typer.Exit(4 if not rows else 3 if faults or nothing_valid else 0)


def plans(runs: Runs) -> Iterator[Session]:
    """The plan of every session, where it can be read."""
    for session in runs.sessions():
        with suppress(Damaged):  # score_all has named it among the faults
            yield runs.planned(session)


def by_condition(of: Mapping[str, Condition], scores: Iterable[Score], surveys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Means of every run-level measure by condition, with counts (planned, held, valid, and why not), and those of people."""
    cells: dict[tuple[Condition, str, str], list[Score]] = defaultdict(list)
    for score in scores:
        if score.unit == "run" and score.target in of:
            cells[of[score.target], score.measure, score.phase].append(score)
    planned_counts = Counter(of.values())
    return [
        _named(condition) | {
            "measure": measure, "phase": phase,
            "planned": planned_counts[condition], "held": len(found), "valid": len(valid),
            "mean": fmean(valid) if valid else None, "sd": stdev(valid) if len(valid) > 1 else None,
            "missing": dict(Counter(s.note for s in found if s.note)),
            "people": of_people(condition.topic, measure, phase, surveys[condition.topic])[0],
        }
        for (condition, measure, phase), found in sorted(cells.items(), key=lambda cell: str(cell[0][0]))
        for valid in [[s.value for s in found if s.value == s.value]]
    ]  # fmt: skip


def missing_by_condition(runs: Runs, of: Mapping[str, Condition]) -> list[dict[str, Any]]:
    """What is missing from the runs of each condition: statements and answers, by status."""
    found: dict[tuple[Condition, str, str], Counter[str]] = defaultdict(Counter)
    for run in runs.all()[0]:
        for gap in missing(run):
            what = "answers" if gap["answers"] else "statements"
            status = gap["reason"].partition(":")[0]
            found[of[run.session.id], what, status][run.session.id] += gap["answers"] or 1
    return [
        _named(condition) | {"what": what, "reason": reason, "n": sum(by.values()), "runs": len(by)}
        for (condition, what, reason), by in found.items()
    ]


def _named(condition: Condition) -> dict[str, Any]:
    return {field: getattr(condition, field) for field in ("topic", "treatment", "models")} | {"settings": dict(condition.settings)}


def _condition(row: Mapping[str, Any]) -> Condition:
    return Condition(row["topic"], row["treatment"], row["models"], tuple(row["settings"].items()))


def _people(surveys: Mapping[str, str], screen: Console) -> None:
    """What must be known of the column of people before anything is compared with it."""
    for topic, survey in surveys.items():
        known = reference(topic)
        if known is None or of_people(topic, "dri", "change", survey)[0] is None:
            continue
        line = f"people on {topic}: the change of {known['n']} people pooled, which no single group shows"
        if survey != f"deliberr.{topic}":
            line += "; they answered the original instrument: compare directions only, raw scales are left out"
        screen.print(line, soft_wrap=True)


def _tables(rows: list[dict[str, Any]], gaps: list[dict[str, Any]], screen: Console) -> None:
    """One table a condition; its counts are those of the phase with the fewest valid values."""
    tabulated: dict[Condition, dict[str, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        tabulated[_condition(row)][row["measure"]][row["phase"]] = row
    for condition, measures in tabulated.items():
        screen.print(safe(str(condition)), soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
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
            if _condition(gap) == condition:
                screen.print(safe(f"missing: {gap['n']} {gap['what']} in {gap['runs']} run(s): {gap['reason']}"), soft_wrap=True)
