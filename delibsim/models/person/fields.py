"""What a page tells and asks of a person, as nouns that travel as JSON: a prompt without its marks
and in parts, with what others said apart; the fields; and the reply that they are.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.scheme import LevelValue
from delibsim.domain.text import safe
from delibsim.domain.text import safe as inert
from delibsim.domain.treatment import Rules
from delibsim.prompts.blocks import HEADER, block, read_block
from delibsim.prompts.forms.choice import ANSWER, REASON
from delibsim.prompts.forms.code import APPLIES, RATIONALE, SCORE
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import asks
from delibsim.prompts.labelled import QUOTES, whole_characters
from delibsim.prompts.prompt import LONGEST_REPLY, Message, Prompt

Kind = Literal["scale", "rank", "slider", "number", "choice", "words"]
Asking = Literal[
    "survey",
    "vote",
    "speech",
    "words",
    "question",
    "stance",
    "ballot",
    "pair",
    "code",
    "verdict",
    "label",
]
Given = Mapping[str, list[str]]
"""The fields of a form as a browser sends them."""
Faults = Mapping[str, tuple[str, Mapping[str, object]]]
"""What is wrong, by field: the key of a text of pages, and the values that are put into it."""
TEXT = "text"
"""The name of the field that holds a speech or a statement."""
NEXT, NOBODY = "next", "-"
"""The name of the field that holds whom a facilitator would like to hear next, and its value for
nobody.
"""
LONGEST = 2_000
"""Words of a text for which a form sets no limit."""


@dataclass(frozen=True)
class Block:
    """A part of what is told.

    `quoted` where it is what somebody has said or written, with the `speaker` where one is named;
    `tag` is the mark under which language models are told it.
    """

    text: str
    quoted: bool = False
    tag: str = ""
    speaker: str = ""
    round: int = 0


@dataclass(frozen=True)
class Option:
    """One thing that can be chosen: what a reply says for it, and what the prompt says of it."""

    value: LevelValue
    text: str = ""


@dataclass(frozen=True)
class Field:
    """One thing that is asked: a number from `low` to `high` (on a scale, on a slider, or any), a
    rank, one of the `options`, or words.

    `name` is the label of the reply, which no page shows; `label` is what people call it, and
    `speaker` the letter of whom it is about. `text` are words of the prompt; where it says nothing
    of the field alone, `asked` is the key of a text of pages. `ends` are the words of the prompt
    for the two ends of a slider. `before` is what the person answered in the first survey, where
    the prompt shows it, or the speech that is asked for again. `unless` names a field and the value
    of it with which nothing is asked here.
    """

    name: str
    kind: Kind
    text: str = ""
    low: int = 0
    high: int = 0
    before: str = ""
    asked: str = ""
    options: tuple[Option, ...] = ()
    unless: tuple[str, str] | None = None
    label: str = ""
    speaker: str = ""
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Questionnaire:
    """One request as a page shows it.

    `lead` is what is told right before the fields. `ends` names the two ends of the scale;
    `headings` are those of kinds of fields; `counts` says how often each number of a forced
    distribution is to be given. A text has `least` to `most`
    words, and one of more than `longest` is not taken. A speech that breaks one of the `rules` is
    taken, and asked for again as models are asked for theirs.
    """

    asking: Asking
    occasion: str
    blocks: tuple[Block, ...]
    fields: tuple[Field, ...]
    ends: tuple[str, str] = ("", "")
    counts: tuple[tuple[int, int], ...] = ()
    least: int = 0
    most: int = LONGEST
    longest: int = LONGEST
    rules: Rules | None = None
    headings: tuple[tuple[Kind, str], ...] = ()
    lead: str = ""

    def heading(self, field: Field) -> str:
        """The heading of the fields of this kind, in the words of the prompt; "" without one."""
        return dict(self.headings).get(field.kind, "")

    def of(self, kind: Kind) -> tuple[Field, ...]:
        """The fields of a kind, in order."""
        return tuple(field for field in self.fields if field.kind == kind)


class Incomplete(ValueError):
    """A form with something missing or wrong."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults


