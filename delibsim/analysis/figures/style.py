"""How all figures look: sizes, fonts, colours and marks, in one place.

Colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), two of Tol beside them
(https://personal.sron.nl/~pault/), and every colour has a mark of its own, so that colour is never
the only sign. The ground is white: a figure is the same file in a paper, on a light page and as a
light panel on a dark one.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import unknown
from delibsim.domain.text import safe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
"""The forms in which a figure can be written, by the end of the name of the file."""
NONE = "none"
"""The word for no files of figures."""
COLUMNS = (1, 2)
"""Columns of a journal that a figure may take: 89 or 183 millimetres."""
WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of a figure that takes one or two columns of a journal."""
INK, GREY, LIGHT = "#1a1a1a", "#6b6b6b", "#dddddd"
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
BROWN, WINE, OLIVE = "#7A4B1E", "#882255", "#999933"
PART = "DejaVu Sans Part"
"""The family of data/fonts: the letters of most figures. For each PDF file matplotlib would read
the six thousand glyphs of the whole font; letters that the part has not are taken from there.
"""
LONGEST = 26
"""Characters of a name on one line of a figure; longer ones take two lines, and are cut then."""
ROW = 0.19
"""Inches of a row of a figure whose rows are names."""

STYLE: Mapping[str, Any] = read_data("figure_style.yaml")
"""What is set for matplotlib while a figure is drawn. Names are never read as mathematics."""


@dataclass(frozen=True)
class Mark:
    """How one condition is shown wherever it appears: colour, mark, filled or not, line, and how
    large the mark is drawn beside a circle, so that both look alike.
    """

    colour: str
    marker: str
    filled: bool = True
    line: Any = "-"
    size: float = 1.0

    def of_points(self, **options: Any) -> dict[str, Any]:
        """Options of matplotlib for a point, with further ones."""
        if "markersize" in options:
            options["markersize"] *= self.size
        return {
            "color": self.colour,
            "marker": self.marker,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgecolor": self.colour if not self.filled else INK,
            "markeredgewidth": 0.5 if self.filled else 1.1,
            **options,
        }


ESTIMATE = Mark(INK, "o")
"""Scores, differences and other estimates, which are of no treatment."""
OPEN = Mark(INK, "o", filled=False)
"""The same where something is not shown of them."""
PEOPLE = Mark(BROWN, "*", size=1.6)
NULL = Mark(PURPLE, "X", size=1.3)
OF_TREATMENT = {
    "none": Mark(GREY, "o", filled=False, line=(0, (1, 1.2))),
    "basic": Mark(ORANGE, "s", line=(0, (4, 1.5))),
    "normative": Mark(BLUE, "D"),
}
OF_OTHERS = {
    "all models": ESTIMATE,
    "null citizen": NULL,
    "people": PEOPLE,
    "people in groups of five": PEOPLE,
}
"""Marks of those who had no treatment."""
OTHERS = (
    Mark(GREEN, "^", line=(0, (5, 1, 1, 1))),
    Mark(VERMILION, "v", line=(0, (3, 1))),
    Mark(SKY, "h", line=(0, (2, 2))),
    Mark(WINE, "<", filled=False, line=(0, (1, 2))),
    Mark(OLIVE, ">", filled=False, line=(0, (5, 1, 1, 1, 1, 1))),
)
SERIES = (ESTIMATE, *OTHERS[:3])
"""Marks of lines that are of no treatment; of more lines than these each has a panel."""


def kinds_of_files(words: str | None) -> list[str] | None:
    """The kinds of files of figures that are named, parted by commas; None where none are named.
    WrongInput for another.

    >>> kinds_of_files("svg, pdf"), kinds_of_files("none")
    (['svg', 'pdf'], [])
    """
    if words is None:
        return None
    names = [] if words == NONE else [name.strip() for name in words.split(",")]
    for name in names:
        if name not in FORMATS:
            raise unknown("kind of figures", name, [*FORMATS, NONE])
    return names


def in_order(treatments: Sequence[str]) -> list[str]:
    """Treatments as figures show them: none, basic, normative, then all others by name."""
    named = set(map(str, treatments))
    known = [name for name in OF_TREATMENT if name in named]
    return known + sorted(named - set(known))


def marks(treatments: Sequence[str]) -> dict[str, Mark]:
    """A mark for every treatment, in their order; after five others they come again."""
    others = [name for name in in_order(treatments) if name not in OF_TREATMENT]
    further = {name: OTHERS[i % len(OTHERS)] for i, name in enumerate(others)}
    return {name: (OF_TREATMENT | further)[name] for name in in_order(treatments)}


