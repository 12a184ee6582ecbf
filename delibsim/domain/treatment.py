"""What an experiment manipulates: treatment, wording of prompts, and procedure of a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from delibsim.domain.phases import Facilitation, Order, PhaseName, fault_of_order
from delibsim.domain.rules import Rules
from delibsim.domain.text import in_short

MOST_ROUNDS = 1_000
"""The most rounds of speech that a session may have."""


@dataclass(frozen=True)
class Treatment:
    """Instructions to those who speak, the rounds of speech, and whether participants interact.

    Whether the surveys repeat the instructions is the procedure's (see `Procedure.instructions`).
    A paraphrase says what another treatment says, in other words; `paraphrase_of` names that one.
    Analyses take it as a wording of it.
    """

    name: str
    instructions: str = ""
    rounds: int = 2
    interaction: bool = True
    paraphrase_of: str = ""

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a number of rounds that nobody could mean, and a paraphrase of itself."""
        if self.paraphrase_of and self.paraphrase_of == self.name:
            raise ValueError(f"{self.name} cannot be a paraphrase of itself")
        if not 0 <= self.rounds <= MOST_ROUNDS:
            raise ValueError(f"rounds must be from 0 to {MOST_ROUNDS:,}, not {self.rounds}")


@dataclass(frozen=True)
class Wording:
    """The sentences around topic, instrument and transcript in every prompt.

    `texts` are templates by name, in which each `$field` is filled in.
    """

    id: str
    texts: Mapping[str, str]

    __repr__ = in_short


def wording_plain(wording: Wording) -> dict[str, Any]:
    """A wording as plain values."""
    return {"id": wording.id, "texts": dict(wording.texts)}


def wording_kept(plain: Mapping[str, Any]) -> Wording:
    """A wording from plain values."""
    return Wording(str(plain["id"]), dict(plain["texts"]))


@dataclass(frozen=True)
class Network:
    """Who hears whom: the `network` by name, or `edges` between seats counted from 1.

    `neighbours` is the mean degree of a small world (an even number), `rewiring` its probability of
    rewiring.
    """

    network: str = "complete"
    neighbours: int = 2
    rewiring: float = 0.1
    edges: tuple[tuple[int, int], ...] = ()


OFF = {
    "facilitation": None,
    "facilitator_names": False,
    "briefing_order": None,
    "questions": 0,
    "small_groups": None,
    "small_group_rounds": 1,
    "phases": None,
}
"""Settings of the procedure that are named only where they are on."""


def is_said(name: str, value: Any) -> bool:
    """Whether a setting of the procedure is named: those of `OFF` are where they are on.

    >>> is_said("facilitation", None), is_said("words", None)
    (False, True)
    """
    return name not in OFF or value != OFF[name]


Instructed = Literal["turns", "everywhere"]
"""Where the instructions of a treatment stand: in speaking turns only, or in the surveys too."""


@dataclass(frozen=True)
class Procedure:
    """How a session is held, apart from what is manipulated.

    Prompts: `instructions`, where the treatment's text stands; `background`, whether the topic's
    background follows its question, in surveys and turns alike.

    Surveys: `shuffle_items`, every participant sees the items in an order of its own;
    `reverse_scale` "half", one of every two neighbouring seats sees the scale with its ends the
    other way round; `show_transcript` and `show_answers`, what the survey after the deliberation
    shows.

    Turns: `recall`, a speaker sees the survey and its own first answers; `words`, the words a
    speaker is asked to keep to (None: no number is named); `longest_statement`, the words beyond
    which a statement is unreadable (None: no limit); `rules`, what speeches of a debate must keep
    to.

    `facilitation`, when the facilitator speaks (None: there is none); `facilitator_names`, whether
    it may name the next speaker among those who have not spoken in the round; `briefing_order`,
    which side of a briefing stands first (None: by turns, from replicate to replicate).

    Before the rounds: `questions`, how many participants put to each witness, one each;
    `small_groups`, into how many parts the group is drawn that speak apart, for so many
    `small_group_rounds`, and then report, one of each, to all (None: it is not parted).

    `phases`, what is held in which order, surveys in between too (None: the usual order, of what
    there is).

    Both: `audience`, who hears whom; `transcript_window`, how many of the last statements it heard
    a participant is shown (None: all); `reasks`, how often an unreadable answer is asked again.
    """

    audience: Network = Network()
    shuffle_items: bool = True
    show_transcript: bool = True
    show_answers: bool = True
    recall: bool = True
    reasks: int = 3
    longest_statement: int | None = 600
    reverse_scale: Literal["half"] | None = None
    transcript_window: int | None = None
    rules: Rules | None = None
    instructions: Instructed = "turns"
    background: bool = True
    words: int | None = 150
    facilitation: Facilitation | None = None
    facilitator_names: bool = False
    briefing_order: Order | None = None
    questions: int = 0
    small_groups: int | None = None
    small_group_rounds: int = 1
    phases: tuple[PhaseName, ...] | None = None

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse negative re-asks, bounds below 1, and a length that is asked for and not read."""
        if self.reasks < 0:
            raise ValueError(f"reasks must be 0 or more, not {self.reasks}")
        if self.rules is not None and self.rules.reasks > self.reasks:
            raise ValueError(
                f"rules.reasks ({self.rules.reasks}) cannot be more than reasks ({self.reasks})"
            )
        for name in ("words", "longest_statement", "transcript_window"):
            bound = getattr(self, name)
            if bound is not None and bound < 1:
                raise ValueError(f"{name} must be 1 or more, or null, not {bound}")
        if not 0 <= self.questions <= MOST_ROUNDS:
            raise ValueError(f"questions must be from 0 to {MOST_ROUNDS:,}, not {self.questions}")
        if self.small_groups is not None and self.small_groups < 2:
            raise ValueError(f"small_groups must be 2 or more, or null, not {self.small_groups}")
        if not 1 <= self.small_group_rounds <= MOST_ROUNDS:
            given = self.small_group_rounds
            raise ValueError(f"small_group_rounds must be from 1 to {MOST_ROUNDS:,}, not {given}")
        if self.phases is not None and (fault := fault_of_order(self.phases)):
            raise ValueError(fault)
        words, longest = self.words, self.longest_statement
        if words is not None and longest is not None and words > longest:
            raise ValueError(f"words ({words}) cannot be more than longest_statement ({longest})")
