"""The forms of reply of a rater: a stance before the debate, and the ballot after it; a choice is
one of the names given.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from delibsim.domain.rating import DIMENSIONS, SCALE
from delibsim.prompts.labelled import QUOTES, labelled_values, whole_characters
from delibsim.prompts.prompt import UnreadableReply

SPEAKERS = ("A", "B")
LABELS = tuple(f"{speaker}{i}" for speaker in SPEAKERS for i in range(1, len(DIMENSIONS) + 1))
"""The labels of both speakers' ratings, in the order of the dimensions: A1 to A11, B1 to B11."""


@dataclass(frozen=True)
class Stance:
    """One whole number from 0 (wholly against the motion) to 100 (wholly for it), under S1."""

    def describe(self) -> str:
        """The form in words."""
        return "Reply with one line, S1: NUMBER, a whole number from 0 to 100, and nothing else."

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        return _schema({"S1": _whole()})

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

    def example(self, label: str, words: int = 0) -> str:
        """The first name; it says nothing of its own."""
        return f"{self.label}: {self.names[0]}"

    def read(self, text: str) -> str:
        """The name chosen; UnreadableReply where there is none, several, or one that was not to be
        chosen.

        >>> Choice("WINNER", ("A", "B")).read("WINNER: B")
        'B'
        """
        return self.split(text)[0]

    def split(self, text: str) -> tuple[str, str]:
        """The name chosen, and the text without the places where it was."""
        text = whole_characters(text).translate(QUOTES)
        line = re.compile(
            rf"""^[\s>*+\-•"'`,|{{]*{self.label}["'`*|]*\s*[:=|]\s*([^\n,}}]*)[,\s]*""",
            re.IGNORECASE | re.MULTILINE,
        )
        member = re.compile(rf'"{self.label}"\s*:\s*("[^"\n]*"|[^,}}\n]*)\s*,?', re.IGNORECASE)
        given, rest = [], text
        for pattern, mark in ((member, ""), (line, "\n")):
            given += pattern.findall(rest)
            rest = pattern.sub(mark, rest)
        # A comma before the closing brace is left where the member stood last.
        rest = re.sub(r",\s*}", "}", rest)
        chosen = {value.strip(" \t*\"'`|,;}.").removeprefix("Speaker ").strip() for value in given}
        if not chosen:
            raise UnreadableReply(f"{self.label} is missing")
        told = json.dumps(sorted(chosen)[0][:40], ensure_ascii=False)
        if len(chosen) > 1 or not chosen <= set(self.names):
            found = told if len(chosen) == 1 else "several answers"
            raise UnreadableReply(f"{self.label} has {found}; it must be {' or '.join(self.names)}")
        return chosen.pop(), rest


@dataclass(frozen=True)
class Ballot:
    """What a rater says after a debate: eleven ratings of each speaker, a winner, a stance, and the
    answer to the attention check.
    """

    def describe(self) -> str:
        """The form in words."""
        last = len(DIMENSIONS)
        return "\n".join(
            [
                (
                    "Reply with one line for each label, in the form LABEL: VALUE, and nothing"
                    f" else: A1 to A{last} and B1 to B{last} (whole numbers from 0 to 100),"
                ),
                f"{Choice('WINNER', SPEAKERS).describe().removesuffix('.')},",
                "S1 (a whole number from 0 to 100) and C1 (the number you were told).",
            ]
        )

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        return _schema(
            {
                **{label: _whole() for label in (*LABELS, "S1", "C1")},
                "WINNER": {"type": "string", "enum": list(SPEAKERS)},
            }
        )

    def example(self, label: str, words: int = 0) -> str:
        """A ballot filled in alike for both speakers; it says nothing of its own."""
        return "\n".join(
            [*(f"{name}: 50" for name in (*LABELS, "S1", "C1")), f"WINNER: {SPEAKERS[0]}"]
        )

    def read(self, text: str) -> dict[str, int | str]:
        """The values by label; UnreadableReply naming every label at fault: a tie, a number off the
        scale, a gap.
        """
        faults = []
        winner, rest = "", text
        try:
            winner, rest = Choice("WINNER", SPEAKERS).split(text)
        except UnreadableReply as fault:
            faults.append(str(fault))
            rest = "\n".join(
                line for line in text.splitlines() if "WINNER" not in line.upper() or "{" in line
            )
        try:
            return {
                **_numbers(rest, (*LABELS, "S1", "C1")),
                **({"WINNER": winner} if winner else _raised(faults)),
            }
        except UnreadableReply as fault:
            raise UnreadableReply("; ".join(dict.fromkeys([*faults, str(fault)]))) from None


def _raised(faults: list[str]) -> dict[str, str]:
    raise UnreadableReply("; ".join(faults))


def _numbers(text: str, labels: tuple[str, ...]) -> dict[str, int]:
    """Whole numbers from 0 to 100 by label; UnreadableReply naming every label at fault."""
    values, unread = labelled_values(text, labels)
    faults = [fault for fault in unread if not fault.startswith("WINNER ")]
    faults += [
        f"{label} has {value}, outside 0 to 100"
        for label, value in values.items()
        if value not in SCALE
    ]
    if faults:
        raise UnreadableReply(
            "; ".join(faults[:8])
            + (f"; and {len(faults) - 8} more faults" if len(faults) > 8 else "")
        )
    return dict(values)


def _whole() -> dict[str, Any]:
    return {"type": "integer", "minimum": SCALE[0], "maximum": SCALE[-1]}


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
