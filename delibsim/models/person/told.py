"""What a prompt tells a person: without its marks, and in parts, with what others said apart."""

import re
from collections.abc import Iterator, Sequence

from delibsim.domain.text import safe
from delibsim.domain.text import safe as inert
from delibsim.models.person.fields import Block
from delibsim.prompts.blocks import HEADER, block, read_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Message, Prompt

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
