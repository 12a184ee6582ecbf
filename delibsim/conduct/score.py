"""Scoring a study: every readable run before every scorer, the scores beside the runs."""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.conduct.scorers import annotator as annotator
from delibsim.conduct.scorers import measures_of as measures_of
from delibsim.conduct.scorers import usual_scorers as usual_scorers
from delibsim.conduct.translate import ReadsTranslations, translate_runs
from delibsim.domain.coding import CODES
from delibsim.domain.comparison import PAIRS
from delibsim.domain.run import Run
from delibsim.domain.score import ComparesRuns, Comparison, Score, run_by_run
from delibsim.plugins import load
from delibsim.store.runs import LazyRuns, Runs, scores_file

Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Scoring:
    """What scoring a study wrote, and the faults of the runs and codes that could not be read."""

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

    The runs are read once, whatever the number of scorers: those that score run by run do it
    then, and those that compare runs note what they need. Runs are read again for a comparison that
    needs them whole and for a scorer that reads translations; a scorer that declares neither
    `by_run` nor `compare` gets all runs at once, and reads them for itself.

    `take` gets the name of a scorer and some of its scores, `on_run` every run. What a scorer has
    to say of how its scores came about (`details`) is written beside them. A scorer without any
    score has no file. `watch` is told of the progress of a scorer that takes its time: what is
    being done, how much is done, of how much. `known` are the sessions whose plan the caller has
    read, which is not read again.
    """
    made = {name: _made(name, watch) for name in names}
    faults: list[str] = []
    annotated = annotator(runs, faults if CODES in made else None)
    if PAIRS in made:
        annotated = _with_comparisons(annotated, runs, faults)
    comparisons = {}
    for name, scorer in made.items():
        if (comparison := run_by_run(scorer)) is not None:
            comparisons[name] = comparison
    every = map(annotated, runs.readable(faults, known))

    def again(session: str) -> Run:
        return annotated(runs.run(session))

    files, counts, held = _score_one_by_one(runs, made, comparisons, take, (every, on_run), again)
    study = LazyRuns(again, held)
    for name, scorer in made.items():
        if name not in comparisons:
            translate_runs(scorer, study)
            scores = scorer.score(study)
            files[name] = [runs.write_scores(scorer.name, scorer.version, scores)]
            take(name, scores)
            counts[name] = len(scores)
        if not counts[name]:
            runs.drop_scores(scorer.name, scorer.version)
            files[name] = []
            continue
        if details := getattr(scorer, "details", None):
            files[name].append(runs.write_details(scorer.name, scorer.version, details(study)))
    return Scoring(faults, [path for name in made for path in files[name]])


def _score_one_by_one(
    runs: Runs,
    made: Mapping[str, Any],
    comparisons: Mapping[str, Comparison],
    take: Callable[[str, Sequence[Score]], None],
    read: tuple[Iterable[Run], Callable[[Run], None]],
    again: Callable[[str], Run],
) -> tuple[dict[str, list[Path]], Counter[str], list[str]]:
    """Write what scorers give that are shown one run after another: their files, how many scores
    each gives, and the sessions whose runs were read.

    `read` are the runs, and what is told of each; `again` reads the run of a session once more.
    """
    noted: dict[str, list[Any]] = {name: [] for name in comparisons if not _at_once(made[name])}
    held: list[str] = []
    counts: Counter[str] = Counter()
    files, writers = {}, {}
    with ExitStack() as open_files:
        for name in comparisons:
            writing = runs.writing_scores(made[name].name, made[name].version)
            path, writers[name] = open_files.enter_context(writing)
            files[name] = [path]

        def keep(name: str, given: Any) -> None:
            if scores := list(comparisons[name].score(given)):
                writers[name](scores)
                take(name, scores)
                counts[name] += len(scores)

        every, on_run = read
        for run in every:
            held.append(run.session.id)
            on_run(run)
            for name, comparison in comparisons.items():
                if name in noted:
                    noted[name].append(comparison.note(run))
                else:
                    keep(name, run)
        for name, of_runs in noted.items():
            translate_runs(made[name], LazyRuns(again, held))
            for session, found in zip(held, of_runs, strict=True):
                keep(name, again(session) if found is None else found)
    return files, counts, held


def _at_once(scorer: Any) -> bool:
    """Whether a scorer gives the scores of a run as soon as it sees it."""
    by_run = getattr(scorer, "by_run", False) and not isinstance(scorer, ComparesRuns)
    return by_run and not isinstance(scorer, ReadsTranslations)


def _with_comparisons(
    annotated: Callable[[Run], Run], runs: Runs, faults: list[str]
) -> Callable[[Run], Run]:
    """What adds the scores of comparisons to a run that has its ratings and codes."""
    from delibsim.conduct.compare_report import compared_runs  # numpy, which no help needs

    compared = compared_runs(runs, faults)
    return lambda run: compared(annotated(run))


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
