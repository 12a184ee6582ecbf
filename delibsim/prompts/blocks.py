"""The marked blocks of a prompt: how each is laid out, and how it is read back; and the texts of a
wording: which are needed, which fields are filled in, and how one is said.

Speech travels as quoted data: every line of it begins with "> ", so nothing in a speech can open or
close a block, or pass for another speaker.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Template

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, phrase, refused
from delibsim.domain.run import Session
from delibsim.domain.survey import Item, Survey
from delibsim.domain.transcript import (
    BRIEFING,
    FACILITATOR,
    QUESTION,
    SMALL_GROUP,
    WITNESS,
    Statement,
    Turn,
)
from delibsim.domain.treatment import Wording

TEXTS = read_data("wording_texts.yaml")
"""The texts of a wording that coders, raters and judges read, by who reads them."""
USUAL: Mapping[str, str] = read_data("prompts.yaml")["session"]
"""Texts of sessions that a wording need not have."""


def worded(wording: Wording, name: str, **fields: str) -> str:
    """One text of a wording, filled in once; people read the same as language models."""
    return _filled(wording.texts[name], *fields.items())


def say(session: Session, name: str, **fields: object) -> str:
    """One text of the session's wording, filled in once.

    The values of fields are never read as templates themselves.
    """
    text = session.wording.texts.get(name) or USUAL[name]
    return _filled(text, *((field, str(value)) for field, value in fields.items()))


@functools.lru_cache(maxsize=1024)  # the same few sentences stand in every prompt
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()


def rehearse(session: Session) -> None:
    """Refuse a wording that lacks a text or has one that cannot be filled in; WrongInput."""
    wording, format = session.wording, session.kind
    demands = _demands(session)
    for name in demands:
        if name not in wording.texts:
            raise refused("wording_without_rule", named=name, id=wording.id)
    if session.procedure.words is not None and "words" not in wording.texts:
        raise refused("wording_without_words", id=wording.id, words=session.procedure.words)
    optional = [name for name in format.optional_texts if name in wording.texts]
    refuse_unfilled(wording, (*format.texts, *optional, *demands), format.fields)


def _demands(session: Session) -> tuple[str, ...]:
    """The demands of the rules on speeches; there are none without sides."""
    rules = session.procedure.rules
    return rules.demands() if session.kind.sides and rules is not None else ()


def refuse_unfilled(
    wording: Wording, texts: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a wording without these texts, or with other fields in one; WrongInput."""
    for name in texts:
        if name not in wording.texts:
            raise WrongInput(
                f"wording '{wording.id}' lacks the text '{name}'; it needs: {', '.join(texts)}"
            )
        known = fields.get(name, ())
        where = f"wording '{wording.id}', text '{name}'"
        try:
            Template(wording.texts[name]).substitute(dict.fromkeys(known, ""))
        except KeyError as error:
            listed = ", ".join(f"${field}" for field in known) or "none"
            raise WrongInput(
                f"{where}: ${error.args[0]} is not filled in there; fields are: {listed}"
            ) from None
        except ValueError as error:
            raise WrongInput(f"{where}: {error}; a dollar sign is written $$") from None


LABELS = rf"{FACILITATOR}|{WITNESS}|{BRIEFING}|{QUESTION}|{SMALL_GROUP}\d+"
"""What stands behind the name of a speaker, where it is no word to all in a round."""
HEADER = re.compile(rf"^(.+) \((?:({LABELS}), )?round (\d+), turn (\d+)\):$")
STARTED = re.compile(
    r"rated the considerations from (-?\d+) \(strongly disagree\) to (-?\d+) \(strongly agree\)"
    r" .*?:\n((?:\w+: -?\d+(?:\n|$))+)"
)
ITEM = re.compile(r"^([A-Za-z][A-Za-z0-9_]*)\. (.+)$")


def block(tag: str, content: str) -> str:
    """Content between tags on lines of their own."""
    return f"<{tag}>\n{content}\n</{tag}>"


def read_block(tag: str, text: str) -> str | None:
    """The content of the first block of that tag, or None if there is none."""
    text = f"\n{text}\n"  # so that every line begins after a line end, and has one
    opening = f"\n<{tag}>\n"
    at = text.find(opening)
    begun = at + len(opening)
    end = text.find(f"\n</{tag}>\n", begun) if at >= 0 else -1
    return text[begun:end] if end >= 0 else None


