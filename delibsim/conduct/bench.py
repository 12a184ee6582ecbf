"""Exporting a study as the published release names its tables: seven of them, with metadata."""

import csv
import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from delibsim.analysis.individual_change import changes_of
from delibsim.analysis.study.bench import (
    AQUA,
    LAYOUT,
    bench_columns,
    configurations_and_runs,
    tables,
)
from delibsim.conduct.analysed import study_table
from delibsim.conduct.score import Watch
from delibsim.domain.run import Run
from delibsim.domain.survey import PHASES, Phase
from delibsim.domain.text import counted
from delibsim.store.files import each_line, json_text, staged
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import SCORES, Runs
from delibsim.store.tables.bench_files import write_metadata
from delibsim.store.tables.sheets import SheetWriter, Table, to_parquet
from delibsim.store.tables.study import Export
from delibsim.store.tables.study_facts import facts_of_study

ANSWERS, TRANSCRIPTS = "deliberr_answers.csv", "transcripts.jsonl"
MOST = {"C": 50, "P": 10}
"""How many considerations and preferences deliberr's table of answers has columns for."""
STAGES: dict[Phase, tuple[int, str]] = {"pre": (1, "Pre-Delib"), "post": (2, "Post-Delib")}


def export_bench(
    runs: Runs,
    folder: Path,
    formats: Collection[str] = ("csv",),
    spreadsheet_safe: bool = False,
    watch: Watch | None = None,
) -> Export:
    """Write the seven tables of a study into `folder`, which holds the whole export or, until it
    is written, what it held before. What is not scored yet is scored first.

    The tables are CSV always, as other programs read them, and Parquet where it is asked for.
    WrongInput if `folder` holds anything that is not of an earlier export.
    """
    refuse_others(folder, "export")
    folder = folder.resolve()
    study = study_table(runs, watch)
    facts = {row["session"]: row for row in facts_of_study(runs)}

    def settings_of(session: str) -> str | None:
        own = facts[session]["settings"]
        return json_text(dict(own)) if own else None

    made = configurations_and_runs(study, settings_of)
    formats = {"csv", *formats}
    faults: list[str] = []
    with staged(folder) as new:
        with ExitStack() as opened:
            sheets = {}
            for name in tables():
                columns = bench_columns(name, study)
                sheet = SheetWriter(new, name, columns, formats, spreadsheet_safe)
                sheets[name] = opened.enter_context(sheet)
            for table in made:
                for row in table.rows:
                    sheets[table.name].add(row)
            speakers = _write_runs(runs, sheets, new, opened, faults)
            _write_aqua(runs, sheets, speakers, faults)
        if "parquet" in formats:
            to_parquet(sheets.values())
        statuses = study.rows["status"].value_counts().to_dict()
        sessions = {str(status): int(n) for status, n in statuses.items()}
        escaped = {}
        for name, sheet in sheets.items():
            for column, n in sheet.escaped.items():
                escaped[f"{name}.{column}"] = n
        rows = {name: sheet.rows for name, sheet in sheets.items()}
        written = Export(folder, rows, sessions, escaped, tuple(faults))
        shown = [_described(name, sheet.columns) for name, sheet in sheets.items()]
        write_metadata(new, runs, shown, written, LAYOUT, spreadsheet_safe)
    return written


def _described(name: str, columns: Iterable[Any]) -> Table:
    return Table(name, tables()[name], tuple(columns), ())


def _write_runs(
    runs: Runs,
    sheets: Mapping[str, SheetWriter],
    folder: Path,
    opened: ExitStack,
    faults: list[str],
) -> dict[tuple[str, int], tuple[str, str]]:
    """Write what is read of the runs; who spoke at each turn, and by what model."""
    transcripts = opened.enter_context((folder / TRANSCRIPTS).open("wb"))
    answers = opened.enter_context((folder / ANSWERS).open("w", encoding="utf-8", newline=""))
    writer = csv.writer(answers)
    heading = ["study", "survey", "case", "data_type", "stage_id", "stage", "pnum"]
    for letter, most in MOST.items():
        heading += [f"{letter}{number}" for number in range(1, most + 1)]
    writer.writerow(heading)
    people: dict[str, int] = {}
    speakers: dict[tuple[str, int], tuple[str, str]] = {}
    for line, run in enumerate(runs.readable(faults), 1):
        _write_changes(run, sheets)
        for said in run.transcript:
            model = run.session.model_of(said.turn)
            speakers[run.session.id, said.turn.index] = said.turn.speaker, model
        _write_transcript(run, line, sheets["transcripts_index"], transcripts)
        surveyed = [run.session.survey.considerations, run.session.survey.preferences]
        if any(len(items) > most for items, most in zip(surveyed, MOST.values(), strict=True)):
            faults.append(f"{run.session.id}: its survey has more items than {ANSWERS} has columns")
        elif all(surveyed):
            for row in _answers(run, people):
                writer.writerow(row)
    return speakers


