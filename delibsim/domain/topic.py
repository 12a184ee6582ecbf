"""What people deliberate about: a topic, or a motion to be debated."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A question put to an assembly, its neutral background, and the id of the survey that goes with it by default."""

    id: str
    question: str
    background: str = ""
    survey: str = ""


@dataclass(frozen=True)
class Motion:
    """A sentence that one side of a debate proposes and the other opposes."""

    id: str
    text: str
    theme: str = ""
