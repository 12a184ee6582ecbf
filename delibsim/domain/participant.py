"""A participant: a person on paper."""

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

Side = Literal["proposition", "opposition"]
SIDES: tuple[Side, Side] = get_args(Side)


@dataclass(frozen=True)
class Participant:
    """A seat in the group: the name the others hear, a persona only its holder sees, and the model
    that voices it.

    `role` is "citizen" in a deliberation; in a debate it is a side or "audience".
    """

    id: str
    persona: str = ""
    model: str = "citizen"
    role: str = "citizen"

    def __post_init__(self) -> None:
        """Refuse a name that could not head a speech: it is one printable line without space around
        it.
        """
        control = any(
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in self.id
        )
        if not self.id or control or self.id != self.id.strip() or self.id[0] in "<>":
            raise ValueError(
                "a participant's name is one printable line that begins with neither '<' nor '>',"
                f" not {self.id!r}"
            )
