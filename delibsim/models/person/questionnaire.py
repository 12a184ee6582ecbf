"""What a participant is asked, as a page can show it: what is told, the fields, and the reply."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.models.person.page import told
from delibsim.prompts.blocks import read_block, read_items
from delibsim.prompts.forms.ranking import RankingForm
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.labelled import labelled_values
from delibsim.prompts.prompt import Prompt

Kind = Literal["scale", "rank", "words"]
Asking = Literal["survey", "vote", "speech", "words"]
Given = Mapping[str, Sequence[str]]
"""The fields of a form as a browser sends them."""
TEXT = "text"
"""The name of the field that holds a speech or a statement."""
LONGEST = 2_000
"""Words of a statement for which a form sets no limit."""


@dataclass(frozen=True)
class Block:
    """A part of what is told; `quoted` where it is what somebody has said."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Field:
    """One thing that is asked: a number from `low` to `high` on a scale, a rank, or words.

    `before` is what the person answered in the first survey, where the prompt shows it.
    """

    name: str
    kind: Kind
    text: str = ""
    low: int = 0
    high: int = 0
    before: str = ""


@dataclass(frozen=True)
class Questionnaire:
    """One request as a page shows it.

    `ends` names the two ends of the scale; `counts` says how often each number of a forced
    distribution is to be given. A speech has `least` to `most` words.
    """

    asking: Asking
    occasion: str
    blocks: tuple[Block, ...]
    fields: tuple[Field, ...]
    ends: tuple[str, str] = ("", "")
    counts: tuple[tuple[int, int], ...] = ()
    least: int = 0
    most: int = LONGEST

    def of(self, kind: Kind) -> tuple[Field, ...]:
        """The fields of a kind, in order."""
        return tuple(field for field in self.fields if field.kind == kind)


class Incomplete(ValueError):
    """A form with something missing or wrong: by field the key of what is said, with its values."""

    def __init__(self, faults: Mapping[str, tuple[str, Mapping[str, object]]]) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults


def questionnaire(prompt: Prompt) -> Questionnaire:
    """What a prompt asks of a person; TypeError for a form that participants are never asked in."""
    form, occasion, blocks = prompt.reply, prompt.purpose.occasion, tuple(blocks_of(prompt))
    text = "\n\n".join(message.content for message in prompt.messages)
    if isinstance(form, SurveyAnswers):
        return _survey(form, occasion, blocks, text)
    if isinstance(form, RankingForm):
        statements = list(read_items("statements", text).values())
        numbers = range(1, len(statements) + 1)
        agreed = [Field(f"A{n}", "scale", statements[n - 1], LOWEST, HIGHEST) for n in numbers]
        several = numbers if len(statements) > 1 else ()
        ranks = [Field(f"R{n}", "rank", statements[n - 1], 1, len(statements)) for n in several]
        ends = ("strongly disagree", "strongly agree")
        return Questionnaire("vote", occasion, blocks, (*agreed, *ranks), ends)
    field = (Field(TEXT, "words"),)
    if isinstance(form, Speech):
        rules = form.rules
        return Questionnaire("speech", occasion, blocks, field, least=rules.least, most=rules.most)
    if isinstance(form, Words):
        return Questionnaire("words", occasion, blocks, field, most=form.limit or LONGEST)
    raise TypeError(f"participants are not asked in the form {type(form).__name__}")


def _survey(
    form: SurveyAnswers, occasion: str, blocks: tuple[Block, ...], text: str
) -> Questionnaire:
    """A survey with its items in the order in which this person is shown them."""
    survey = form.shown
    first = read_block("answers", text) or ""
    before, _ = labelled_values(first, tuple(item.id for item in survey.items))
    fields = []
    rated = read_items("considerations", text) or {
        item.id: item.text for item in survey.considerations
    }
    for name, shown in rated.items():
        own = str(before.get(name, ""))
        fields.append(Field(name, "scale", shown, survey.scale_min, survey.scale_max, own))
    ranked = read_items("preferences", text)
    for name, shown in ranked.items():
        own = str(before.get(name, ""))
        fields.append(Field(name, "rank", shown, 1, len(ranked), own))
    ends = ("strongly disagree", "strongly agree")
    counts: tuple[tuple[int, int], ...] = ()
    if survey.forced_distribution is not None:
        counts = tuple(zip(survey.scale, survey.forced_distribution, strict=True))
    return Questionnaire(
        "survey", occasion, blocks, tuple(fields), ends[::-1] if form.reversed else ends, counts
    )


def blocks_of(prompt: Prompt) -> list[Block]:
    """What a prompt tells, as models are told it, without how a reply is written: paragraphs, and
    quoted words apart from them.
    """
    found = []
    for quoted, lines in groupby(told(prompt).split("\n"), lambda line: line.startswith(">")):
        if quoted:
            words = [line.removeprefix(">").removeprefix(" ") for line in lines]
            found.append(Block("\n".join(words), quoted=True))
        else:
            parts = "\n".join(lines).split("\n\n")
            found += [Block(part.strip()) for part in parts if part.strip()]
    return found


def reply_of(asked: Questionnaire, given: Given) -> str:
    """The reply that fields are, as a language model would write it; Incomplete where something is
    missing or wrong.
    """
    values = {field.name: (given.get(field.name) or [""])[-1].strip() for field in asked.fields}
    if asked.asking in ("speech", "words"):
        return _words(asked, values[TEXT])
    faults: dict[str, tuple[str, Mapping[str, object]]] = {}
    for field in asked.fields:
        value = values[field.name]
        number = value.isascii() and value.isdigit() and len(value) < 9
        if not value:
            faults[field.name] = ("form.missing", {})
        elif not number or not field.low <= int(value) <= field.high:
            faults[field.name] = ("form.whole", {"low": field.low, "high": field.high})
    faults |= _twice(asked, values, faults)
    if not faults and asked.counts:
        faults |= _uneven(asked, values)
    if faults:
        raise Incomplete(faults)
    lines = [f"{name}: {int(value)}" for name, value in values.items()]
    if asked.asking == "vote" and not asked.of("rank"):
        lines.append("R1: 1")
    return "\n".join(lines)


def _words(asked: Questionnaire, text: str) -> str:
    count = len(text.split())
    if not text:
        raise Incomplete({TEXT: ("form.empty", {})})
    if count > asked.most or count < asked.least:
        key = "form.too_long" if count > asked.most else "form.too_short"
        values = {"count": count, "least": asked.least, "most": asked.most}
        raise Incomplete({TEXT: (key, values)})
    return text


def _twice(
    asked: Questionnaire, values: Mapping[str, str], faults: Mapping[str, object]
) -> dict[str, tuple[str, Mapping[str, object]]]:
    """The options that have a rank which another has too."""
    ranks = {field.name: values[field.name] for field in asked.of("rank")}
    used = Counter(value for name, value in ranks.items() if name not in faults)
    found: dict[str, tuple[str, Mapping[str, object]]] = {}
    for name, value in ranks.items():
        if name not in faults and used[value] > 1:
            found[name] = ("form.rank_twice", {"rank": value})
    return found


def _uneven(
    asked: Questionnaire, values: Mapping[str, str]
) -> dict[str, tuple[str, Mapping[str, object]]]:
    """The numbers of a forced distribution that are given too often or too seldom."""
    used = Counter(int(values[field.name]) for field in asked.of("scale"))
    wrong = [f"{n}: {used[n]}/{count}" for n, count in asked.counts if used[n] != count]
    if not wrong:
        return {}
    first = asked.of("scale")[0].name
    return {first: ("form.distribution", {"counts": ", ".join(wrong)})}
