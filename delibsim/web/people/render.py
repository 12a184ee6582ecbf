"""Pages for people from templates: every value is escaped, and what people write is inert."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from delibsim.domain.errors import unknown
from delibsim.domain.survey import PHASES
from delibsim.domain.text import safe
from delibsim.models.person.fields import Field, Incomplete, Questionnaire, handed_back
from delibsim.store.people import hosting_files
from delibsim.store.people.hosting_files import languages
from delibsim.store.reading import read_yaml

COUNTED = ("minutes", "hours", "count")
"""The values of texts that are counted."""
FOLDER = hosting_files.TEXTS
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
def language(code: str) -> Language:
    """A language by its code; WrongInput, with those there are, for another."""
    if code not in languages():
        raise unknown("language", code, languages())
    read = read_yaml(hosting_files.TEXTS / f"{code}.yaml")
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


KEY, CSRF, DECLINED, TO = NO_ANSWERS = ("key", "csrf", "declined", "to")
"""The fields of a form that are no answers."""
WIDEST = 11
"""Numbers of a scale that are shown as points; a wider one is a slider, or a number."""
SAID = ("saved", "unsaved", "restored", "elsewhere", "gone")
"""The texts that the script of a form says."""
Fields = Mapping[str, list[str]]


def form_of(
    asked: Questionnaire,
    key: str,
    language: Language,
    draft: Fields,
    faults: Incomplete | None = None,
) -> dict[str, Any]:
    """What the templates `fields.html` and `form.html` are given as `form`. A speech that is asked
    for again begins as it was handed in, with what is wrong.
    """
    draft = draft or _before(asked)
    again = handed_back(asked) if faults is None else {}
    faults = Incomplete(again) if again else faults
    said = {} if faults is None else said_of(faults, language)

    def value(field: Field) -> str:
        return (draft.get(field.name) or [""])[-1]

    groups = [(shape, list(fields)) for shape, fields in groupby(asked.fields, _shape(asked))]
    made = {"asked": asked, "key": key, "faults": said, "value": value, "groups": groups}
    ballot = [field for field in asked.fields if field.speaker]
    made["pairs"] = list(zip(ballot[: len(ballot) // 2], ballot[len(ballot) // 2 :], strict=True))
    made["names"] = names_of(asked, language)
    made["amiss"] = "form.handed_back" if again else "form.amiss"
    return made | {"texts": texts_of(language)}


def names_of(asked: Questionnaire, language: Language) -> dict[str, str]:
    """What people call each field, as it is headed on the page; in a language."""
    found = {}
    for place, field in enumerate(asked.fields, 1):
        key = f"form.name_{field.name}"
        name = language(key) if key in language.texts else language("form.name_of", number=place)
        if field.speaker:
            speaker = language("form.speaker", letter=field.speaker)
            name = f"{field.label[:1].upper()}{field.label[1:]}, {speaker}"
        found[field.name] = name
    return found


def said_of(faults: Incomplete, language: Language) -> dict[str, str]:
    """What is wrong by field, in a language."""
    return {name: language(key, **values) for name, (key, values) in faults.faults.items()}


def texts_of(language: Language) -> Markup:
    """The texts that the script of a form says, as attributes of the form."""
    texts = [Markup(' data-{}="{}"').format(name, language(f"form.{name}")) for name in SAID]
    return Markup("").join(texts)


def draft_of(kept: str) -> dict[str, list[str]]:
    """The fields of a request as they were typed last."""
    return json.loads(kept) if kept else {}


def answers_in(fields: Fields) -> dict[str, list[str]]:
    """The answers among the fields of a form."""
    return {name: values for name, values in fields.items() if name not in NO_ANSWERS}


def _before(asked: Questionnaire) -> Fields:
    """The speech that is asked for again."""
    return {field.name: [field.before] for field in asked.fields if asked.asking == "speech"}


def title_of(asked: Questionnaire) -> str:
    """The key of the title of a request."""
    if asked.asking == "survey":
        return {PHASES[0]: "form.survey_first", PHASES[1]: "form.survey_last"}.get(
            asked.occasion, "form.survey_again"
        )
    titles = {"vote": "form.vote", "speech": "form.speech"}
    if asked.asking in titles:
        return titles[asked.asking]
    known = {"position": "form.position", "critique": "form.critique"}
    return known.get(asked.occasion, "form.speak")


def _shape(asked: Questionnaire) -> Any:
    """How a field is shown: as its kind is, but for the points of a ballot, which stand in pairs,
    and for scales that are too wide for points.
    """

    def shape(field: Field) -> str:
        if field.speaker:
            return "ballot"
        if field.kind == "scale" and field.high - field.low >= WIDEST:
            return "number" if asked.counts else "slider"
        return field.kind

    return shape
