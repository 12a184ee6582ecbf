"""How the answers of one participant changed between the survey before and the one after."""

from dataclasses import asdict, dataclass
from math import isnan
from typing import Any


@dataclass(frozen=True)
class IndividualChange:
    """How one participant's answers changed from the survey before to the one after.

    `topic`, `model` (that of the participant) and `treatment` are names. `items_changed` counts
    the items with another answer afterwards, among the `items` that were answered both times, of
    the `items_asked`. `mean_change_c` and `mean_change_p` are the mean absolute changes of a
    rating (points of the scale) and of a rank; `tau` is Kendall's tau-b between own ranks before
    and after; `dri_before` and `dri_after` are the individual index. All five are NaN where they
    are undefined, and `note` holds the reason codes, those of the group ending in `_in_group`.
    `largest_change` is the largest change of an answer, with its sign, and `largest_item` the
    first item in the order of the survey that changed so much, with ratings before ranks; "" and
    0 where no answer changed, NaN where an answer is missing. A negative change of a rank is a
    rise: rank 1 is the best.
    """

    session: str
    topic: str
    model: str
    treatment: str
    participant: str
    items: int
    items_asked: int
    items_changed: int
    mean_change_c: float
    mean_change_p: float
    tau: float
    largest_item: str
    largest_change: float
    dri_before: float
    dri_after: float
    note: str

    def plain(self) -> dict[str, Any]:
        """As plain values, None where there is none."""
        row = asdict(self)
        for name, value in row.items():
            if isinstance(value, float) and isnan(value):
                row[name] = None
        return row
