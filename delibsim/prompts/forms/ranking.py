"""The form of a vote on statements: a rank for each, and how far one agrees with it."""

from dataclasses import dataclass
from typing import Any

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.prompts.labelled import in_one_line, labelled_values
from delibsim.prompts.prompt import UnreadableReply


@dataclass(frozen=True)
class Ranked:
    """Ranks (1: preferred most) and agreement, both in the order of the statements shown."""

    ranks: tuple[int, ...]
    agreement: tuple[int, ...]


@dataclass(frozen=True)
class RankingForm:
    """Two labelled lines for each of `n` statements S1 to Sn: ranks R1 to Rn, a permutation, and
    agreement A1 to An on the scale from 1 to 7.
    """

    n: int

    @property
    def ranks(self) -> tuple[str, ...]:
        """The labels of the ranks."""
        return tuple(f"R{i}" for i in range(1, self.n + 1))

    @property
    def agreement(self) -> tuple[str, ...]:
        """The labels of the agreement."""
        return tuple(f"A{i}" for i in range(1, self.n + 1))

    def describe(self) -> str:
        """The form in words."""
        scale = f"{LOWEST} (strongly disagree) to {HIGHEST} (strongly agree)"
        if self.n == 1:
            return (
                "Rank the statement 1, and say how far you agree with it, with a whole number from"
                f" {scale}.\nReply with the lines R1: 1 and A1: NUMBER, and nothing else."
            )
        return (
            f"Rank the {self.n} statements from 1 (the one you prefer most) to {self.n} (the one"
            " you prefer least), using each rank exactly once: R1 is the rank of S1, and so on."
            f" Say how far you agree with every statement, with a whole number from {scale}: A1 is"
            " your agreement with S1, and so on.\n"
            f"Reply with one line for each of the {2 * self.n} labels R1 to R{self.n} and A1 to"
            f" A{self.n}, in the form LABEL: NUMBER, and nothing else."
        )

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema: an object with one integer for each label."""
        properties: dict[str, Any] = {}
        for label in self.ranks:
            properties[label] = {"type": "integer", "enum": list(range(1, self.n + 1))}
        for label in self.agreement:
            properties[label] = {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def example(self, label: str, words: int = 0) -> str:
        """Ranks in order, and the middle of the scale; `label` is not used."""
        lines = [f"{rank}: {i}" for i, rank in enumerate(self.ranks, 1)]
        lines += [f"{agreement}: {(LOWEST + HIGHEST) // 2}" for agreement in self.agreement]
        return "\n".join(lines)

    def read(self, text: str) -> Ranked:
        r"""Ranks and agreement; UnreadableReply with the faults.

        >>> RankingForm(2).read("R1: 2\nR2: 1\nA1: 4\nA2: 7")
        Ranked(ranks=(2, 1), agreement=(4, 7))
        """
        values, unread = labelled_values(text, (*self.ranks, *self.agreement))
        faults = [*unread, *self._faults(values)]
        if faults:
            raise UnreadableReply(in_one_line(faults))
        ranks = tuple(values[label] for label in self.ranks)
        return Ranked(ranks, tuple(values[label] for label in self.agreement))

    def _faults(self, values: Any) -> list[str]:
        """What makes whole numbers no vote; what is missing is told already."""
        faults = []
        ranks = {label: values[label] for label in self.ranks if label in values}
        if len(ranks) == self.n and sorted(ranks.values()) != list(range(1, self.n + 1)):
            listed = ", ".join(f"{label}: {rank}" for label, rank in ranks.items())
            faults.append(f"the ranks {listed} do not use each of 1 to {self.n} exactly once")
        for label in self.agreement:
            if label in values and not LOWEST <= values[label] <= HIGHEST:
                faults.append(f"{label} has {values[label]}, outside {LOWEST} to {HIGHEST}")
        return faults
