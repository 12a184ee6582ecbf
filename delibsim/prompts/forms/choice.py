"""The form of a choice between two texts: A, B or a tie, with a reason apart from it if asked for.

Nothing ambiguous is read: a reply that names two labels, or hides one in a sentence, is a fault.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from delibsim.domain.comparison import Outcome
from delibsim.domain.errors import phrase
from delibsim.domain.summary import DIMENSIONS, SCALE
from delibsim.prompts.labelled import (
    QUOTED,
    QUOTES,
    in_one_line,
    labelled_values,
    only_object,
    padded,
    whole_characters,
)
from delibsim.prompts.prompt import UnreadableReply, schema_of, text_schema

LABELS: dict[str, Outcome] = {"A": "a", "B": "b", "Tie": "tie"}
"""The labels of a reply, and the outcome that each stands for."""
ANSWER, REASON = "answer", "reason"
MARKS = " \t*_`\"'.()[]|"
"""What may stand around a label."""
ANSWER_LINE = re.compile(r"""^[\s>*_"'`|-]*(?:final\s+)?answer[*_"'`]*\s*[:=]\s*(.*)$""", re.I)
REASON_LABEL = re.compile(r"""^[\s*_"'`]*reason[*_"'`]*\s*[:=][*_]*\s*""", re.I)
IN_JSON = re.compile(r'\{\s*"(?:reason|answer)"\s*:')
PADDING = "The first text gives a reason that bears on its conclusion, and the second does not."


@dataclass(frozen=True)
class PairChoice:
    """What a judge replies: which text is the stronger, or neither, and why ("" if not asked)."""

    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True)
