"""`delibsim score` of single texts, and what is printed while any scorer takes its time."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from delibsim.cli.terminal import console, echo_json, exit_code, number, print_each, shown
from delibsim.conduct.texts import (
    ScoredTexts,
    human_references,
    on_people,
    score_file,
    score_study_texts,
    scorers_of_texts,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted, study_named
from delibsim.store.runs import Runs

PAUSE = 10.0  # seconds between two lines of progress


def score_texts(
    file: Path,
    column: str,
    to: Path | None,
    scorers: Sequence[str] | None,
    as_json: bool,
) -> int:
    """Score the texts in a column of a CSV file, and print what came of it; the exit code."""
    if not scorers or len(scorers) > 1:
        raise WrongInput("to score texts, name one scorer: --scorer aqua")
    with kept_if_stopped() as watch:
        scored = score_file(file, column, scorers[0], to, watch)
    return _print_scored(scored, as_json)


def score_imported(runs: Runs, scorers: Sequence[str], as_json: bool) -> int:
    """Score the texts of a study of texts, and print what came of it; the exit code."""
    if len(scorers) != 1:
        able = ", ".join(scorers_of_texts())
        raise WrongInput(
            f"{study_named(runs.study)} holds imported texts; name one scorer that reads single"
            f" texts, such as --scorer aqua (installed here: {able})"
        )
    with kept_if_stopped() as watch:
        scored = score_study_texts(runs, scorers[0], watch)
    return _print_scored(scored, as_json)


def _print_scored(scored: ScoredTexts, as_json: bool) -> int:
    """Print what came of scoring texts; the exit code."""
    scorers = [scored.scorer]
    summaries = {measure: scored.summary(measure) for measure in scored.measures}
    valid = [summary["valid"] for summary in summaries.values()]
    whole = min(valid) == len(scored.values) and not scored.faults
    code = exit_code(max(valid) > 0, whole)
    place = shown(scored.place)
    print_each((f"left out, damaged: {fault}" for fault in scored.faults), console(stderr=True))
    if as_json:
        people = {measure: vars(known) for measure, known in human_references(scorers).items()}
        found = summaries[scored.measures[0]] if len(summaries) == 1 else {"measures": summaries}
        echo_json({**found, "people": people, "file": place, "rows": scored.values})
        return code
    screen = console()
    for measure, summary in summaries.items():
        print_each(_summed_up(measure, summary), screen)
    print_each(on_people(scorers), screen)
    screen.print(f"written: {place}")
    return code


def _summed_up(measure: str, summary: Mapping[str, Any]) -> Iterator[str]:
    """The mean of a measure, and how many texts have none for which reason, in sentences."""
    mean, sd = number(summary["mean"]), number(summary["sd"])
    count = f"{summary['valid']} of {counted(summary['texts'], 'text')}"
    yield f"{measure}: mean {mean}, SD {sd}, {count}"
    for why, n in summary["missing"].items():
        yield f"undefined: {counted(n, 'text')}: {in_words(why)}"


@contextmanager
def kept_if_stopped() -> Generator[Callable[[str, int, int], None]]:
    """Prints progress on stderr; Ctrl-C ends with exit code 3 and says that nothing done is lost.

    The function it gives takes what is done, how many are done, and of how many.
    """
    screen = console(stderr=True)
    last = time.monotonic()

    def on_progress(what: str, done: int, among: int) -> None:
        nonlocal last
        if screen.is_terminal:
            screen.print(f"{what} {done} of {among}", end="\r" if done < among else "\n")
        elif time.monotonic() - last > PAUSE:
            last = time.monotonic()
            screen.print(f"{what} {done} of {among}")

    try:
        yield on_progress
    except KeyboardInterrupt:
        screen.print(
            "Stopped. What was worked on is kept; the same command goes on from there.",
            soft_wrap=True,
        )
        raise typer.Exit(3) from None
