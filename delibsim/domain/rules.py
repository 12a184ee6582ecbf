"""The rules of speeches in debates: length, no links, no citations, no mention of being an AI."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.data import patterns
from delibsim.domain.model_family import makers

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
            raise ValueError(
                f"rules.least must be 1 or more and no more than rules.most, not {self.least} and"
                f" {self.most}"
            )
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
