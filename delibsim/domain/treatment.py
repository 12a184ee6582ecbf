"""What an experiment manipulates: the treatment, the wording of prompts, and the procedure of a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.rules import Rules


@dataclass(frozen=True)
class Treatment:
    """Instructions given to every participant, the number of rounds, and whether participants interact at all."""

    name: str
    instructions: str = ""
    rounds: int = 2
    interaction: bool = True

    def __post_init__(self) -> None:
        """Refuse a negative number of rounds."""
        if self.rounds < 0:
            raise ValueError(f"rounds must be 0 or more, not {self.rounds}")


@dataclass(frozen=True)
class Wording:
    """The sentences around topic, instrument and transcript in every prompt, as templates by name (`$field` is filled in)."""

    id: str
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Audience:
    """Who hears whom: a network of the participants by name, or an edge list of seats counted from 1.

    `neighbours` is the mean degree of a small world (an even number), `rewiring` its probability of rewiring.
    """

    network: str = "complete"
    neighbours: int = 2
    rewiring: float = 0.1
    edges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Procedure:
    """How a session is held, apart from what is manipulated.

    `shuffle_items`: every participant sees the items in an order of its own; `show_transcript`, `show_answers`: what the
    post survey shows; `recall`: a speaker sees its own answers to the first survey; `reasks`: how often an unreadable
    answer is asked again; `longest_statement`: how many words a statement may have before it counts as unreadable;
    `reverse_scale` "half": one of every two neighbouring seats sees the scale with its ends the other way round;
    `transcript_window`: how many of the last statements it heard a participant is shown (None: all);
    `rules`: what speeches of a debate must keep to.
    """

    audience: Audience = Audience()
    shuffle_items: bool = True
    show_transcript: bool = True
    show_answers: bool = True
    recall: bool = True
    reasks: int = 3
    longest_statement: int | None = 600
    reverse_scale: Literal["half"] | None = None
    transcript_window: int | None = None
    rules: Rules | None = None

    def __post_init__(self) -> None:
        """Refuse a negative number of re-asks, and bounds below 1."""
        if self.reasks < 0:
            raise ValueError(f"reasks must be 0 or more, not {self.reasks}")
        if self.rules is not None and self.rules.reasks > self.reasks:
            raise ValueError(f"rules.reasks ({self.rules.reasks}) cannot be more than reasks ({self.reasks})")
        if self.longest_statement is not None and self.longest_statement < 1:
            raise ValueError(f"longest_statement must be 1 or more, or null, not {self.longest_statement}")
        if self.transcript_window is not None and self.transcript_window < 1:
            raise ValueError(f"transcript_window must be 1 or more, or null, not {self.transcript_window}")
