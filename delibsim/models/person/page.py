"""What a person is shown: a prompt under a heading in plain words, lines that fit the terminal."""

import re
import unicodedata
from collections.abc import Sequence

from delibsim.domain.text import safe as inert
from delibsim.prompts.blocks import block, read_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Message, Prompt

LATER, DECLINE, DONE, BACK = "!later", "!decline", "!done", "!back"
"""What a person may say instead of an answer."""
HOW = f"{LATER} stops here, to go on another time; {DECLINE} declines to answer this"
BACK_IN_SURVEY = f"{BACK} returns to the question before"
BACK_IN_TEXT = f"{BACK} takes the last line back"
RULE = "=" * 72
ITEMS = ("considerations", "preferences")
"""The tags of the items of a survey, which people are asked one by one."""
TAG = re.compile(r"^</?[a-z_0-9]+>\n?", re.MULTILINE)
BEGINNING = re.compile(r"> |\s*(?:\S{1,8} {2}|\S{1,8}\. )?")
"""The quotation mark of a line of speech; or the indent of a line, with its number or label."""
WIDE = ("W", "F")
"""The East Asian widths of characters that take two columns."""


def heading(prompt: Prompt) -> str:
    """What models are shown, without the marks, and without what is asked one by one below."""
    is_survey = isinstance(prompt.reply, SurveyAnswers)
    who = f"{title(prompt)} ({prompt.purpose.participant})"
    how = f"({HOW}; {BACK_IN_SURVEY if is_survey else BACK_IN_TEXT}.)"
    return f"\n{RULE}\n{who}\n{RULE}\n\n{told(prompt)}\n\n{how}\n"


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


def title(prompt: Prompt) -> str:
    """What a person is asked for, in a few words."""
    occasion, form = prompt.purpose.occasion, prompt.reply
    if prompt.purpose.attempt:
        return "Once more, please"
    if occasion.startswith("turn "):
        return "Your turn to speak"
    if occasion.startswith("vote "):
        return "Your vote on statements for the group"
    if occasion in ("position", "critique"):
        return f"Your {occasion}"
    if occasion not in ("pre", "post"):
        return "A question to you"
    first = occasion == "pre"
    if isinstance(form, SurveyAnswers) and len(form.survey.items) == 1:
        return f"Your view of the motion, {'before' if first else 'after'} the debate"
    return "The survey, for the first time" if first else "The survey, for the second time"


def fitted(text: str, width: int) -> str:
    r"""A text in lines of at most so many columns, broken between words.

    A line goes on below its first word, quoted speech behind another quotation mark.

    >>> print(fitted("1/3  Reason one counts.\n> Said by another.", 12))
    1/3  Reason
         one
         counts.
    > Said by
    > another.
    """
    lines = []
    for line in text.replace(RULE, RULE[:width]).expandtabs(4).split("\n"):
        lines += [line] if columns(line) <= width else _parts(line, width)
    return "\n".join(lines)


def _parts(line: str, width: int) -> list[str]:
    """The lines that a line is broken into."""
    match = BEGINNING.match(line)
    first = match[0] if match and columns(match[0]) <= width // 2 else ""
    below = first if first == "> " else " " * columns(first)
    ending = " " if line.endswith(" ") else ""  # before the cursor
    room = width - columns(first) - len(ending)
    parts = [""]
    for word in line.removeprefix(first).split():
        for piece in _pieces(word, room):
            joined = f"{parts[-1]} {piece}".lstrip()
            if columns(joined) <= room:
                parts[-1] = joined
            else:
                parts.append(piece)
    parts = [f"{below if n else first}{part}" for n, part in enumerate(parts)]
    return [*parts[:-1], parts[-1] + ending]


def _pieces(word: str, room: int) -> list[str]:
    """A word, in pieces where it is wider than a line; text without blanks is such a word."""
    pieces = [""]
    for character in word:
        if pieces[-1] and columns(pieces[-1] + character) > room:
            pieces.append("")
        pieces[-1] += character
    return pieces


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    count = 0
    for character in text:
        if not unicodedata.combining(character):
            count += 2 if unicodedata.east_asian_width(character) in WIDE else 1
    return count
