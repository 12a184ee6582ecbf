"""A page as one HTML file with its style inside, whose content security policy forbids all else."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.analysis.pages.cells import reading
from delibsim.analysis.pages.page import Page
from delibsim.domain.text import safe

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


if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parents[2] / "data" / "pages"
COMMAND = re.compile("`(delibsim [^`<>&]*)`")
"""A command in a sentence, without characters that markup escapes."""
INTERVAL = re.compile(r"\[([−\d.]+), ([−\d.]+)\]")
"""An interval in a sentence."""


def standalone(
    template: str,
    styles: Sequence[str],
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:
    """A template of `data/pages` filled with these values, every one escaped and inert.

    Its content security policy allows the one style sheet, made of these files, by its hash, and
    images inside the file; scripts, frames, forms and anything from elsewhere are forbidden.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
    )
    environment.filters.update({"commands": commands, **(filters or {})})
    style = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in styles)
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; img-src data:; base-uri 'none'"
    policy += "; form-action 'none'"
    ours = Markup(style)  # and no value of a study
    return environment.get_template(template).render(**values, style=ours, policy=policy) + "\n"


def commands(sentence: str) -> "Markup":
    """A sentence as markup in which a command between backticks stands as code and an interval on
    one line; the rest is escaped.
    """
    from markupsafe import Markup, escape

    told = INTERVAL.sub("[\\1,\u00a0\\2]", str(escape(safe(sentence))))
    return Markup(COMMAND.sub(r"<code>\1</code>", told))


def _inert(value: Any) -> Any:
    """Text without characters that change the direction of what surrounds it."""
    return safe(value) if type(value) is str else value
