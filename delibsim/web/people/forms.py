"""The form of one request on a page of a participant: fields with their draft and their faults."""

import json
from collections.abc import Mapping
from typing import Any

from delibsim.models.person.questionnaire import Field, Incomplete, Questionnaire
from delibsim.store.people.requests import WaitingRequest
from delibsim.web.people.language import Language

KEY, CSRF, DECLINED = NO_ANSWERS = ("key", "csrf", "declined")
"""The fields of a form that are no answers."""
Fields = Mapping[str, list[str]]


def shown(
    asked: Questionnaire,
    request: WaitingRequest,
    language: Language,
    given: Fields | None = None,
    faults: Incomplete | None = None,
) -> dict[str, Any]:
    """What the template of a form is given; `given` are the fields as they were sent, in the place
    of the draft.
    """
    draft = given if given is not None else draft_of(request)
    said: dict[str, str] = {}
    if faults is not None:
        said = {name: language(key, **values) for name, (key, values) in faults.faults.items()}

    def value(field: Field) -> str:
        return (draft.get(field.name) or [""])[-1]

    return {"asked": asked, "key": request.key, "faults": said, "value": value}


def draft_of(request: WaitingRequest) -> dict[str, list[str]]:
    """The fields of a request as they were typed last."""
    return json.loads(request.draft) if request.draft else {}


def answers_in(fields: Fields) -> dict[str, list[str]]:
    """The answers among the fields of a form."""
    return {name: values for name, values in fields.items() if name not in NO_ANSWERS}


def title_of(asked: Questionnaire) -> str:
    """The key of the title of a request."""
    if asked.asking == "survey":
        return "form.survey_first" if asked.occasion == "pre" else "form.survey_last"
    titles = {"vote": "form.vote", "speech": "form.speech"}
    if asked.asking in titles:
        return titles[asked.asking]
    known = {"position": "form.position", "critique": "form.critique"}
    return known.get(asked.occasion, "form.speak")
