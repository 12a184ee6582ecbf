"""The ratings of one debate for reading: a row a rater, and the mean of each dimension by side."""

from collections.abc import Sequence
from statistics import fmean

from delibsim.analysis.table import Table, number, numbers, texts
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, Rating

ABSENT = "-"


def table_of_raters(ratings: Sequence[Rating]) -> Table:
    """Each rater's winner, stance before and after, and whether it passed the attention check."""
    columns = [*texts("rater"), *numbers(["stance before", "stance after"])]
    columns += texts("winner", "attention check", "missing")
    rows = []
    for rating in ratings:
        stances = [_whole(rating.before), _whole(rating.after)]
        missing = ", ".join(f"{name}: {why}" for name, why in rating.missing.items())
        check = {True: "passed", False: "failed", None: ABSENT}[rating.attentive]
        rows.append([rating.rater, *stances, rating.winner or ABSENT, check, missing or ABSENT])
    return Table(columns, rows, "What each rater said")


def table_of_dimensions(ratings: Sequence[Rating]) -> Table:
    """The mean of each dimension by side over the ratings that have it, 0 to 100, and how many."""
    rows = []
    for dimension in DIMENSIONS:
        cells = [dimension]
        for side in SIDES:
            rated = [one.of(side) for one in ratings]
            given = [values[dimension] for values in rated if dimension in values]
            cells += [number(fmean(given)) if given else ABSENT, str(len(given))]
        rows.append(cells)
    columns = texts("dimension")
    for side in SIDES:
        columns += numbers(["mean", "n"], side)
    return Table(columns, rows, "Ratings by dimension (0 to 100)")


def _whole(value: int | None) -> str:
    return ABSENT if value is None else str(value)