def looks(names: Sequence[str]) -> dict[str, Mark]:
    """A mark for everybody who is named: treatments, people, the null citizen, all models."""
    treatments = [name for name in names if name not in OF_OTHERS]
    return {**marks(treatments), **OF_OTHERS}


def shortened(name: object, longest: int = LONGEST, lines: int = 2) -> str:
    r"""A name as a figure shows it: safe, on at most so many lines, cut with an ellipsis.

    >>> shortened("a" * 60, 10)
    'aaaaaaaaaa\naaaaaaaaa…'
    """
    clean = " ".join(safe(str(name)[:1000]).split())
    parts = textwrap.wrap(clean, longest, break_on_hyphens=True) or [""]
    if len(parts) > lines:
        parts = parts[:lines]
        parts[-1] = parts[-1][: longest - 1] + "…"
    return "\n".join(parts)


def number(value: float, decimals: int = 3, signed: bool = False) -> str:
    """A number as texts of figures print it, without a leading zero; "none" where it is NaN.

    >>> number(-0.0294), number(0.5, 2, signed=True), number(float("nan"))
    ('−.029', '+.50', 'none')
    """
    if value != value:
        return "none"
    text = f"{abs(value):,.{decimals}f}"
    is_zero = not text.strip("0.,")
    text = text.removeprefix("0") if text.startswith("0.") else text
    sign = "−" if value < 0 else "+" * signed
    return text if is_zero else f"{sign}{text}"


def beside(count: int, columns: int, most: int = 3) -> int:
    """How many of so many panels stand side by side.

    >>> beside(3, 1), beside(3, 2), beside(4, 2), beside(5, 2)
    (1, 3, 4, 3)
    """
    if columns == 1:
        return 1
    most = 4 if count == 4 and most > 2 else most
    return min(count, most)


def panels(
    count: int,
    columns: int,
    height: float,
    sharex: bool = False,
    sharey: bool = False,
    most: int = 3,
) -> "tuple[Figure, list[Axes]]":
    """A figure of so many panels, each of this height in inches.

    They stand below each other where it takes one column, and side by side, at most `most` or
    four of four, where it takes two.
    """
    from matplotlib.figure import Figure

    across = beside(count, columns, most)
    down = -(-count // across)
    size = (WIDTHS[columns], height * down)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharex=sharex, sharey=sharey)
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    for place in range(count - across, count):
        axes[place].tick_params(labelbottom=True)  # also above a place that stays empty
    return figure, axes[:count]


def name_axes(figure: "Figure", axes: "Sequence[Axes]", across: str, up: str = "") -> None:
    """Names of the axes: of one panel beside it, of several once for all."""
    if len(axes) == 1:
        axes[0].set_xlabel(across)
        axes[0].set_ylabel(up)
        return
    figure.supxlabel(across, fontsize=7.5)
    if up:
        figure.supylabel(up, fontsize=7.5)


def name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """An axis of names from top to bottom."""
    axes.set_yticks(range(len(names)), [shortened(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", left=False)
    axes.spines["left"].set_visible(False)


def segments(axes: "Axes", across: Any, up: Any, colour: str, width: float) -> None:
    """Straight lines as one path, from the first to the second of `across` and of `up`; each is a
    pair of numbers or arrays.
    """
    import numpy as np  # whoever asks for formats alone needs no numbers

    ends = np.broadcast_arrays(*across, *up)
    gap = np.full(ends[0].shape, np.nan)
    x, y = (np.stack([one, other, gap], -1).ravel() for one, other in (ends[:2], ends[2:]))
    axes.plot(x, y, color=colour, linewidth=width, solid_capstyle="butt")


def few_ticks(axes: "Axes", across: bool = True, most: int = 5) -> None:
    """Few ticks at round numbers, printed as figures print numbers; `across` is the x axis."""
    from matplotlib.ticker import FuncFormatter

    axis = axes.xaxis if across else axes.yaxis
    axis.set_major_locator(_locator()(most, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(_tick))


@cache
def _locator() -> Any:
    """A class of locators that place no tick outside the axis, as each takes long to make."""
    from matplotlib.ticker import MaxNLocator

    class Within(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            import numpy as np

            places: Any = np.asarray(super().tick_values(vmin, vmax))
            room = 1e-9 * abs(vmax - vmin)
            low, high = min(vmin, vmax) - room, max(vmin, vmax) + room
            return places[(places >= low) & (places <= high)]

    return Within


def _tick(value: float, place: int | None = None) -> str:
    text = f"{round(value, 10):g}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text
