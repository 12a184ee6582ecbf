"""The forms in which raters and coders reply, as fields of a page; participants have theirs in
`models/person/questionnaire.py`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from delibsim.domain.rating import DIMENSIONS, SCALE
from delibsim.models.person.questionnaire import Incomplete
from delibsim.prompts.forms.ballot import LABELS, SPEAKERS, Ballot, Stance
from delibsim.prompts.forms.choice import ChoiceForm
from delibsim.prompts.forms.code import ANSWERS, APPLIES, RATIONALE, SCORE, CodeForm
from delibsim.prompts.forms.verdict import NUMBERED, VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Form

Kind = Literal["number", "choice", "words", "ballot"]
Given = Mapping[str, Sequence[str]]
"""The fields of a form as a browser sends them."""
NO_RATIONALE = "People are not asked for a rationale, on pages as on paper."
"""What stands in the place of a rationale in the replies of people."""
ANSWER, REASON = "answer", "reason"
POINTS = dict(zip(LABELS[: len(DIMENSIONS)], DIMENSIONS, strict=True))


@dataclass(frozen=True)
class Field:
    """One thing that is asked: `asked` is the key of a text of pages, `label` a word of the prompt
    itself. `options` are the values of a choice; `low` and `high` bound a number.
    """

    name: str
    kind: Kind
    asked: str = ""
    label: str = ""
    options: tuple[str, ...] = ()
    low: int = SCALE[0]
    high: int = SCALE[-1]
    limit: int | None = None


def fields_of(form: Form) -> list[Field]:
    """The fields by which a reply in this form is given; TypeError for a form that raters are
    never asked in.
    """
    if isinstance(form, Stance):
        return [Field("S1", "number", "rate.stance")]
    if isinstance(form, Ballot):
        points = [Field(label, "ballot") for label in LABELS]
        winner = Field("WINNER", "choice", "rate.winner", options=SPEAKERS)
        stance = Field("S1", "number", "rate.stance")
        return [*points, winner, stance, Field("C1", "number", "rate.care")]
    if isinstance(form, ChoiceForm):
        reason = [Field(REASON, "words", "rate.reason", limit=500)] if form.reasons else []
        return [*reason, Field(ANSWER, "choice", "rate.choice", options=form.labels)]
    if isinstance(form, CodeForm):
        first = [Field(APPLIES, "choice", "rate.applies", options=ANSWERS)] if form.filtered else []
        levels = tuple(map(str, form.levels))
        return [*first, Field(SCORE, "choice", "rate.level", options=levels)]
    if isinstance(form, VerdictForm):
        scale = tuple(map(str, range(1, 6)))
        return [Field(label, "choice", label=label, options=scale) for label in NUMBERED]
    if isinstance(form, Words):
        return [Field(ANSWER, "words", "rate.yours", limit=form.limit)]
    raise TypeError(f"raters are not asked in the form {type(form).__name__}")


def reply_of(form: Form, given: Given) -> str:
    """The reply that fields are, as a language model would write it; Incomplete where something is
    missing or wrong.
    """
    fields = fields_of(form)
    if isinstance(form, CodeForm) and _one(given, APPLIES) == ANSWERS[1] and form.filtered:
        fields = fields[:1]  # the dimension does not apply, so there is no level
    values = {field.name: _one(given, field.name) for field in fields}
    faults = {}
    for field in fields:
        fault = _fault(field, values[field.name])
        if fault is not None:
            faults[field.name] = fault
    if faults:
        raise Incomplete(faults)
    if isinstance(form, CodeForm):
        return _code(form, values)
    if isinstance(form, Words):
        return values[ANSWER]
    if isinstance(form, ChoiceForm):
        reason = " ".join(values.get(REASON, "").split())
        return f"Reason: {reason}\nAnswer: {values[ANSWER]}" if form.reasons else values[ANSWER]
    return "\n".join([f"{name}: {value}" for name, value in values.items()])


def _one(given: Given, name: str) -> str:
    """The last value of a field, "" where it was not sent."""
    return (given.get(name) or [""])[-1].strip()


def _fault(field: Field, value: str) -> tuple[str, Mapping[str, Any]] | None:
    """What is wrong with a value; None where nothing is."""
    if field.kind == "words":
        count = len(value.split())
        if field.limit is not None and count > field.limit:
            return "rate.words", {"limit": field.limit, "count": count}
        return None if value else ("rate.empty", {})
    if field.kind == "choice":
        return None if value in field.options else ("rate.missing", {})
    number = value.isascii() and value.isdigit() and len(value) < 9
    if number and field.low <= int(value) <= field.high:
        return None
    return "rate.whole", {"low": field.low, "high": field.high}


def _code(form: CodeForm, values: Mapping[str, str]) -> str:
    """A code in JSON, as models write it."""
    reply: dict[str, Any] = {APPLIES: values[APPLIES]} if form.filtered else {}
    by_name = {str(level): level for level in form.levels}
    return json.dumps(reply | {RATIONALE: NO_RATIONALE, SCORE: by_name.get(values.get(SCORE, ""))})
