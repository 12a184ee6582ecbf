"""The part of the font for PDF files: the same glyphs at the same places, TrueType, and quick."""

import io
import re
import zlib

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.fonts import PART, for_pdf
from delibsim.analysis.study.figures.style import STYLE

STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
USUAL = "Effects of AV: −.05 “Größe” Δ ≥ 2…"


def drawn(title):
    """A figure with a regular and a bold text; its ticks have a minus sign."""
    figure = Figure(figsize=(3, 2), layout="constrained")
    axes = figure.subplots()
    axes.plot([-1, 0, 2])
    axes.set_title(title, fontweight="bold")
    axes.set_xlabel(title)
    return figure


def pdf(title):
    """The figure as delibsim writes it."""
    return Drawing("one", "Title", "Caption", "Text", lambda _: drawn(title)).files(("pdf",))["pdf"]


def pdf_of_matplotlib(title):
    """The same figure as matplotlib writes it from the whole font."""
    file = io.BytesIO()
    with mpl.rc_context({**STYLE}):
        figure = drawn(title)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.savefig(file, format="pdf", dpi=300, metadata={"CreationDate": None})
    return file.getvalue()


def instructions(content):
    """What a PDF file draws: lines, and glyphs at their places."""
    found = []
    for stream in STREAM.findall(content):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        if b" Tf" in text:
            found.append(text)
    return found


def test_a_pdf_draws_what_it_draws_from_the_whole_font():
    part, whole = pdf(USUAL), pdf_of_matplotlib(USUAL)
    assert instructions(part)
    assert instructions(part) == instructions(whole)


def test_its_fonts_are_truetype_under_their_own_names():
    content = pdf(USUAL)
    fonts = set(re.findall(rb"/BaseFont /[A-Z]{6}\+(\S+)", content))
    assert fonts == {b"DejaVuSans", b"DejaVuSans-Bold"}
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


@pytest.mark.parametrize("title", ["שלום", "話題"])
def test_other_letters_are_those_of_the_whole_font(title):
    assert for_pdf(drawn(USUAL)) == {"font.sans-serif": [PART]}
    assert for_pdf(drawn(title)) == {}
    with pytest.warns() if title == "話題" else mpl.rc_context():
        whole = pdf_of_matplotlib(title)
    assert instructions(pdf(title)) == instructions(whole)
