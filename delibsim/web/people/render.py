"""Pages for people from templates: every value is escaped, and what people write is inert."""

from functools import cache, lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from delibsim.domain.text import safe
from delibsim.web.people.language import FOLDER, Language

ASSETS = {
    "people.css": ("base.css", "forms.css", "office.css"),
    "forms.js": ("forms.js",),
    "live.js": ("live.js",),
    "office.js": ("office.js",),
}
"""The files that pages load, by name, and what each is made of."""


POINT = Markup(
    '<label class="point"><input type="radio" name="{name}" value="{number}"{checked}>'
    "<span>{number}</span></label>"
)
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


@lru_cache(20_000)
def points(name: str, low: int, high: int, given: str) -> Markup:
    """The points of a scale, one of them checked where it was given. They are most of a survey's
    page, and the same on each: to make them anew takes half of the time of the page.
    """
    made = []
    for number in range(low, high + 1):
        checked = Markup(" checked") if given == str(number) else ""
        made.append(POINT.format(name=name, number=number, checked=checked))
    return Markup("").join(made)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["points"] = points
    made.filters["inert"] = safe
    made.filters["minutes"] = "{:g}".format
    made.filters["first_words"] = first_words
    return made
