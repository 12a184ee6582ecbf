"""A page as one HTML file: nothing is fetched, nothing is run, every text of others is inert."""

import base64
import re

from delibsim.analysis.pages.cells import reading
from delibsim.analysis.pages.page import Page
from delibsim.analysis.pages.standalone import standalone

WIDTH = re.compile(r'<svg [^>]*?width="([0-9.]+)(?:pt|px)?"')
NARROW = 350.0
"""The width of a figure, in points, up to which it stands in half of the page."""


def html(page: Page) -> str:
    """The page as an HTML document with its style and figures inside.

    Its content security policy allows the one style sheet, by its hash, and images inside the
    file; scripts, frames, forms and anything from elsewhere are forbidden.
    """
    filters = {"reading": reading, "data_uri": data_uri, "is_wide": is_wide}
    return standalone("page.html", ("page.css",), filters, page=page)


def is_wide(svg: str) -> bool:
    """Whether a figure is drawn for the width of a page, by the width that its document states."""
    stated = WIDTH.search(svg[:2000])
    return stated is not None and float(stated[1]) > NARROW


def data_uri(svg: str) -> str:
    """An SVG document as the address of an image, in which it can run and fetch nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
