"""The forms of reply of a rater: a stance before the debate, a ballot after it, and a choice."""

import json
import re
from dataclasses import dataclass
from typing import Any

from delibsim.domain.annotation import DIMENSIONS, SCALE
from delibsim.domain.errors import phrase
from delibsim.prompts.labelled import QUOTES, in_one_line, labelled_values, whole_characters
from delibsim.prompts.prompt import UnreadableReply, schema_of

SPEAKERS = ("A", "B")
_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
MARKS = _SPACE + ">*+-•\"'`,|{"
"""What may stand between the beginning of a line and a label."""
LABELS = tuple(f"{speaker}{i}" for speaker in SPEAKERS for i in range(1, len(DIMENSIONS) + 1))
"""The labels of both speakers' ratings, in the order of the dimensions: A1 to A11, B1 to B11."""
NUMBERS = (*LABELS, "S1", "C1")
"""All labels of a ballot that hold a number."""


@dataclass(frozen=True)
class Stance:
    """One whole number from 0 (wholly against the motion) to 100 (wholly for it), under S1."""

    def describe(self) -> str:
        """The form in words."""
        return "Reply with one line, S1: NUMBER, a whole number from 0 to 100, and nothing else."

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        return schema_of({"S1": _whole()})

    def example(self, label: str, words: int = 0) -> str:
        """A stance; it says nothing of its own."""
        return "S1: 50"

    def read(self, text: str) -> int:
        """The stance; UnreadableReply for anything else.

        >>> Stance().read("S1: 60")
        60
        """
        return _numbers(text, ("S1",))["S1"]


@dataclass(frozen=True)
class Choice:
    """One of the names given, under a label: a line "LABEL: NAME" or a member of a JSON object."""

    label: str
    names: tuple[str, ...]

    def describe(self) -> str:
        """The form in words."""
        return f"{self.label}: {' or '.join(self.names)}, one of them and never both."

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        return schema_of({self.label: self.member})

    @property
    def member(self) -> dict[str, Any]:
        """The schema of the name alone."""
        return {"type": "string", "enum": list(self.names)}

    def example(self, label: str, words: int = 0) -> str:
        """The first name; it says nothing of its own."""
        return f"{self.label}: {self.names[0]}"

    def read(self, text: str) -> str:
        """The name chosen; UnreadableReply where there is none, another, or several.

        >>> Choice("WINNER", ("A", "B")).read("WINNER: B")
        'B'
        """
        return self.split(text)[0]

    def split(self, text: str) -> tuple[str, str]:
        """The name chosen, and the text without the places where it was."""
        given, rest = self._take_out(whole_characters(text).translate(QUOTES))
        chosen = {value.strip(" \t*\"'`|,;}.").removeprefix("Speaker ").strip() for value in given}
        if not chosen:
            raise UnreadableReply(f"{self.label} is missing")
        if len(chosen) == 1 and chosen <= set(self.names):
            return chosen.pop(), rest
        found = "several answers"
        if len(chosen) == 1:
            found = json.dumps(chosen.pop()[:40], ensure_ascii=False)
        raise UnreadableReply(f"{self.label} has {found}; it must be {' or '.join(self.names)}")

    def _take_out(self, text: str) -> tuple[list[str], str]:
        """What stands under the label in members of JSON objects and in lines, and the rest."""
        member = re.compile(rf'"{self.label}"\s*:\s*("[^"\n]*"|[^,}}\n]*)\s*,?', re.IGNORECASE)
        given = member.findall(text)
        in_lines, rest = self._in_lines(member.sub("", text))
        given += in_lines
        # A comma before the closing brace is left where the member stood last.
        return given, re.sub(r",\s*}", "}", rest)

    def _in_lines(self, text: str) -> tuple[list[str], str]:
        """What stands under the label at the beginning of lines, and the text without it and
        without the marks before it.
        """
        line = re.compile(rf"""{self.label}["'`*|]*\s*[:=|]\s*([^\n,}}]*)[,\s]*""", re.IGNORECASE)
        given: list[str] = []
        kept: list[str] = []
        end = looked = 0
        for label in re.finditer(self.label, text, re.IGNORECASE):
            # Marks are looked for backwards from the label. Forwards, from each line that holds
            # marks alone, they would be read to their end again and again.
            marks = len(text[looked : label.start()].rstrip(MARKS)) + looked
            looked = max(looked, label.end())
            begun = _first_line(text, marks, label.start())
            if begun is None or label.start() < end:
                continue
            match = line.match(text, label.start())
            if match is None:
                continue
            given.append(match[1])
            kept += [text[end:begun], "\n"]
            end = looked = match.end()
        return given, "".join((*kept, text[end:]))


def _first_line(text: str, begun: int, end: int) -> int | None:
    """Where, between two places of a text, its first line begins; None if none does."""
    if begun == 0 or text[begun - 1] == "\n":
        return begun
    found = text.find("\n", begun, end)
    return None if found < 0 else found + 1


@dataclass(frozen=True)
class Ballot:
    """What a rater says after a debate.

    It holds eleven ratings of each speaker, a winner, a stance, and the answer to the attention
    check.
    """

    def describe(self) -> str:
        """The form in words."""
        last = len(DIMENSIONS)
        winner = Choice("WINNER", SPEAKERS).describe().removesuffix(".")
        return phrase("ballot_form", last=last, winner=winner)

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        numbers = {label: _whole() for label in NUMBERS}
        return schema_of({**numbers, "WINNER": Choice("WINNER", SPEAKERS).member})

    def example(self, label: str, words: int = 0) -> str:
        """A ballot filled in alike for both speakers; it says nothing of its own."""
        lines = [f"{name}: 50" for name in NUMBERS]
        return "\n".join([*lines, f"WINNER: {SPEAKERS[0]}"])

    def read(self, text: str) -> dict[str, int | str]:
        """The values by label; UnreadableReply naming every label at fault.

        A fault is a tie, a number off the scale, or a gap.
        """
        faults, winner, values = [], "", {}
        try:
            winner, rest = Choice("WINNER", SPEAKERS).split(text)
        except UnreadableReply as fault:
            faults.append(str(fault))
            rest = _without_winner(text)
        try:
            values = _numbers(rest, NUMBERS)
        except UnreadableReply as fault:
            faults.append(str(fault))
        if faults:
            raise UnreadableReply("; ".join(faults))
        return {**values, "WINNER": winner}


def _without_winner(text: str) -> str:
    """The lines of a text that do not speak of the winner, and those of JSON objects."""
    lines = text.splitlines()
    return "\n".join(line for line in lines if "WINNER" not in line.upper() or "{" in line)


def _numbers(text: str, labels: tuple[str, ...]) -> dict[str, int]:
    """Whole numbers from 0 to 100 by label; UnreadableReply naming every label at fault."""
    values, unread = labelled_values(text, labels)
    faults = [fault for fault in unread if not fault.startswith("WINNER ")]
    for label, value in values.items():
        if value not in SCALE:
            faults.append(f"{label} has {value}, outside 0 to 100")
    if faults:
        raise UnreadableReply(in_one_line(faults))
    return dict(values)


def _whole() -> dict[str, Any]:
    return {"type": "integer", "minimum": SCALE[0], "maximum": SCALE[-1]}
