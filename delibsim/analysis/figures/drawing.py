"""What a mark makes of a table: a way to draw it, and its content in words."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.style import FORMATS, PART, STYLE
from delibsim.analysis.figures.words import fields_of, filled_in
from delibsim.analysis.pages.page import Picture
from delibsim.domain.errors import unknown
from delibsim.domain.text import in_short, safe
from delibsim.store.files import make_folder

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


if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 300
COMPRESSED = 3
"""Of 9: a higher level takes twice the time for a twentieth of the bytes."""
FONTS = Path(__file__).parents[2] / "data" / "fonts"
OF_LAYOUT = f"'{PART}', 'DejaVu Sans', sans-serif"
FAMILIES = (
    "system-ui, 'Segoe UI', 'Noto Sans', 'Liberation Sans', Helvetica, Arial, 'DejaVu Sans',"
    " sans-serif"
)
"""The fonts of the texts of an SVG, those of pages (data/pages/page.css), instead of that for which
it is laid out, which is the widest of them.
"""
OPENING = re.compile(r"<svg [^>]*>")
UNDATED: Mapping[str, Mapping[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
}
"""What matplotlib would write into a file besides the figure, and would change with time."""

LAID_OUT: dict[Any, Any] = {"figure.constrained_layout.use": False, "figure.autolayout": False}
"""Under these a figure gets no layout engine at all; with any, each file would be drawn twice."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a study, and what a reader must know of it.

    `caption` says what is shown, how many observations there are, what the interval is and what is
    left out. `alt` is the alternative text: it states the numbers that a reader needs who does not
    see the figure. `draw` makes the figure for one or two columns of a journal; the files are made
    from it under the common style, equal to the byte each time.
    """

    name: str
    title: str
    caption: str
    alt: str
    draw: "Callable[[int], Figure]"
    columns: int = 2

    def __post_init__(self) -> None:
        """Keep names that others wrote from commanding a terminal or breaking a document."""
        for name in ("title", "caption", "alt"):
            object.__setattr__(self, name, " ".join(safe(getattr(self, name)).split()))

    __repr__ = in_short

    def _repr_html_(self) -> str:
        """A notebook shows the figure above its title and caption."""
        told = f"<figcaption>{_inert(self.title)}. {_inert(self.caption)}</figcaption>"
        return f"<figure>{self.svg()}{told}</figure>"

    def svg(self, columns: int | None = None) -> str:
        """The figure as an SVG document whose texts are texts; title and description within.

        It has no XML declaration, so that it can also stand within a page.
        """
        return self.files(("svg",), columns)["svg"].decode("utf-8")

    def files(self, kinds: Iterable[str] = FORMATS, columns: int | None = None) -> dict[str, bytes]:
        """The figure as files of these kinds, drawn and laid out once for all of them.

        An SVG has its texts as texts, a PDF its fonts within, a PNG 300 dots an inch.
        """
        import matplotlib as mpl

        own: dict[Any, Any] = {**STYLE, "svg.hashsalt": f"delibsim {self.name}"}
        found = {}
        _register()
        with mpl.rc_context(own), warnings.catch_warnings():
            # A name may be written in letters that the font has not: SVG keeps them as text, and
            # the others show a box.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure = self.draw(columns or self.columns)
            engine = figure.get_layout_engine()
            if engine is not None:  # `draw_without_rendering` would also draw
                engine.execute(figure)
            with mpl.rc_context(LAID_OUT):
                figure.set_layout_engine(None)
            for kind in kinds:
                found[kind] = _png(figure) if kind == "png" else _saved(figure, kind)
        if "svg" in found:
            document = self._named(found["svg"].decode("utf-8")).replace(OF_LAYOUT, FAMILIES)
            found["svg"] = safe(document).encode("utf-8")  # XML cannot hold control characters
        return found

    def picture(self, svg: str = "") -> Picture:
        """The figure for a page; one of two columns is also drawn for narrow screens.

        `svg` is its SVG document where it is made already.
        """
        narrow = self.svg(1) if self.columns > 1 else ""
        shown = svg or self.svg()
        return Picture(self.name, self.title, self.caption, self.alt, shown, narrow)

    def write(self, path: Path, columns: int | None = None) -> Path:
        """Write the figure in the form that the end of the path names: svg, pdf or png.

        Raises WrongInput for any other.
        """
        kind = path.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise unknown("kind of picture", kind or path.name, FORMATS)
        content = self.files((kind,), columns)[kind]
        make_folder(path.parent)
        unfinished = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
        unfinished.write_bytes(content)
        unfinished.replace(path)
        return path

    def _named(self, document: str) -> str:
        """An SVG document of matplotlib with the title and the description of the figure."""
        named = f"<title>{_inert(self.title)}</title>\n<desc>{_inert(self.alt)}</desc>"
        start = document.index("<svg ")
        opening = OPENING.search(document, start)
        assert opening is not None  # matplotlib writes one
        tag = opening.group(0)[:-1] + ' role="img">'
        return f"{tag}\n{named}{document[opening.end() :]}"


@cache
def _register() -> None:
    """Make the fonts of data/fonts known to matplotlib."""
    from matplotlib.font_manager import fontManager

    for file in sorted(FONTS.glob("*.ttf")):
        fontManager.addfont(file)


def _saved(figure: "Figure", kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=dict(UNDATED[kind]))
    return file.getvalue()


def _png(figure: "Figure") -> bytes:
    """The pixels of a figure, without the transparency that none of them has."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.dpi = DPI
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    file = io.BytesIO()
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    pixels.save(file, "png", dpi=(DPI, DPI), compress_level=COMPRESSED)
    return file.getvalue()


def _inert(text: str) -> str:
    return escape(text, quote=False)
