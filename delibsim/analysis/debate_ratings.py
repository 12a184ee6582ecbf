"""The ratings of one debate for reading: a row a rater, and means over those who were attentive."""

from collections.abc import Iterator, Mapping
from statistics import fmean

from delibsim.analysis.table import Table, numbers, texts
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rated, Rating
from delibsim.domain.run import Run
from delibsim.domain.text import counted

SHOWN = "performance"
"""The dimension that stands in a table: the overall judgment."""
RATERS = "attentive raters (n)"
"""What stands for the number of raters whose answers are averaged."""


def ratings_of(run: Run) -> tuple[Rating, ...]:
    """The ratings of a debate; none of another run."""
    return run.ratings if isinstance(run, Rated) else ()


def values_of_rating(rating: Rating) -> dict[str, int | str | None]:
    """Everything that a rater said by name ("before", "winner", "proposition.logic"), None where it
    is missing.
    """
    found: dict[str, int | str | None] = {"before": rating.before, "after": rating.after}
    found["winner"] = rating.winner
    for side in SIDES:
        for dimension in DIMENSIONS:
            found[f"{side}.{dimension}"] = rating.of(side).get(dimension)
    return found


def table_of_ratings(run: Run) -> Table:
    """A row a rater: stances, the winner it named, and its overall judgment of both sides."""
    names = ("before", "after", *(f"{side}.{SHOWN}" for side in SIDES))
    rows = []
    for rating in ratings_of(run):
        values = values_of_rating(rating)
        cells = ["?" if values[name] is None else str(values[name]) for name in names]
        rows.append([rating.rater, rating.winner or "?", *cells])
    heads = ["stance before", "after", *(f"{SHOWN} of the {side}" for side in SIDES)]
    return Table([*texts("rater", "winner"), *numbers(heads)], rows, "Ratings (0 to 100)")


def on_ratings(run: Run) -> Iterator[str]:
    """What must be known of the ratings of a debate, in sentences."""
    failed = [rating.rater for rating in ratings_of(run) if rating.attentive is False]
    if failed:
        yield f"attention check failed: {', '.join(failed)}"
    for rating in ratings_of(run):
        reasons: dict[str, list[str]] = {}
        for name, reason in rating.missing.items():
            reasons.setdefault(str(reason), []).append(name)
        for reason, names in reasons.items():
            yield f"missing: {rating.rater}, {counted(len(names), 'answer')}: {reason}"


def mean_ratings(run: Run) -> Mapping[str, float]:
    """Means over the attentive raters of a debate who said so much, by what was asked; empty where
    there are none.
    """
    given: dict[str, list[float]] = {}
    attentive = [rating for rating in ratings_of(run) if rating.attentive is not False]
    for rating in attentive:
        before, after = rating.before, rating.after
        if before is not None and after is not None:
            given.setdefault("change of stance", []).append(after - before)
        for side in SIDES:
            for dimension in DIMENSIONS:
                value = rating.of(side).get(dimension)
                if value is not None:
                    given.setdefault(f"{dimension} of the {side}", []).append(value)
    means = {name: fmean(values) for name, values in given.items()}
    return {RATERS: len(attentive), **means} if attentive else {}