def _write_changes(run: Run, sheets: Mapping[str, SheetWriter]) -> None:
    """Write the individual index before and after, and the change of opinion, of a run."""
    columns = [column.name for column in sheets["opinion_change"].columns]
    for row in changes_of(run):
        plain = {name: _known(value) for name, value in row.items()}
        sheets["opinion_change"].add([plain[name] for name in columns])
        for phase, name in zip(PHASES, ("dri_before", "dri_after"), strict=True):
            note = plain["note"] if plain[name] is None else None
            who = [plain[key] for key in ("session", "participant", "model")]
            sheets["dri_individual"].add([*who, phase, plain[name], note])


def _known(value: Any) -> Any:
    """A plain value, None for NaN and for an empty text."""
    missing = value == "" or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def _write_transcript(run: Run, line: int, index: SheetWriter, file: IO[bytes]) -> None:
    statements = []
    for said in run.transcript:
        model = run.session.model_of(said.turn)
        turn = {"turn": said.turn.index, "round": said.turn.round, "task": said.turn.task}
        who = {"participant": said.turn.speaker, "model": model}
        who |= {"role": said.turn.role} if said.turn.role else {}
        statements.append(turn | who | {"text": said.text})
    silences = []
    for silence in run.silences:
        who = {"turn": silence.turn.index, "participant": silence.turn.speaker}
        silences.append(who | {"status": silence.status})
    session = run.session
    plain = {"session": session.id, "topic": session.topic.id, "treatment": session.treatment.name}
    text = json_text(plain | {"statements": statements, "silences": silences}).encode()
    file.write(text + b"\n")
    words = sum(len(said.text.split()) for said in run.transcript)
    digest = hashlib.sha256(text).hexdigest()
    index.add([session.id, line, len(statements), len(silences), words, digest])


def _answers(run: Run, people: dict[str, int]) -> Iterator[list[Any]]:
    """The answers of a run in the columns of deliberr's human data; persons are numbered within a
    survey over all runs, as there.
    """
    session = run.session
    survey = session.survey
    kind = "Q" if survey.forced_distribution else "Likert"
    numbers = {}
    for person in session.participants:
        people[survey.id] = people.get(survey.id, 0) + 1
        numbers[person.id] = people[survey.id]
    for phase, (stage, name) in STAGES.items():
        for person in session.participants:
            given = run.response(person.id, phase).answers
            cells: list[Any] = []
            groups = (survey.considerations, survey.preferences)
            for items, most in zip(groups, MOST.values(), strict=True):
                own = [given.get(item.id, "") for item in items]
                cells += own + [""] * (most - len(own))
            who = [session.topic.id, survey.id, session.id, kind, stage, name, numbers[person.id]]
            yield [*who, *cells]


def _write_aqua(
    runs: Runs,
    sheets: Mapping[str, SheetWriter],
    speakers: Mapping[tuple[str, int], tuple[str, str]],
    faults: list[str],
) -> None:
    """Write AQuA of runs and of statements, where it was scored; in its highest version."""
    files = sorted((runs.folder / SCORES).glob("aqua.v*.jsonl"), key=lambda path: len(path.name))
    if not files:
        return
    found: dict[tuple[str, str], dict[str, Any]] = {}
    damaged = 0
    for _, record in each_line(files[-1]):
        if record is None:
            damaged += 1
        elif record.get("unit") in ("run", "statement"):
            own = found.setdefault((record["unit"], record["target"]), {})
            own[record["measure"]] = record["value"]
            own |= {"coder": record["coder"] or None, "note": record["note"] or None}
    if damaged:
        faults.append(f"{files[-1]}: {counted(damaged, 'damaged line')}; score the study again")
    for (unit, target), own in found.items():
        values = [own.get(name) for name in (*AQUA, "coder", "note")]
        session, _, turn = target.partition("/")
        if unit == "run":
            sheets["aqua_transcripts"].add([session, *values])
        elif turn.isdecimal():
            speaker = speakers.get((session, int(turn)), (None, None))
            sheets["aqua_turns"].add([session, int(turn), *speaker, *values])