class ChoiceForm:
    """One label; with `reasons` a line with a short reason before it. Without `ties` one text must
    be chosen.
    """

    ties: bool = True
    reasons: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that a reply may have."""
        return tuple(LABELS) if self.ties else ("A", "B")

    def describe(self) -> str:
        """The form in words."""
        *first, last = self.labels
        listed = f"{', '.join(first)} or {last}"
        if not self.reasons:
            return f"Reply with one of the labels {listed}, and nothing else."
        return phrase("reason_form", listed=listed)

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        properties: dict[str, Any] = {REASON: text_schema(600)} if self.reasons else {}
        properties[ANSWER] = {"type": "string", "enum": list(self.labels)}
        return schema_of(properties)

    def example(self, label: str, words: int = 0) -> str:
        """A reply with the longest label; its reason has `words` words, or one sentence."""
        answer = self.labels[-1]
        if not self.reasons:
            return answer
        return f"Reason: {padded(PADDING, words or len(PADDING.split()))}\nAnswer: {answer}"

    def reply(self, outcome: Outcome, reason: str) -> str:
        r"""A reply with this outcome, and with the reason where one is asked for.

        >>> ChoiceForm(reasons=True).reply("tie", "Both are alike.")
        'Reason: Both are alike.\nAnswer: Tie'
        """
        label = next(name for name, meant in LABELS.items() if meant == outcome)
        return f"Reason: {reason}\nAnswer: {label}" if self.reasons else label

    def read(self, text: str) -> PairChoice:
        r"""The choice; UnreadableReply with the concrete fault.

        >>> ChoiceForm().read("**B**")
        PairChoice(outcome='b', reason='')
        >>> ChoiceForm(reasons=True).read("Reason: It has no premise.\nAnswer: A")
        PairChoice(outcome='a', reason='It has no premise.')
        """
        said = whole_characters(text).translate(QUOTES).strip()
        if not said:
            raise UnreadableReply("the reply is empty")
        if said.startswith("{") or IN_JSON.search(said):
            return self._in_json(said)
        if self.reasons:
            return self._in_lines(said)
        lone = ANSWER_LINE.match(said)
        return PairChoice(self._outcome(lone[1] if lone else said))

    def _in_json(self, said: str) -> PairChoice:
        """The choice in a JSON object, as servers reply that enforce the schema."""
        wanted = [REASON, ANSWER] if self.reasons else [ANSWER]
        found = only_object(said, wanted)
        if found.names != wanted:
            listed = ", ".join(wanted)
            raise UnreadableReply(f"the JSON object must have the members {listed} and no others")
        if any(map(ANSWER_LINE.match, found.around(said).splitlines())):
            raise UnreadableReply("the answer is given twice, in the JSON object and beside it")
        given = dict(found.pairs)
        if not all(isinstance(value, str) for value in given.values()):
            raise UnreadableReply("the members of the JSON object must be texts")
        return self._with_reason(given.get(REASON, ""), given[ANSWER])

    def _in_lines(self, said: str) -> PairChoice:
        """The choice in the last line, and the reason before it."""
        lines = said.splitlines()
        answers = [line for line in lines if ANSWER_LINE.match(line)]
        if not answers:
            raise UnreadableReply('the reply has no line that begins with "Answer:"')
        if len(answers) > 1:
            raise UnreadableReply(f'{len(answers)} lines begin with "Answer:"; one must')
        last = ANSWER_LINE.match(lines[-1])
        if last is None:
            raise UnreadableReply('the line with "Answer:" must be the last')
        before = " ".join(" ".join(lines[:-1]).split())
        return self._with_reason(REASON_LABEL.sub("", before), last[1])

    def _with_reason(self, reason: str, answer: str) -> PairChoice:
        """A choice with its reason, which must not be empty where one is asked for."""
        if self.reasons and not reason.strip():
            raise UnreadableReply("the reason is missing")
        return PairChoice(self._outcome(answer), reason.strip())

    def _outcome(self, answer: str) -> Outcome:
        """The outcome that a label stands for."""
        bare = answer.strip().strip(MARKS)
        bare = re.sub(r"^text\s+", "", bare, flags=re.I)
        for label in self.labels:
            if bare.casefold() == label.casefold():
                return LABELS[label]
        *first, last = self.labels
        shown = " ".join(answer.split())[:QUOTED]
        quoted = json.dumps(shown, ensure_ascii=False)
        raise UnreadableReply(f"the answer is {quoted}; it must be {', '.join(first)} or {last}")


NUMBERED = {f"D{place}": name for place, name in enumerate(DIMENSIONS, 1)}
"""The labels of a reply, D1 to D4, and the dimension of each."""


@dataclass(frozen=True)
class VerdictForm:
    """Four labelled lines; with `two` they compare summary A with B, else they rate one."""

    two: bool = False

    def describe(self) -> str:
        """The form in words."""
        lines = ", ".join(f"{label}: NUMBER" for label in NUMBERED)
        what = "comparing A with B" if self.two else "rating the summary"
        return phrase("verdict_form", what=what, lines=lines)

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        low, high = SCALE
        number = {"type": "integer", "minimum": low, "maximum": high}
        return schema_of(dict.fromkeys(NUMBERED, number))

    def example(self, label: str, words: int = 0) -> str:
        """A judgment; it says nothing of its own."""
        return "\n".join(f"{label}: 3" for label in NUMBERED)

    def read(self, text: str) -> dict[str, int]:
        r"""The numbers by dimension; UnreadableReply with the concrete faults.

        >>> VerdictForm().read("D1: 4\nD2: 3\nD3: 5\nD4: 1")
        {'rep': 4, 'inf': 3, 'neu': 5, 'pol': 1}
        """
        values, faults = labelled_values(text, tuple(NUMBERED))
        low, high = SCALE
        told = [fault.replace("a label of this survey", "one of the labels") for fault in faults]
        for label, value in values.items():
            if not low <= value <= high:
                told.append(f"{label} is {value}; it must be a whole number from {low} to {high}")
        if told:
            raise UnreadableReply(in_one_line(told))
        return {NUMBERED[label]: value for label, value in values.items()}