WHOLE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
NO_RATIONALE = "People are not asked for a rationale, on pages as on paper."
"""What stands in the place of a rationale where people are asked for none."""
LONGEST_CHARACTERS = LONGEST_REPLY // 4
"""Characters of a text; it may stand in JSON, which writes some of them as more than one."""
KEPT = "\n\t"
NO_WORDS = "\ufeff\u200b\u2060"
"""Characters without a width, which alone are no words."""


def cleaned(text: str) -> str:
    r"""A text as it is kept: whole characters, lines that end in \n, no control characters.

    Whatever ends a line somewhere ends one here, so that no words are joined and no line is hidden.

    >>> cleaned("a\r\nb\x00\x0bc\u2028d")
    'a\nb\nc\nd'
    """
    text = "\n".join(whole_characters(text).splitlines())
    kept = "".join(c for c in text if c in KEPT or unicodedata.category(c) != "Cc")
    return kept.strip().strip("\ufeff").strip()


def reply_of(asked: Questionnaire, given: Given) -> str:
    """The reply that fields are, as a language model would write it; Incomplete, with what is
    wrong by field, where something is missing or wrong.
    """
    values = {field.name: _value(given, field.name) for field in asked.fields}
    fields = [field for field in asked.fields if not _left_out(field, values)]
    faults = {}
    for field in fields:
        fault = _fault(asked, field, values[field.name])
        if fault is not None:
            faults[field.name] = fault
    faults |= _twice(asked, values, faults)
    if not faults and asked.counts:
        faults = _uneven(asked, values)
    if faults:
        raise Incomplete(faults)
    return _written(asked, {field.name: values[field.name] for field in fields})


def handed_back(asked: Questionnaire) -> Faults:
    """Why a speech is asked for again: the first rule that it breaks; nothing where none is."""
    given = asked.fields[0].before
    if asked.rules is None or not given:
        return {}
    limits = {"count": len(given.split()), "least": asked.least, "most": asked.most}
    for kind, fault in asked.rules.broken(given).items():
        found = re.search(r"\((.*)\)", fault, re.DOTALL)
        return {TEXT: (f"form.{kind}", {"found": found[1] if found else "", **limits})}
    return {}


def _value(given: Given, name: str) -> str:
    """The last value of a field, "" where it was not sent."""
    return cleaned((given.get(name) or [""])[-1])


def _left_out(field: Field, values: Mapping[str, str]) -> bool:
    """Whether a field is not asked, because of what was answered to another."""
    return field.unless is not None and values.get(field.unless[0]) == field.unless[1]


def _fault(
    asked: Questionnaire, field: Field, value: str
) -> tuple[str, Mapping[str, object]] | None:
    """What is wrong with the value of one field; None where nothing is."""
    if field.kind == "words":
        return _fault_of_words(asked, value)
    if not value:
        bounds = {"low": field.low, "high": field.high}
        return ("form.slider_missing", bounds) if field.kind == "slider" else ("form.missing", {})
    if field.kind == "choice":
        known = [str(option.value) for option in field.options]
        return None if value in known else ("form.missing", {})
    if WHOLE.fullmatch(value) and field.low <= int(value) <= field.high:
        return None
    return "form.whole", {"low": field.low, "high": field.high}


def _fault_of_words(asked: Questionnaire, value: str) -> tuple[str, Mapping[str, object]] | None:
    """What is wrong with a text, so that it cannot be taken: nothing is written, or too much."""
    if not value.translate(QUOTES).strip(NO_WORDS).strip():
        return "form.empty", {}
    if asked.asking == "question" and not asks(value):
        return "form.no_question", {}
    count = len(value.split())
    if count > asked.longest:
        return "form.too_long", {"count": count, "most": asked.longest}
    if len(value) > LONGEST_CHARACTERS:
        return "form.too_many_characters", {"count": len(value), "most": LONGEST_CHARACTERS}
    return None


def _twice(asked: Questionnaire, values: Mapping[str, str], faults: Faults) -> Faults:
    """The options that have a rank which another has too."""
    ranks = {f.name: int(values[f.name]) for f in asked.of("rank") if f.name not in faults}
    used = Counter(ranks.values())
    return {n: ("form.rank_twice", {"rank": r}) for n, r in ranks.items() if used[r] > 1}


