"""Scoring a study: every readable run before every scorer, the scores beside the runs."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from delibsim.conduct.translate import translate_runs
from delibsim.domain.measure import Measure, in_order
from delibsim.domain.score import Score
from delibsim.plugins import declared, load
from delibsim.plugins import names as installed
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs, scores_file


def usual_scorers() -> list[str]:
    """The installed scorers that need not be asked for: all but those that are `on_request`."""
    return [
        name
        for name in installed("delibsim.scorers")
        if not getattr(load("delibsim.scorers", name), "on_request", False)
    ]


def measures_of(names: Iterable[str]) -> dict[str, Measure]:
    """The measures that the scorers named declare, by id, in the order of tables."""
    found: dict[str, Measure] = {}
    for name in names:
        for measure in declared(name)[1]:
            found.setdefault(measure.id, measure)
    return in_order(found)


def score_all(
    runs: Runs, names: Iterable[str], watch: Callable[[str, int, int], None] | None = None
) -> tuple[list[Score], list[str], list[Path]]:
    """Score every readable run of a study with the scorers named; the scores, the faults of
    unreadable runs, the files.

    What a scorer has to say of how its scores came about (`details`) is written beside them. A
    scorer without any score has no file.
    `watch` is told of the progress of a scorer that takes its time: what is being done, how much is
    done, of how much.
    """
    held, faults = runs.all()
    held = Ratings.of(runs).rated(held)
    scores: list[Score] = []
    files = []
    for name in names:
        scorer: Any = load("delibsim.scorers", name)  # a Scorer; some can do more
        if watch is not None and hasattr(scorer, "watch"):
            scorer.watch = watch
        translate_runs(scorer, held)
        found = scorer.score(held)
        if not found:
            runs.drop_scores(scorer.name, scorer.version)
            continue
        files.append(runs.write_scores(scorer.name, scorer.version, found))
        if details := getattr(scorer, "details", None):
            files.append(runs.write_details(scorer.name, scorer.version, details(held)))
        scores += found
    return scores, faults, files


def without_scores(names: Iterable[str], files: Iterable[Path]) -> list[str]:
    """The scorers, of those named, that wrote none of these files: they have no score."""
    written = {file.name for file in files}
    found = []
    for name in names:
        scorer: Any = load("delibsim.scorers", name)
        if scores_file(scorer.name, scorer.version) not in written:
            found.append(name)
    return found
