"""Pages for people from templates: every value is escaped, and what people write is inert."""

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from delibsim.domain.text import safe
from delibsim.web.people.language import FOLDER, Language

ASSETS = {
    "people.css": ("base.css", "forms.css", "office.css"),
    "forms.js": ("forms.js",),
    "live.js": ("live.js",),
    "office.js": ("office.js",),
}
"""The files that pages load, by name, and what each is made of."""


FIRST = 10
"""Words of the instructions that name them where they are folded."""


def render(template: str, language: Language, **values: Any) -> str:
    """A page of a template in a language; `t` gives its texts."""
    page = _environment().get_template(template)
    return page.render(t=language, language=language, **values)


@cache
def asset(name: str) -> bytes:
    """The content of a file that pages load; KeyError for any other name."""
    return b"\n".join((FOLDER / part).read_bytes() for part in ASSETS[name])


def first_words(text: str) -> str:
    """The first words of a text, on one line.

    >>> first_words("Treat everyone with respect. " * 5)
    'Treat everyone with respect. Treat everyone with respect. Treat everyone …'
    """
    words = text.split()
    cut = " …" if len(words) > FIRST else ""
    return " ".join(words[:FIRST]) + cut


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["inert"] = safe
    made.filters["minutes"] = "{:g}".format
    made.filters["first_words"] = first_words
    return made
