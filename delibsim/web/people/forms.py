"""The form of one request on a page: fields with their draft and their faults."""

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from markupsafe import Markup

from delibsim.models.person.fields import Field, Incomplete, Questionnaire
from delibsim.models.person.reply import handed_back
from delibsim.store.people.requests import WaitingRequest
from delibsim.web.people.render import Language

KEY, CSRF, DECLINED = NO_ANSWERS = ("key", "csrf", "declined")
"""The fields of a form that are no answers."""
WIDEST = 11
"""Numbers of a scale that are shown as points; a wider one is a slider, or a number."""
SAID = ("saved", "unsaved", "restored", "elsewhere", "gone")
"""The texts that the script of a form says."""
Fields = Mapping[str, list[str]]


def shown(
    asked: Questionnaire,
    request: WaitingRequest,
    language: Language,
    given: Fields | None = None,
    faults: Incomplete | None = None,
) -> dict[str, Any]:
    """What the template of a form is given; `given` are the fields as they were sent, in the place
    of the draft. A speech that is asked for again begins as it was handed in, with what is wrong.
    """
    draft = given if given is not None else draft_of(request) or _before(asked)
    again = handed_back(asked) if faults is None else {}
    made = form_of(asked, request.key, language, draft, Incomplete(again) if again else faults)
    return made | {"amiss": "form.handed_back" if again else "form.amiss"}


def form_of(
    asked: Questionnaire,
    key: str,
    language: Language,
    draft: Fields,
    faults: Incomplete | None = None,
) -> dict[str, Any]:
    """What the templates `fields.html` and `form.html` are given as `form`."""
    said = {} if faults is None else said_of(faults, language)

    def value(field: Field) -> str:
        return (draft.get(field.name) or [""])[-1]

    groups = [(shape, list(fields)) for shape, fields in groupby(asked.fields, _shape(asked))]
    made = {"asked": asked, "key": key, "faults": said, "value": value, "groups": groups}
    ballot = [field for field in asked.fields if field.speaker]
    made["pairs"] = list(zip(ballot[: len(ballot) // 2], ballot[len(ballot) // 2 :], strict=True))
    made["names"] = names_of(asked, language)
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


def draft_of(request: WaitingRequest) -> dict[str, list[str]]:
    """The fields of a request as they were typed last."""
    return json.loads(request.draft) if request.draft else {}


def answers_in(fields: Fields) -> dict[str, list[str]]:
    """The answers among the fields of a form."""
    return {name: values for name, values in fields.items() if name not in NO_ANSWERS}


def _before(asked: Questionnaire) -> Fields:
    """The speech that is asked for again."""
    return {field.name: [field.before] for field in asked.fields if asked.asking == "speech"}


def title_of(asked: Questionnaire) -> str:
    """The key of the title of a request."""
    if asked.asking == "survey":
        return "form.survey_first" if asked.occasion == "pre" else "form.survey_last"
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