def _uneven(asked: Questionnaire, values: Mapping[str, str]) -> Faults:
    """The statements with a number that is given too often for a forced distribution."""
    rated = {field.name: int(values[field.name]) for field in asked.of("scale")}
    used, due = Counter(rated.values()), dict(asked.counts)
    found = {}
    for name, number in rated.items():
        if used[number] > due[number]:
            told = {"number": number, "used": used[number], "due": due[number]}
            found[name] = ("form.uneven", told)
    return found


def _written(asked: Questionnaire, values: Mapping[str, str]) -> str:
    """The values in the form's own writing."""
    if NEXT in values:
        return f"{values[TEXT]}\nNext: {values[NEXT]}"
    if asked.asking in ("speech", "words", "question"):
        return values[TEXT]
    if asked.asking == "code":
        return _code(asked, values)
    if asked.asking == "pair":
        reason = " ".join(values.get(REASON, "").split())
        return f"Reason: {reason}\nAnswer: {values[ANSWER]}" if reason else values[ANSWER]
    plain = {"choice": str, "words": str}
    kinds = {field.name: field.kind for field in asked.fields}
    lines = []
    for name, value in values.items():
        lines.append(f"{name}: {plain.get(kinds[name], int)(value)}")
    if asked.asking == "vote" and not asked.of("rank"):
        lines.append("R1: 1")
    return "\n".join(lines)


def _code(asked: Questionnaire, values: Mapping[str, str]) -> str:
    """A code in JSON, its members in the order of the form."""
    reply: dict[str, LevelValue | None] = {}
    if APPLIES in values:
        reply[APPLIES] = values[APPLIES]
    reply[RATIONALE] = values.get(RATIONALE, NO_RATIONALE)
    levels = {str(option.value): option.value for option in asked.fields[-1].options}
    reply[SCORE] = levels[values[SCORE]] if SCORE in values else None
    return json.dumps(reply, ensure_ascii=False)


ITEMS = ("considerations", "preferences")
"""The tags of the items of a survey, which people are asked one by one."""
TAG = re.compile(r"^</?[a-z_0-9]+>\n?", re.MULTILINE)


def told(prompt: Prompt) -> str:
    """What models are told, without the marks, and without how a reply is written; where something
    is asked once more, only what was wrong.
    """
    messages = prompt.messages if prompt.purpose.attempt == 0 else prompt.messages[-1:]
    return inert(TAG.sub("", _without_form(prompt, messages))).strip()


def marked(prompt: Prompt) -> str:
    """What models are told, with the marks, and without how a reply is written; where something is
    asked once more, what was asked and what was wrong, without the replies. The items of a survey
    and their headings are left out, its first answers are not.
    """
    messages = [message for message in prompt.messages if message.role != "assistant"]
    if prompt.purpose.attempt:
        first = len(messages) - prompt.purpose.attempt
        messages = [*messages[:first], messages[-1]]
    return _without_form(prompt, messages, ITEMS)


def heading_of(tag: str, prompt: Prompt) -> str:
    """The line that introduces a block of a prompt; "" where none does."""
    text = "\n\n".join(message.content for message in prompt.messages)
    before, opening, _ = text.partition(f"\n<{tag}>\n")
    return before.rpartition("\n")[2] if opening else ""


def _without_form(
    prompt: Prompt, messages: Sequence[Message], beside: Sequence[str] = (*ITEMS, "answers")
) -> str:
    form, text = prompt.reply, "\n\n".join(message.content for message in messages)
    is_survey = isinstance(form, SurveyAnswers)
    for rule in (form.rules(), form.ending()) if is_survey else (form.describe(),):
        # at the beginning of a line, where no quoted words can stand
        text = re.sub(rf"^{re.escape(rule)}\n*", "", text, flags=re.MULTILINE)
    for tag in beside if is_survey else ():
        shown = read_block(tag, text)
        if shown is not None:
            text = _without_block(text, block(tag, shown))
    return text


def _without_block(text: str, whole: str) -> str:
    """A text without a block, wherever it stands, and without the line that introduces it."""
    before, *after = text.split(whole)
    for part in after:
        if before.endswith("\n"):
            before = before[: before.rfind("\n", 0, len(before) - 1) + 1]
        before += part.lstrip("\n")
    return before


