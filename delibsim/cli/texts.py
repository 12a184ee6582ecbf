"""Scoring texts of a file; and what scoring of texts needs besides: progress, what people scored,
and what is kept when it is stopped.
"""

import csv
import io
import math
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import typer

from delibsim.cli.terminal import console, echo_json, exit_code, number, safe, shown
from delibsim.conduct.translate import translate_texts
from delibsim.domain.errors import WrongInput, unknown
from delibsim.plugins import load
from delibsim.store.files import write_atomically

SEPARATORS = (",", ";", "\t")
PAUSE = 10.0  # seconds between two lines of progress


def score_texts(
    word: str,
    file: Path,
    column: str,
    to: Path | None,
    scorers: Sequence[str] | None,
    as_json: bool,
) -> int:
    """Score the texts in a column of a CSV file, and write its rows with the values beside them;
    the exit code.
    """
    if word != "texts":
        raise WrongInput(
            "one study is scored at a time; to score the texts of a file: delibsim score texts"
            f" {file} --scorer aqua"
        )
    if not scorers or len(scorers) > 1:
        raise WrongInput("to score texts, name one scorer: --scorer aqua")
    (name,) = scorers
    scorer = load("delibsim.scorers", name)
    if not hasattr(scorer, "table"):
        raise WrongInput(
            f"the scorer {name} reads whole runs and cannot score single texts; aqua can"
        )
    header, rows, separator = read_rows(file, column)
    texts = [row[header.index(column)] for row in rows]
    place = to or file.with_name(f"{file.stem}.{name}.csv")
    _check_output(place, file, [heading for heading in header if heading.startswith(f"{name}.")])
    with kept_if_stopped() as watch:
        scorer.watch = watch
        translate_texts(scorer, texts)
        values = scorer.table(texts)
    _write(place, separator, header, rows, values)
    measured = [row[f"{name}.score"] for row in values if not math.isnan(row[f"{name}.score"])]
    summary = {
        "texts": len(texts), "valid": len(measured), "missing": _reasons(values),
        "mean": fmean(measured) if measured else None, "sd": stdev(measured) if len(measured) > 1 else None,
    }  # fmt: skip
    if as_json:
        people = {measure: vars(known) for measure, known in people_scored(scorers).items()}
        echo_json({**summary, "people": people, "file": shown(place), "rows": values})
        return exit_code(bool(measured), len(measured) == len(texts))
    screen = console()
    screen.print(
        f"{name}.score: mean {number(summary['mean'])}, SD {number(summary['sd'])}, {len(measured)}"
        f" of {len(texts)} texts"
    )
    for line in people_lines(scorers):
        screen.print(line)
    for reason, n in summary["missing"].items():
        screen.print(safe(f"undefined: {n} text(s): {reason}"), soft_wrap=True)
    screen.print(f"written: {shown(place)}")
    return exit_code(bool(measured), len(measured) == len(texts))


def read_rows(file: Path, column: str) -> tuple[list[str], list[list[str]], str]:
    """Header, rows and separator of a CSV file in UTF-8: of comma, semicolon and tab the one under
    which the column is found.

    WrongInput, naming the line, for a row with more or fewer cells than the header.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongInput(
            f"{file} is not UTF-8 (byte {error.start}); save it as 'CSV UTF-8'"
        ) from None
    except OSError as error:
        raise WrongInput(f"{file} cannot be read: {error.strerror}") from None
    csv.field_size_limit(
        max(csv.field_size_limit(), len(text))
    )  # a text may be longer than the 131,072 characters of the default
    found: list[str] = []
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            header = next(reader, [])
            if column not in header:
                found = max(found, header, key=len)
                continue
            rows = []
            for row in reader:
                if row and len(row) != len(header):
                    cells = f"{len(row)} cells under {len(header)} headings"
                    raise WrongInput(
                        f"{file}, line {reader.line_num}: {cells}; quote texts that hold"
                        f" '{separator}'"
                    )
                rows += [row] if row else []
        except csv.Error as error:
            raise WrongInput(f"{file}, line {reader.line_num}: {error}") from None
        if header.count(column) > 1:
            raise WrongInput(f"{file} has {header.count(column)} columns named '{column}'")
        if not rows:
            raise WrongInput(f"{file} has a header and no row")
        return header, rows, separator
    raise unknown(
        "column",
        column,
        found,
        f"Columns are those of {file}; name the one with the texts: --column NAME",
    )


@contextmanager
def kept_if_stopped() -> Generator[Callable[[str, int, int], None]]:
    """Something to tell progress to, on stderr; Ctrl-C ends with exit code 3 and says that nothing
    done is lost.
    """
    screen = console(stderr=True)
    last = time.monotonic()

    def watch(what: str, done: int, among: int) -> None:
        nonlocal last
        if screen.is_terminal:
            screen.print(f"{what} {done} of {among}", end="\r" if done < among else "\n")
        elif time.monotonic() - last > PAUSE:
            last = time.monotonic()
            screen.print(f"{what} {done} of {among}")

    try:
        yield watch
    except KeyboardInterrupt:
        screen.print(
            "Stopped. What was worked on is kept; the same command goes on from there.",
            soft_wrap=True,
        )
        raise typer.Exit(3) from None


def people_scored(scorers: Sequence[str]) -> dict[str, Any]:
    """The human reference of the measures of some scorers."""
    return {
        measure: known
        for name in scorers
        for measure, known in getattr(load("delibsim.scorers", name), "people", {}).items()
    }


def people_lines(scorers: Sequence[str]) -> list[str]:
    """The same, for reading."""
    return [
        f"people: {measure} {p.mean:.3f} (SD {p.sd:.3f}, N {p.n}; {p.what})"
        for measure, p in people_scored(scorers).items()
    ]


def _check_output(place: Path, file: Path, taken: Sequence[str]) -> None:
    """WrongInput, before hours of work, where the result could not be written to its place, or must
    not be.
    """
    if taken:
        raise WrongInput(
            f"{file} has columns of that name already: {', '.join(taken[:4])}; leave them out"
        )
    if place.is_dir():
        raise WrongInput(f"{place} is a folder; name a file to write to: --to FILE")
    if place.exists() and place.samefile(file):
        raise WrongInput(
            f"{place} is the file with the texts, which would be overwritten; name another: --to"
            " FILE"
        )
    if not place.parent.is_dir():
        raise WrongInput(
            f"there is no folder {place.parent} to write {place.name} to; make it, or name another"
            " place: --to FILE"
        )
    if not os.access(place.parent, os.W_OK):
        raise WrongInput(
            f"nothing may be written in the folder {place.parent}; name another place: --to FILE"
        )


def _write(
    place: Path,
    separator: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    values: Sequence[dict[str, Any]],
) -> None:
    """The rows as they were, with the values behind them; an undefined value is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow([*header, *values[0]])
    for row, found in zip(rows, values, strict=True):
        writer.writerow([*row, *("" if value != value else value for value in found.values())])
    write_atomically(place, out.getvalue())


def _reasons(values: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How often each reason stands in the notes."""
    notes = [row["aqua.note"] for row in values if row["aqua.note"]]
    return {note: notes.count(note) for note in dict.fromkeys(notes)}
