"""A participant: a person on paper."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Participant:
    """A seat in the group: the name the others hear, a persona only its holder sees, and the model that voices it."""

    id: str
    persona: str = ""
    model: str = "citizen"
    role: str = "citizen"
