"""The scorers of a study, what they measure and read, and the scores of one run alone."""

from collections.abc import Callable, Iterable, Iterator

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, MEASURES, ComparesRuns, Measure, Score, in_order
from delibsim.plugins import declared, load
from delibsim.plugins import names as installed
from delibsim.store.answers import measures_of_study, rater, schemes_of
from delibsim.store.runs import Runs

OF_ALL_RUNS = ("diversity_standardised", "flags.across_runs")
"""Measures of scorers that compare runs which one run alone does not have."""


def usual_scorers() -> list[str]:
    """The installed scorers that need not be asked for: all but those that are `on_request`."""
    return [
        name
        for name in installed("delibsim.scorers")
        if not getattr(load("delibsim.scorers", name), "on_request", False)
    ]


def scorers_when_analysed(measures: Iterable[str]) -> list[str]:
    """The scorers on request that an analysis asks for itself (`when_analysed`): those that declare
    one of these measures, named by id or by the last part of it.
    """
    wanted, found = set(measures), []
    for name in installed("delibsim.scorers") if wanted else ():
        ids = {measure.id for measure in declared(name)[1]}
        known = ids | {id.rpartition(".")[2] for id in ids}
        if known & wanted and getattr(load("delibsim.scorers", name), "when_analysed", False):
            found.append(name)
    return found


def scorers_of_summary() -> list[str]:
    """Those of the usual scorers that give measures of the summary of a run.

    Built-in ones that give none are not imported: AQuA alone takes as long as reading a run.
    """
    found = []
    for name in installed("delibsim.scorers"):
        ours = CATALOGUE.get(name)
        if ours is not None and not any(measure.in_summary for measure in ours):
            continue
        on_request = getattr(load("delibsim.scorers", name), "on_request", False)
        if not on_request and any(measure.in_summary for measure in declared(name)[1]):
            found.append(name)
    return found


def measures_of(names: Iterable[str], runs: Runs | None = None) -> dict[str, Measure]:
    """The measures that the scorers named declare, by id, in the order of tables.

    Of a study (`runs`) also those of the schemes by which its texts were coded, and of the
    comparisons about them.
    """
    found: dict[str, Measure] = {}
    for name in names:
        of_study = () if runs is None else measures_of_study(name, runs)
        for measure in (*declared(name)[1], *of_study):
            found.setdefault(measure.id, measure)
    return in_order(found)


def annotator(runs: Runs, faults: list[str] | None = None) -> Callable[[Run], Run]:
    """What makes of a run of a study one with its ratings and codes, as far as it has any.

    Damaged codes are left out and told in `faults`.
    """
    rated = rater(runs)
    if not schemes_of(runs):
        return rated
    from delibsim.store.coded import coder  # numpy, which no help needs

    coded = coder(runs, faults)
    return rated if coded is None else lambda run: coded(rated(run))


def scores_of(run: Run, names: Iterable[str] | None = None) -> Iterator[Score]:
    """The scores that scorers, the usual ones by default, give a run for which they need no other
    run.
    """
    for name in usual_scorers() if names is None else names:
        scorer = load("delibsim.scorers", name)
        if getattr(scorer, "by_run", False):
            yield from scorer.score([run])
        elif isinstance(scorer, ComparesRuns):
            for score in scorer.score([run]):
                if score.measure in MEASURES and score.measure not in OF_ALL_RUNS:
                    yield score
