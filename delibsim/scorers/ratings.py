"""The ratings of debates as scores: one row a rater and rating, whether a language model or a
person gave it.
"""

from collections.abc import Sequence

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rated, Rating, debated
from delibsim.domain.run import Run
from delibsim.domain.score import Score


class Ratings:
    """Every rating of every debate (DEFINITIONS 9), the rater being the coder; and per debate the
    share that saw the proposition win.

    `rating.DIMENSION` and `rating.winner` (1 won, 0 lost) are about a debater, `stance` before,
    after and in change and `rating.attentive` about the rater. A debate that broke off or that
    nobody rated is one row of NaN with the reason.
    """

    name = "ratings"
    version = 1
    measures = CATALOGUE["ratings"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every debate among the runs; deliberations have none."""
        debates = [run for run in runs if run.session.kind.sides]
        return [score for run in debates for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target = run.session.id
        ratings = run.ratings if isinstance(run, Rated) else ()
        if not debated(run) or not ratings:
            return [
                Score(
                    "proposition_wins",
                    "run",
                    target,
                    float("nan"),
                    note="not_rated" if debated(run) else "debate_incomplete",
                )
            ]
        winners = [
            rating.winner
            for rating in ratings
            if rating.winner is not None and rating.attentive is not False
        ]
        share = (
            sum(winner == "proposition" for winner in winners) / len(winners)
            if winners
            else float("nan")
        )
        rows = [
            Score(
                "proposition_wins", "run", target, share, note="" if winners else "no_winner_named"
            )
        ]
        seats = {participant.role: participant.id for participant in run.session.participants}
        return rows + [row for rating in ratings for row in _rows(rating, target, seats)]


def _rows(rating: Rating, target: str, seats: dict[str, str]) -> list[Score]:
    def row(measure: str, name: str, value: float | None, gap: str, phase: str = "") -> Score:
        note = (
            "" if value is not None else rating.missing.get(gap, "not_answered").partition(":")[0]
        )
        return Score(
            measure,
            "participant",
            name,
            float("nan") if value is None else float(value),
            phase,
            rating.rater,
            note,
        )

    rows = []
    for side in SIDES:
        name = f"{target}/{seats[side]}"
        rows += [
            row(f"rating.{d}", name, rating.of(side).get(d), f"{side}.{d}") for d in DIMENSIONS
        ]
        won = None if rating.winner is None else float(rating.winner == side)
        rows.append(row("rating.winner", name, won, "winner"))
    change = None if rating.before is None or rating.after is None else rating.after - rating.before
    own = f"{target}/{rating.rater}"
    rows.append(row("stance", own, rating.before, "before", "pre"))
    rows.append(row("stance", own, rating.after, "after", "post"))
    rows.append(
        row("stance", own, change, "before" if rating.before is None else "after", "change")
    )
    attentive = None if rating.attentive is None else float(rating.attentive)
    return [*rows, row("rating.attentive", own, attentive, "attentive")]
