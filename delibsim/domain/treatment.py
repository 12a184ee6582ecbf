"""What an experiment manipulates: treatment, wording of prompts, and procedure of a session, with
the rules of speeches in debates.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from delibsim.domain.data import patterns
from delibsim.domain.errors import phrase
from delibsim.domain.model_family import makers
from delibsim.domain.phases import Facilitation, Order, PhaseName, fault_of_order
from delibsim.domain.text import in_short

LINK = re.compile(r"https?://|\bwww\.\w", re.IGNORECASE)
DOMAIN = re.compile(r"(?<=[\w-])\.(?:com|org|net|edu|gov|io|ai)\b", re.IGNORECASE)
"""The end of an address without a scheme."""
HYPHENATED = re.compile(r"[\w-]*")
CITATION = re.compile(
    r"\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|\((?:[A-Z][\w’'-]+(?:,? (?:and|&) [A-Z][\w’'-]+| et"
    r" al\.?)?,? (?:19|20)\d\d[a-z]?(?:; )?)+\)"
    r"|\bet al\b|\bdoi:"
)
_MACHINE = f"(?:{patterns('speeches')['machine']})"
_MAKER = f"(?:{'|'.join(makers())})"
DISCLOSURE = re.compile(
    rf"\b(?:as|being|like) (?:me, )?an? (?:\w+ )?{_MACHINE}\b|\bI(?:['’]m| am)(?: just| only|"
    rf" merely)? (?:an? )?(?:\w+ )?{_MACHINE}\b"
    r"|\bmy (?:training data|training|knowledge cutoff|developers)\b|\bI was"
    rf" (?:trained|developed|created|made|built) by {_MAKER}\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?][\"”’')]*(?=\s|$)")
QUOTED = 1_000
"""Characters of what breaks a rule that a fault quotes at most."""
KINDS = ("too_short", "too_long", "link", "citation", "disclosure")
"""The ways in which a speech can break the rules."""
DEMANDS: Mapping[str, tuple[str, ...]] = {
    "fairness": ("opening", "rebuttal", "closing"),
    "both_kinds": ("opening",),
    "no_new_argument": ("closing",),
}
"""Demands on both sides beside the published tasks, and the tasks that they are stated with."""


@dataclass(frozen=True)
class Rules:
    """What a speech must keep to, the same for both sides.

    `least` and `most` words; no link, no citation, and no word of being an AI. A speech that breaks
    a rule is asked for again with the concrete fault, `reasks` times; `then` it is accepted as it
    is ("accept") or, where it is too long, cut at the end of a sentence ("cut"). `preparation`:
    each debater first writes notes that only it will see. `fairness`, `both_kinds` and
    `no_new_argument`: prompts state these demands to both sides (DEMANDS); nothing checks whether a
    speech complies.
    """

    least: int = 100
    most: int = 150
    reasks: int = 2
    then: Literal["accept", "cut"] = "accept"
    preparation: bool = False
    fairness: bool = False
    both_kinds: bool = False
    no_new_argument: bool = False

    def __post_init__(self) -> None:
        """Refuse limits that nobody can keep."""
        if not 1 <= self.least <= self.most:
            raise ValueError(phrase("rules_out_of_range", least=self.least, most=self.most))
        if self.reasks < 0:
            raise ValueError(f"rules.reasks must be 0 or more, not {self.reasks}")

    def demands(self, task: str | None = None) -> tuple[str, ...]:
        """The demands that are on, of all tasks or of one; each names a text of the wording.

        >>> Rules(both_kinds=True, no_new_argument=True).demands("closing")
        ('no_new_argument',)
        """
        asked = [name for name in DEMANDS if getattr(self, name)]
        return tuple(name for name in asked if task is None or task in DEMANDS[name])

    def broken(self, text: str) -> dict[str, str]:
        """The rules that a speech breaks, by kind, each with the concrete fault.

        >>> Rules(2, 9).broken("See www.example.org for more of this.")
        {'link': 'it holds a link (www.example.org)'}
        >>> Rules(2, 4).broken("It is far too long.")
        {'too_long': 'the speech has 5 words; at most 4 are allowed'}
        """
        n, found = len(text.split()), {}
        if n < self.least:
            found["too_short"] = f"the speech has {n} words; at least {self.least} are asked for"
        if n > self.most:
            found["too_long"] = f"the speech has {n} words; at most {self.most} are allowed"
        link = _link(text)
        if link:
            # The link is named as a whole, not only the part of it that was found.
            whole = [word for word in text.split() if link in word]
            found["link"] = f"it holds a link ({(whole[0] if whole else link)[:QUOTED]})"
        citation = CITATION.search(text)
        if citation:
            found["citation"] = f"it holds a citation ({citation[0][:QUOTED]})"
        disclosure = DISCLOSURE.search(text)
        if disclosure:
            found["disclosure"] = f"it says what the speaker is ({disclosure[0][:QUOTED]})"
        return found


def cut(text: str, most: int) -> str:
    """The longest beginning of a text that ends with a sentence and has at most `most` words.

    The text itself if no such beginning ends with a sentence.

    >>> cut("One two. Three four five. Six.", 5)
    'One two. Three four five.'
    """
    longest, words, counted = text, 0, 0
    for match in SENTENCE_END.finditer(text):
        words += len(text[counted : match.end()].split())
        counted = match.end()
        if words > most:
            break
        longest = text[:counted]
    return longest


def _link(text: str) -> str:
    """The first link in a text, or as much of it as shows that it is one; "" if there is none."""
    link = LINK.search(text)
    first, found = (len(text), "") if link is None else (link.start(), link[0])
    end = 0
    for domain in DOMAIN.finditer(text):
        # The name before the dot is looked for backwards. Forwards, from each of its parts, it
        # would be read to its end again and again.
        before = text[end : domain.start()]
        name = HYPHENATED.match(before[::-1])
        begun = domain.start() - (name.end() if name else 0)
        own = text[begun : domain.end()].lstrip("-")
        if own[0] != ".":
            return own if domain.end() - len(own) < first else found
        end = domain.start() + 1
    return found


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
