"""`delibsim status`: how a study stands."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from delibsim.cli.calls import (
    Ids,
    dropped,
    fingerprints,
    note_ids,
    repeated,
    repetition,
    without_effect,
)
from delibsim.cli.effects import print_effects
from delibsim.cli.summary import missing
from delibsim.cli.terminal import console, echo_json, exit_code, safe, shown, study_at
from delibsim.planning.effects import Effects, effects_of
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
WORST = 10  # calls listed
LISTED = 40  # sessions listed; in a larger study those that are not complete
EVERY = 5.0  # seconds between two lines of --watch


@app.command()
def status(
    study: Annotated[
        str | None,
        typer.Argument(help="Name or folder of the study; without one, all studies are listed."),
    ] = None,
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path(
        "runs"
    ),
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Say how it goes every few seconds, until nothing is held any more."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print as JSON; with --watch one object a line.")
    ] = False,
) -> None:
    """What was held, cut off or damaged, and how the calls ended. Exit code 0 if all is complete, 3
    if not, 4 if nothing is.
    """
    if study is None:
        _list(root, as_json)
        return
    runs = study_at(study, root)
    if watch:
        with suppress(KeyboardInterrupt):
            _watch(runs, as_json)
    ids = Ids()
    begun, manifest, unfinished = (
        runs.sessions(),
        runs.manifest(),
        "under way" if runs.holder() else "cut off",
    )
    sessions = [state(runs, session, ids, unfinished) for session in begun]
    states = Counter(entry["state"] for entry in sessions)
    if waiting := len(set(manifest.sessions if manifest else ()) - set(begun)):
        states["not begun"] = waiting
    effects = _effects(runs, sessions)
    calls: Counter[str] = sum((Counter(entry["calls"]) for entry in sessions), Counter())
    if as_json:
        facts = {
            "states": dict(states),
            "calls": dict(calls),
            "repeated_response_ids": repeated(ids),
        }
        facts |= effects.plain() | effects.recorded()
        echo_json({"study": runs.study, "sessions": sessions, **facts})
    else:
        _print(runs, sessions, states, effects)
        _print_doubts(sessions, ids)
        if states["cut off"]:
            again = (
                "its `delibsim run` command is given again, or with `delibsim retry"
                f" {shown(runs.folder)}`"
            )
            console().print(f"A session that was cut off goes on when {again}.", soft_wrap=True)
    complete = states["complete"]
    if complete == states.total():
        raise typer.Exit(0)
    raise typer.Exit(exit_code(bool(complete or states["partial"]), whole=False))


def _effects(runs: Runs, entries: list[dict[str, Any]]) -> Effects:
    """What the sessions of a study vary without effect, by declaration and by the record."""
    plans = runs.plans()
    dropped = {entry["session"]: entry["parameters_dropped"] for entry in entries}
    held = [session for session in plans if runs.held(session.id)]
    return effects_of(plans, held, dropped)


def _watch(runs: Runs, as_json: bool) -> None:
    """Print how many sessions are held, as long as a process holds them."""
    planned = len(manifest.sessions) if (manifest := runs.manifest()) else 0
    started, first = time.monotonic(), sum(map(runs.held, runs.sessions()))
    while True:
        begun, process, seconds = runs.sessions(), runs.holder(), time.monotonic() - started
        held = sum(map(runs.held, begun))
        pace = (held - first) / seconds * 60 if seconds > 1 else 0.0
        left = (planned - held) / pace if pace else None
        if as_json:
            line = {
                "held": held,
                "begun": len(begun),
                "planned": planned,
                "process": process,
                "a_minute": round(pace, 2),
                "minutes_left": left,
            }
            typer.echo(json.dumps(line))
        else:
            ahead = f", about {left:.0f} min left" if left else ""
            who = f"process {process} holds it" if process else "no process holds it now"
            typer.echo(
                f"{held}/{planned} sessions held, {len(begun) - held} begun, {pace:.1f} a"
                f" minute{ahead}; {who}"
            )
        if not process:
            return
        time.sleep(EVERY)


def _list(root: Path, as_json: bool) -> None:
    """All studies, with how many sessions of each were begun and held."""
    studies = [Runs.at(path.parent.resolve()) for path in sorted(root.glob("*/study.json"))]
    rows = [
        {"study": r.study, "sessions": len(r.sessions()), "held": sum(map(r.held, r.sessions()))}
        for r in studies
    ]
    if as_json:
        echo_json(rows)
        return
    table = Table("study", "sessions", "held", box=None)
    for row in rows:
        table.add_row(safe(str(row["study"])), str(row["sessions"]), str(row["held"]))
    console().print(table if rows else f"no studies in {root} yet")


def state(runs: Runs, session: str, ids: Ids, unfinished: str = "cut off") -> dict[str, Any]:
    """How one session stands: complete, partial (something is missing), `unfinished`, or damaged;
    its calls by status.

    The response ids of its calls are added to `ids`.
    """
    records, damaged = runs.exchanges(session)
    note_ids(records, ids)
    entry: dict[str, Any] = {
        "session": session,
        "state": unfinished,
        "calls": dict(
            Counter(record.get("completion", {}).get("status", "damaged") for record in records)
        ),
        "damaged_lines": damaged,
        "worst": [
            _call(record)
            for record in records
            if record.get("completion", {}).get("status") != "ok"
        ],
        "fingerprints": fingerprints(records),
        "parameters_dropped": dropped(records),
        "missing": [],
        "fault": "",
    }
    try:
        entry["condition"] = {
            "treatment": (planned := runs.planned(session)).treatment.name,
            "topic": planned.topic.id,
            "models": sorted(planned.models),
            "replicate": planned.replicate,
        }
        if runs.held(session):
            run = runs.run(session)
            entry |= {"state": run.status, "missing": missing(run)}
    except Damaged as error:
        entry |= {"state": "damaged", "fault": str(error)}
    return entry


def _call(record: dict[str, Any]) -> str:
    purpose, completion = record.get("purpose", {}), record.get("completion", {})
    id = "/".join(str(purpose.get(part, "?")) for part in ("participant", "occasion", "attempt"))
    return f"{id}: {completion.get('status', 'damaged')}: {completion.get('detail', '')}"


def _print(
    runs: Runs,
    sessions: list[dict[str, Any]],
    states: Counter[str],
    effects: Effects,
) -> None:
    screen = console()
    screen.print(
        f"study {runs.study}: "
        + (", ".join(f"{n} {name}" for name, n in states.items()) or "no sessions yet")
    )
    print_effects(effects, screen)
    table = Table(box=None, pad_edge=False)
    for head in ("session", "state", "calls", "not ok"):
        table.add_column(head, overflow="fold")
    listed = (
        sessions
        if len(sessions) <= LISTED
        else [entry for entry in sessions if entry["state"] != "complete"][:LISTED]
    )
    for entry in listed:
        faults = ", ".join(
            f"{n} {status}" for status, n in entry["calls"].items() if status != "ok"
        )
        table.add_row(
            entry["session"], entry["state"], str(sum(entry["calls"].values())), faults or "-"
        )
    if listed:
        screen.print(table)
    if len(listed) < len(sessions):
        screen.print(f"{len(sessions) - len(listed)} sessions are not listed; --json lists all")
    for entry in sessions:
        if entry["fault"]:
            screen.print(f"damaged: {entry['fault']}", soft_wrap=True)
        if entry["damaged_lines"]:
            screen.print(
                f"{entry['session']}: {entry['damaged_lines']} damaged line(s) in its log are left"
                " alone"
            )
        for gap in entry["missing"]:
            screen.print(
                f"missing: {entry['session']}, {gap['participant']}, {gap['occasion']}:"
                f" {safe(gap['reason'])}",
                soft_wrap=True,
            )
    by_condition: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in sessions:
        by_condition[entry["session"].rpartition(".r")[0] or entry["session"]].update(
            entry["calls"]
        )
    for name, counts in by_condition.items():
        ended = ", ".join(f"{n} {status}" for status, n in counts.most_common())
        screen.print(f"calls, {name}{effects.mark(name)}: {ended}", soft_wrap=True)
    worst = [f"{entry['session']}, {call}" for entry in sessions for call in entry["worst"]]
    for line in worst[:WORST]:
        screen.print(f"not ok: {safe(line)}", soft_wrap=True)
    if len(worst) > WORST:
        screen.print(
            f"and {len(worst) - WORST} more calls that were not ok; delibsim show RUN --call all"
            " lists them"
        )


def _print_doubts(sessions: list[dict[str, Any]], ids: Ids) -> None:
    """What a careful reader must know of the models that answered."""
    screen = console()
    for line in without_effect(_together(entry["parameters_dropped"] for entry in sessions)):
        screen.print(f"dropped: {safe(line)}", soft_wrap=True)
    for model, prints in _together(entry["fingerprints"] for entry in sessions).items():
        if len(prints) > 1:
            screen.print(
                f"warning: {safe(model)}: the provider's fingerprint changed in mid-study:"
                f" {safe(', '.join(prints))}",
                soft_wrap=True,
            )
    if found := repeated(ids):
        screen.print(f"warning: {safe(repetition(found))}", soft_wrap=True)


def _together(parts: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, list[str]]:
    """What was found by model in each session, by model in all of them."""
    found: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        for model, names in part.items():
            found[model].update(names)
    return {model: sorted(names) for model, names in found.items()}
