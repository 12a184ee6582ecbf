"""What a prompt tells a person, in parts: paragraphs, and what others have said apart from them."""

import re
from collections.abc import Iterator

from delibsim.domain.text import safe
from delibsim.models.person.fields import Block
from delibsim.models.person.page import marked
from delibsim.prompts.blocks import HEADER, block, read_block
from delibsim.prompts.prompt import Prompt

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
    return (("", 0), told) if match is None else ((safe(match[1]), int(match[2])), told[:-1])


def _paragraph(lines: list[str], tag: str) -> Iterator[Block]:
    text = SENTENCE.sub("", IN_BRACKETS.sub("", safe("\n".join(lines)))).strip()
    if text:
        yield Block(text, tag=tag)
