"""What a mark makes of a table: a way to draw it, and its content in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from delibsim.analysis.figures.words import fields_of, filled_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[int], "Figure"]


@dataclass(frozen=True)
class Plot:
    """`draw` makes the figure for one or two columns of a journal; `told` is its content in words,
    without the full stop; `panels` is the number of its panels.
    """

    draw: Draw
    told: str
    panels: int = 1


def plotted(draw: Draw, told: Sequence[str], panels: int = 1) -> Plot:
    """A plot whose panels or lines are told one after another."""
    return Plot(draw, ". ".join(told), panels)


def parts_of(table: pd.DataFrame, template: str) -> dict[str, pd.DataFrame]:
    """The rows of each panel by its heading, in the order in which panels first occur."""
    if not template:
        return {"": table}
    columns = fields_of(template)
    rows = table[columns].drop_duplicates()
    names = [filled_in(template, row) for row in rows.to_dict("records")]
    named = table[columns].merge(rows.assign(heading=names), on=columns, how="left")
    return {str(name): own for name, own in table.groupby(named["heading"].to_numpy(), sort=False)}
