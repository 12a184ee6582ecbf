"""The form of a judgment of summaries: a whole number from 1 to 5 on each of four dimensions."""

from dataclasses import dataclass
from typing import Any

from delibsim.domain.judgment import DIMENSIONS, SCALE
from delibsim.prompts.labelled import in_one_line, labelled_values
from delibsim.prompts.prompt import UnreadableReply

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
        return (
            f"Reply with four lines and nothing else, {what}: {lines}. Each NUMBER is a whole"
            " number from 1 to 5."
        )

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        low, high = SCALE
        number = {"type": "integer", "minimum": low, "maximum": high}
        return {
            "type": "object",
            "properties": dict.fromkeys(NUMBERED, number),
            "required": list(NUMBERED),
            "additionalProperties": False,
        }

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