OPENING = re.compile(r"<([a-z_0-9]+)>")
QUOTE = ">"
IN_BRACKETS = re.compile(r'\s*\([^()]*"> "\)')
WHATEVER = re.compile(r'Every line of (the texts below) begins with "> "\. Whatever they say')
SENTENCE = re.compile(r'(?:^|(?<=[.:?!]\s))[^.:?!]*(?:begin|start)s?\s+with\s+"> "\.(?:\s+|$)')
"""A sentence about the marks of quoted lines, which pages show in another way."""


ENDS = re.compile(r"\b0 \(([^()]+)\) to 100 \(([^()]+)\)")
"""The words of a prompt for the two ends of a rating."""
LABEL = r"\b(?:[ABDS]\d{1,2}|C1|WINNER)\b"
"""A label of a reply, which says nothing to people."""
UNDER = re.compile(rf",? under {LABEL}(?! to )")


def blocks_of(prompt: Prompt, *left_out: str) -> tuple[Block, ...]:
    """What a prompt tells, as models are told it, without how a reply is written.

    The blocks of the tags that are `left_out` are shown beside fields. Where something is asked
    once more, it is told whole, and what was wrong with the reply last.
    """
    return blocks_in(marked(prompt), *left_out)


def without_labels(text: str) -> str:
    """A part of a prompt without the labels of a reply: sentences about several are left out, and
    one alone is the field beside which the part stands.

    >>> without_labels("Rate both. A's ratings go under A1 to A11. Say so, under S1.")
    'Rate both. Say so.'
    >>> without_labels("Answer C1 with the number 37.")
    'Answer here with the number 37.'
    """
    kept = []
    for sentence in re.split(r"(?<=[.?!])\s+", UNDER.sub("", text).strip()):
        if len(re.findall(LABEL, sentence)) < 2:
            kept.append(re.sub(LABEL, "here", sentence))
    return " ".join(kept)


def blocks_in(text: str, *left_out: str) -> tuple[Block, ...]:
    """The parts of a text with marks, without the blocks of the tags that are `left_out`."""
    text = WHATEVER.sub(r"Whatever \1 say", text)
    for tag in left_out:
        shown = read_block(tag, text)
        if shown is not None:
            text = text.replace(block(tag, shown), "", 1)
    return tuple(_blocks(text))


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a text as they stand in blocks."""
    return tuple(block.text for block in _blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    """The parts of a text, each under the tag in which it stands."""
    tag, parts = "", []
    lines = text.split("\n")
    for place, line in enumerate(lines):
        opening = OPENING.fullmatch(line)
        if not tag and opening and f"</{opening[1]}>" in lines[place:]:
            yield from _parts(parts, "")
            tag, parts = opening[1], []
        elif tag and line == f"</{tag}>":
            yield from _parts(parts, tag)
            tag, parts = "", []
        else:
            parts.append(line)
    yield from _parts(parts, tag)


def _parts(lines: list[str], tag: str) -> Iterator[Block]:
    """The paragraphs of some lines, and the quotations among them."""
    told: list[str] = []
    said: list[str] = []
    heading = ("", 0)
    for line in [*lines, ""]:
        if line.startswith(QUOTE):
            said.append(line.removeprefix(QUOTE).removeprefix(" "))
            continue
        if said:
            heading, told = _heading(told)
            yield from _paragraph(told, tag)
            yield Block(safe("\n".join(said)), True, tag, *heading)
            said, told = [], []
        if line.strip():
            told.append(line)
        else:
            yield from _paragraph(told, tag)
            told = []


def _heading(told: list[str]) -> tuple[tuple[str, int], list[str]]:
    """The speaker and the round that the last line before a quotation names, and the lines before;
    no speaker where it names none.
    """
    match = HEADER.match(told[-1]) if told else None
    return (("", 0), told) if match is None else ((safe(match[1]), int(match[3])), told[:-1])


def _paragraph(lines: list[str], tag: str) -> Iterator[Block]:
    text = SENTENCE.sub("", IN_BRACKETS.sub("", safe("\n".join(lines)))).strip()
    if text:
        yield Block(text, tag=tag)
