"""Fonts for PDF files: parts of DejaVu Sans, from which matplotlib takes glyphs quickly.

For every PDF file matplotlib reads a font of six thousand glyphs, twice where it has ligatures, to
keep some sixty of them: that was more than a third of the time of a report.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE, PART = "DejaVu Sans", "Part of DejaVu Sans"
WEIGHTS = ("normal", "bold")
BLOCKS = (
    range(0x20, 0x180),  # Latin
    range(0x370, 0x400),  # Greek
    range(0x2010, 0x2040),  # dashes, quotation marks, the ellipsis
    range(0x2190, 0x2194),  # arrows
    range(0x2200, 0x2270),  # minus and other operators
)
"""What the part has; each glyph is that of the whole font, under its name."""
FAMILY_NAMES = (1, 16)
"""The numbers of the names of the family in a font file (OpenType, table `name`)."""


def for_pdf(figure: "Figure") -> Mapping[str, Any]:
    """Settings of matplotlib under which a drawn figure is written as PDF with equal glyphs.

    They name the part where it has every letter of the figure, and are empty where it has not.
    """
    from matplotlib.text import Text

    texts = [str(text.get_text()) for text in figure.findobj(Text)]
    letters = set(map(ord, "".join(texts))) - {ord("\n")}
    own = {place for block in BLOCKS for place in block}
    if not letters <= own:
        return {}
    _register()
    return {"font.sans-serif": [PART]}


@cache
def _register() -> "TemporaryDirectory[str]":
    """Make the part of each weight known to matplotlib; the folder that has it until the end."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    folder = TemporaryDirectory(prefix="delibsim_fonts_")
    for weight in WEIGHTS:
        whole = findfont(FontProperties(family=WHOLE, weight=weight), fallback_to_default=False)
        file = Path(folder.name) / f"{weight}.ttf"
        _write_part(whole, file)
        fontManager.addfont(file)
    return folder


def _write_part(whole: str, file: Path) -> None:
    """Write the part of a font, dated as the whole is: equal to the byte each time."""
    from fontTools import subset

    options = subset.Options(
        glyph_names=True,
        name_IDs=["*"],
        notdef_outline=True,
        recommended_glyphs=True,
        recalc_timestamp=False,
    )
    options.drop_tables += ["FFTM"]  # of the editor of fonts
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[place for block in BLOCKS for place in block])
    with subset.load_font(whole, options) as font:
        subsetter.subset(font)
        for record in font["name"].names:
            if record.nameID in FAMILY_NAMES:
                record.string = PART
        font.save(file, reorderTables=False)
