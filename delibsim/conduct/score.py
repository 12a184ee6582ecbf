"""Scoring a study: every readable run before every scorer, the scores beside the runs."""

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.conduct.translate import translate_runs
from delibsim.domain.measure import Measure, in_order
from delibsim.domain.run import Run
from delibsim.domain.score import Score, run_by_run
from delibsim.plugins import declared, load
from delibsim.plugins import names as installed
from delibsim.store.lazy_runs import LazyRuns
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs, scores_file

Watch = Callable[[str, int, int], None]


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


@dataclass(frozen=True)
class Scoring:
    """What scoring a study wrote, and the faults of the runs that could not be read."""

    faults: list[str]
    files: list[Path]


def score_all(
    runs: Runs, names: Iterable[str], watch: Watch | None = None
) -> tuple[list[Score], list[str], list[Path]]:
    """Score every readable run of a study with the scorers named; the scores, the faults of
    unreadable runs, the files.

    All scores are in memory at the end; `score_study` hands them out as they come.
    """
    found: dict[str, list[Score]] = {name: [] for name in names}
    done = score_study(runs, found, lambda name, scores: found[name].extend(scores), watch=watch)
    return list(itertools.chain(*found.values())), done.faults, done.files


def score_study(
    runs: Runs,
    names: Iterable[str],
    take: Callable[[str, Sequence[Score]], None],
    on_run: Callable[[Run], None] = lambda run: None,
    watch: Watch | None = None,
    known: Collection[str] = (),
) -> Scoring:
    """Score every readable run of a study with the scorers named, and write what they give.

    The runs are read twice, whatever the number of scorers: once to find those that can be read,
    which scorers that compare runs note meanwhile, and once to score them run by run. Only a scorer
    that declares neither `by_run` nor `compare` gets all runs at once, and reads them for itself.

    `take` gets the name of a scorer and some of its scores, `on_run` every run. What a scorer has
    to say of how its scores came about (`details`) is written beside them. A scorer without any
    score has no file. `watch` is told of the progress of a scorer that takes its time: what is
    being done, how much is done, of how much. `known` are the sessions whose plan the caller has
    read, which is not read again.
    """
    made = {name: _made(name, watch) for name in names}
    with_ratings = Ratings.of(runs).rater()
    own = {name: run_by_run(scorer) for name, scorer in made.items()}
    one_by_one = {name: comparison for name, comparison in own.items() if comparison is not None}
    faults: list[str] = []
    held = []
    for run in map(with_ratings, runs.readable(faults, known)):
        held.append(run.session.id)
        for comparison in one_by_one.values():
            comparison.note(run)
    study = LazyRuns(lambda session: with_ratings(runs.run(session)), held)
    for name in one_by_one:
        translate_runs(made[name], study)
    files: dict[str, list[Path]] = {}
    counts = dict.fromkeys(made, 0)
    with ExitStack() as open_files:
        writers = {}
        for name in one_by_one:
            writing = runs.writing_scores(made[name].name, made[name].version)
            path, writers[name] = open_files.enter_context(writing)
            files[name] = [path]
        for run in map(with_ratings, map(runs.run, held)):
            on_run(run)
            for name, comparison in one_by_one.items():
                scores = list(comparison.score(run))
                writers[name](scores)
                take(name, scores)
                counts[name] += len(scores)
    for name, scorer in made.items():
        if name not in one_by_one:
            translate_runs(scorer, study)
            scores = scorer.score(study)
            files[name] = [runs.write_scores(scorer.name, scorer.version, scores)]
            take(name, scores)
            counts[name] += len(scores)
        if not counts[name]:
            runs.drop_scores(scorer.name, scorer.version)
            files[name] = []
            continue
        if details := getattr(scorer, "details", None):
            files[name].append(runs.write_details(scorer.name, scorer.version, details(study)))
    return Scoring(faults, [path for name in made for path in files[name]])


def _made(name: str, watch: Watch | None) -> Any:
    """A scorer, which reports to `watch` if it can."""
    scorer: Any = load("delibsim.scorers", name)  # a Scorer; some can do more
    if watch is not None and hasattr(scorer, "watch"):
        scorer.watch = watch
    return scorer


def without_scores(names: Iterable[str], files: Iterable[Path]) -> list[str]:
    """The scorers, of those named, that wrote none of these files: they have no score."""
    written = {file.name for file in files}
    found = []
    for name in names:
        scorer: Any = load("delibsim.scorers", name)
        if scores_file(scorer.name, scorer.version) not in written:
            found.append(name)
    return found
