"""The ratings of debates as scores, one a rater and rating."""

import math
from collections.abc import Iterator, Mapping, Sequence

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rated, Rating, debated
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.score import Score

NOT_ANSWERED = Reason("not_answered")


class Ratings:
    """Every rating of every debate, the rater being the coder; and per debate the share that saw
    the proposition win.

    `rating.DIMENSION` and `rating.winner` (1 won, 0 lost) are about a debater, `stance` before,
    after and in change and `rating.attentive` about the rater. A debate that broke off or that
    nobody rated is one row of NaN with the reason. Definitions and sources: docs/measures.md,
    "Debates".
    """

    name = "ratings"
    version = 1
    measures = CATALOGUE["ratings"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every debate among the runs; deliberations have none."""
        debates = [run for run in runs if run.session.kind.sides]
        return [score for run in debates for score in self._score(run)]

    def _score(self, run: Run) -> Iterator[Score]:
        target = run.session.id
        ratings = run.ratings if isinstance(run, Rated) else ()
        yield _proposition_wins(run, ratings)
        if debated(run):
            seats = {person.role: person.id for person in run.session.participants}
            for rating in ratings:
                yield from _rows(rating, target, seats)


def _proposition_wins(run: Run, ratings: Sequence[Rating]) -> Score:
    """The share of attentive raters who named the proposition the winner."""
    winners = []
    for rating in ratings:
        if rating.winner is not None and rating.attentive is not False:
            winners.append(rating.winner)
    value, note = math.nan, ""
    if not debated(run):
        note = "debate_incomplete"
    elif not ratings:
        note = "not_rated"
    elif not winners:
        note = "no_winner_named"
    else:
        value = winners.count("proposition") / len(winners)
    return Score("proposition_wins", "run", run.session.id, value, note=note)


def _rows(rating: Rating, target: str, seats: Mapping[str, str]) -> Iterator[Score]:
    """What one rater said about both debaters and about itself."""

    def row(measure: str, about: str, value: float | None, gap: str, phase: str = "") -> Score:
        where = f"{target}/{about}"
        if value is not None:
            return Score(measure, "participant", where, float(value), phase, rating.rater)
        note = rating.missing.get(gap, NOT_ANSWERED).code
        return Score(measure, "participant", where, math.nan, phase, rating.rater, note)

    for side in SIDES:
        given = rating.of(side)
        for dimension in DIMENSIONS:
            gap = f"{side}.{dimension}"
            yield row(f"rating.{dimension}", seats[side], given.get(dimension), gap)
        won = None if rating.winner is None else rating.winner == side
        yield row("rating.winner", seats[side], won, "winner")
    before, after, rater = rating.before, rating.after, rating.rater
    change = None if before is None or after is None else after - before
    yield row("stance", rater, before, "before", "pre")
    yield row("stance", rater, after, "after", "post")
    yield row("stance", rater, change, "before" if before is None else "after", "change")
    yield row("rating.attentive", rater, rating.attentive, "attentive")
