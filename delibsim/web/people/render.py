"""Pages for people from templates: every value is escaped, and what people write is inert."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from delibsim.domain.errors import unknown
from delibsim.domain.text import safe
from delibsim.store.reading import read_yaml

COUNTED = ("minutes", "hours", "count")
"""The values of texts that are counted."""
FOLDER = TEXTS = Path(__file__).parents[2] / "data" / "people"
"""Where the templates and files of pages lie, and the texts of each language."""


@dataclass(frozen=True)
class Language:
    """One language: its code, the direction of its writing, its texts by key ("form.hand_in"), and
    those that are other words where what is counted is one.
    """

    code: str
    direction: str
    texts: Mapping[str, str]
    of_one: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key, with its values put in; KeyError for a key that no file has."""
        texts = self.of_one if key in self.of_one and self._is_one(values) else self.texts
        return texts[key].format(**values)

    def _is_one(self, values: Mapping[str, Any]) -> bool:
        number = next((float(values[name]) for name in COUNTED if name in values), None)
        return number is not None and (number == 1 or (self.code == "fr" and number < 2))


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that pages can be in."""
    return tuple(sorted(path.stem for path in TEXTS.glob("*.yaml")))


@cache
def language(code: str) -> Language:
    """A language by its code; WrongInput, with those there are, for another."""
    if code not in languages():
        raise unknown("language", code, languages())
    read = read_yaml(TEXTS / f"{code}.yaml")
    texts = {}
    for section, entries in read["texts"].items():
        texts |= {f"{section}.{key}": str(text) for key, text in entries.items()}
    return Language(code, read["direction"], texts, read["of_one"])


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


STRONG = re.compile(r"\*\*(.+?)\*\*")
EMPHASIS = re.compile(r"\*(.+?)\*")
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^\s)]+|mailto:[^\s)]+)\)")
HEADING = re.compile(r"(#{1,3}) +(.*)")
ITEM = re.compile(r"[-*] +(.*)")


def html_of(text: str) -> Markup:
    r"""A text as HTML. Everything is escaped first, so nothing but these forms has an effect.

    >>> html_of("# Welcome\n\nYou *may* stop <b>any</b> time.")
    Markup('<h2>Welcome</h2>\n<p>You <em>may</em> stop &lt;b&gt;any&lt;/b&gt; time.</p>')
    """
    parts = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    return Markup("\n".join(map(_block, parts)))


def _block(part: str) -> str:
    """One part between empty lines."""
    found = []
    for is_item, lines in groupby(part.split("\n"), lambda line: bool(ITEM.match(line.strip()))):
        if is_item:
            items = [_line(ITEM.sub(r"\1", line.strip())) for line in lines]
            found.append("<ul>" + "".join([f"<li>{item}</li>" for item in items]) + "</ul>")
            continue
        words: list[str] = []
        for line in lines:
            heading = HEADING.fullmatch(line.strip())
            if heading:
                found += [f"<p>{' '.join(words)}</p>"] if words else []
                words = []
                level = len(heading[1]) + 1
                found.append(f"<h{level}>{_line(heading[2])}</h{level}>")
            else:
                words.append(_line(line.strip()))
        found += [f"<p>{' '.join(words)}</p>"] if words else []
    return "\n".join(found)


def _line(text: str) -> str:
    """One line, escaped, with emphasis and links."""
    plain = str(escape(text))
    linked = LINK.sub(r'<a href="\2" rel="noreferrer">\1</a>', plain)
    return EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", linked))
