"""One HTML file with its style inside, whose content security policy forbids all else."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.domain.text import safe

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parents[2] / "data" / "pages"
COMMAND = re.compile("`(delibsim [^`<>&]*)`")
"""A command in a sentence, without characters that markup escapes."""


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
    """A sentence as markup in which a command between backticks stands as code; the rest is
    escaped.
    """
    from markupsafe import Markup, escape

    return Markup(COMMAND.sub(r"<code>\1</code>", str(escape(safe(sentence)))))


def _inert(value: Any) -> Any:
    """Text without characters that change the direction of what surrounds it."""
    return safe(value) if type(value) is str else value
