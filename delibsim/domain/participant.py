"""A participant: a person on paper."""

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

from delibsim.domain.text import in_short

Side = Literal["proposition", "opposition"]
SIDES: tuple[Side, Side] = get_args(Side)
AUDIENCE = "audience"
"""The role of those who listen to a debate."""


@dataclass(frozen=True)
class Participant:
    """A seat in the group.

    `id` is the name that the others hear, `persona` a description that only its holder sees, and
    `model` the name of the language model that speaks for it. `role` is "citizen" in a
    deliberation; in a debate it is a side or "audience".
    """

    id: str
    persona: str = ""
    model: str = "citizen"
    role: str = "citizen"

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a name that is not one printable line without space around it."""
        categories = {unicodedata.category(character) for character in self.id}
        unprintable = categories & {"Cc", "Cs", "Zl", "Zp"}
        if not self.id or unprintable or self.id != self.id.strip() or self.id[0] in "<>":
            raise ValueError(
                "a participant's name is one printable line that begins with neither '<' nor '>',"
                f" not {self.id!r}"
            )
