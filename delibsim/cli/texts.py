"""`delibsim score texts FILE`, and what is printed while any scorer takes its time."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from delibsim.cli.terminal import console, echo_json, exit_code, number, print_each, shown
from delibsim.conduct.texts import human_references, on_people, score_file
from delibsim.domain.errors import WrongInput

PAUSE = 10.0  # seconds between two lines of progress


def score_texts(
    word: str,
    file: Path,
    column: str,
    to: Path | None,
    scorers: Sequence[str] | None,
    as_json: bool,
) -> int:
    """Score the texts in a column of a CSV file, and print what came of it; the exit code."""
    if word != "texts":
        raise WrongInput(
            "one study is scored at a time; to score the texts of a file: delibsim score texts"
            f" {file} --scorer aqua"
        )
    if not scorers or len(scorers) > 1:
        raise WrongInput("to score texts, name one scorer: --scorer aqua")
    with kept_if_stopped() as watch:
        scored = score_file(file, column, scorers[0], to, watch)
    summary, place = scored.summary(), shown(scored.place)
    code = exit_code(summary["valid"] > 0, summary["valid"] == summary["texts"])
    if as_json:
        people = {measure: vars(known) for measure, known in human_references(scorers).items()}
        echo_json({**summary, "people": people, "file": place, "rows": scored.values})
        return code
    screen = console()
    mean, sd = number(summary["mean"]), number(summary["sd"])
    count = f"{summary['valid']} of {summary['texts']} texts"
    screen.print(f"{scored.scorer}.score: mean {mean}, SD {sd}, {count}")
    for line in on_people(scorers):
        screen.print(line)
    missing = summary["missing"].items()
    print_each((f"undefined: {n} text(s): {reason}" for reason, n in missing), screen)
    screen.print(f"written: {place}")
    return code


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