def items_block(tag: str, items: Iterable[Item]) -> str:
    """A block of labelled items, in the order given."""
    return block(tag, "\n".join(_line(item.id, item.text) for item in items))


@functools.lru_cache(maxsize=4096)  # the same few items stand in every prompt
def _line(label: str, text: str) -> str:
    return f"{label}. {' '.join(text.split())}"


def read_items(tag: str, text: str) -> dict[str, str]:
    """Item texts by label, in the order shown; empty if there is no such block."""
    return dict(_items_in(read_block(tag, text) or ""))


@functools.lru_cache(maxsize=512)  # a citizen reads the same list in every prompt
def _items_in(content: str) -> tuple[tuple[str, str], ...]:
    """Labels and texts of the items in a block."""
    matches = map(ITEM.match, content.splitlines())
    return tuple((match[1], match[2]) for match in matches if match)


def answers_block(answers: Mapping[str, int], order: Iterable[str]) -> str:
    """A block of a participant's own answers, in the order in which the items were shown."""
    lines = [f"{label}: {answers[label]}" for label in order if label in answers]
    return block("answers", "\n".join(lines))


def starting_answers(answers: Mapping[str, int], survey: Survey) -> str:
    """A persona that is a real participant's answers to the survey before the deliberation.

    It is worded so that a person understands it too.
    """
    lines = "\n".join(f"{item.id}: {answers[item.id]}" for item in survey.items)
    return phrase(
        "recalled_answers", scale_min=survey.scale_min, scale_max=survey.scale_max, lines=lines
    )


def read_starting_answers(persona: str) -> tuple[dict[str, int], tuple[int, int]] | None:
    """The answers in such a persona by label, and the ends of the scale; None for another."""
    match = STARTED.search(persona)
    if match is None:
        return None
    pairs = re.findall(r"(\w+): (-?\d+)", match[3])
    answers = {label: int(value) for label, value in pairs}
    return answers, (int(match[1]), int(match[2]))


def transcript_block(statements: Iterable[Statement]) -> str:
    """A block of statements, each quoted under its speaker."""
    quotations = [_quoted(*_heading(said.turn), said.text) for said in statements]
    return block("transcript", "\n\n".join(quotations))


def read_transcript(text: str) -> list[Statement]:
    """The statements of a transcript block, word for word; empty if there is none."""
    return list(_statements_in(read_block("transcript", text) or ""))


@functools.lru_cache(maxsize=128)  # a citizen looks several times, and all look at the end
def _statements_in(content: str) -> tuple[Statement, ...]:
    """The statements in a block."""
    statements: list[Statement] = []
    turn: Turn | None = None
    lines: list[str] = []
    for line in [*content.split("\n"), ""]:
        header = HEADER.match(line)
        if line.startswith(">"):
            lines.append(line.removeprefix(">").removeprefix(" "))
        elif turn is not None and not line:
            statements.append(Statement(turn, "\n".join(lines)))
            turn, lines = None, []
        elif header:
            turn = _turn(header[1], header[2] or "", int(header[3]), int(header[4]))
            lines = []
    return tuple(statements)


def quoted(text: str) -> str:
    """Speech as quoted data: "> " before every line."""
    return "\n".join(f"> {line}" for line in text.splitlines())


def unquoted(quotation: str) -> str:
    """What stands in a quotation of which every line begins with "> "."""
    lines = quotation.split("\n")
    return "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines)


def _heading(turn: Turn) -> tuple[str, str, int, int]:
    return turn.speaker, f"{turn.label}, " if turn.label else "", turn.round, turn.index


def _turn(speaker: str, label: str, round_: int, index: int) -> Turn:
    """The turn of a heading, as far as it tells it."""
    if label.startswith(SMALL_GROUP):
        return Turn(index, round_, speaker, group=int(label.removeprefix(SMALL_GROUP)))
    if label == QUESTION:
        return Turn(index, round_, speaker, QUESTION)
    return Turn(index, round_, speaker, role=label)


@functools.lru_cache(maxsize=1024)  # every later prompt of the session holds it
def _quoted(speaker: str, label: str, round_: int, index: int, text: str) -> str:
    return f"{speaker} ({label}round {round_}, turn {index}):\n{quoted(text)}"
