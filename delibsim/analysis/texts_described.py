"""What a set of texts is like: how many, how long, which say nothing, which are repeated."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import quantiles
from typing import Any

from delibsim.domain.annotation import Text
from delibsim.domain.summary import MINORITIES, STANCES, alike, spoken
from delibsim.domain.text import counted

SHOWN = 5
"""How many ids a sentence lists."""


@dataclass(frozen=True)
class Description:
    """Counts of a set of texts.

    `empty` and `wordless` (neither a letter nor a digit) are ids; `repeated` are the ids of texts
    whose words are those of an earlier one, but for case, white space and forms of characters.
    `words` are the least, the quartiles and the most, None without texts. `groups` are sizes by
    name, `stances` and `minorities` counts of what opinions say.
    """

    texts: int
    empty: tuple[str, ...]
    wordless: tuple[str, ...]
    repeated: tuple[str, ...]
    words: tuple[float, ...] | None
    groups: dict[str, int]
    facts: tuple[str, ...]
    stances: dict[str, int] = field(default_factory=dict)
    minorities: dict[str, int] = field(default_factory=dict)
    authors: int = 0

    def lines(self) -> list[str]:
        """In sentences."""
        lines = []
        if self.words is not None:
            low, lower, middle, upper, most = (f"{n:g}" for n in self.words)
            quartiles = f"quartiles {lower}, {middle}, {upper}"
            lines.append(f"words      {quartiles}; from {low} to {most}")
        lines.append(f"groups     {self._of_groups()}")
        for name, said in (("stances", self.stances), ("minority", self.minorities)):
            if said:
                told = ", ".join(f"{value} {n:,}" for value, n in said.items())
                left = self.texts - sum(said.values())
                lines.append(f"{name:<10} {told}" + (f"; {left:,} without" if left else ""))
        if self.authors:
            lines.append(f"authors    {self.authors:,}")
        if self.facts:
            lines.append(f"columns    {', '.join(self.facts)}")
        told = {"empty": self.empty, "no words": self.wordless, "repeated": self.repeated}
        for name, ids in told.items():
            if ids:
                more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
                which = f"{', '.join(ids[:SHOWN])}{more}"
                lines.append(f"{name:<10} {counted(len(ids), 'text')} (kept): {which}")
        return lines

    def _of_groups(self) -> str:
        """How many groups there are, and how large they are."""
        if not self.groups:
            return "none; group=COLUMN names them at the import"
        sizes = sorted(self.groups.values())
        span = f"{sizes[0]} to " if sizes[0] < sizes[-1] else ""
        told = f"{len(self.groups)}, of {span}{counted(sizes[-1], 'text')}"
        left = self.texts - sum(sizes)
        return f"{told}; {counted(left, 'text')} without a group" if left else told

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        plain = asdict(self)
        for name in ("stances", "minorities", "authors"):
            if not plain[name]:
                del plain[name]  # texts that are no opinions
        return plain


def described(texts: Sequence[Text]) -> Description:
    """What these texts are like.

    >>> described([Text("a", "We pay."), Text("b", "We pay."), Text("c", "?!")]).wordless
    ('c',)
    """
    seen: set[str] = set()
    empty, wordless, repeated = [], [], []
    facts: dict[str, None] = {}
    for text in texts:
        facts |= dict.fromkeys(text.facts)
        if not text.text.strip():
            empty.append(text.id)
        elif not spoken(text.text):
            wordless.append(text.id)
        elif alike(text.text) in seen:
            repeated.append(text.id)
        seen.add(alike(text.text))
    return Description(
        texts=len(texts),
        empty=tuple(empty),
        wordless=tuple(wordless),
        repeated=tuple(repeated),
        words=_quartiles([word_count(text.text) for text in texts]),
        groups=dict(Counter(text.group for text in texts if text.group)),
        facts=tuple(facts),
        stances=_counts([text.stance for text in texts], STANCES),
        minorities=_counts([text.minority for text in texts], MINORITIES),
        authors=len({text.author for text in texts if text.author}),
    )


def _counts(said: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """How often each value was said, in the order of the names; nothing where none was."""
    found = Counter(said)
    return {name: found[name] for name in names if found[name]}


def word_count(text: str) -> int:
    """How many words a text has: what stands between blanks."""
    return len(text.split())


def _quartiles(counts: Sequence[int]) -> tuple[float, ...] | None:
    """The least, the quartiles (by linear interpolation) and the most; None without counts."""
    if not counts:
        return None
    inner = quantiles(counts, n=4, method="inclusive") if len(counts) > 1 else list(counts) * 3
    return float(min(counts)), *map(float, inner), float(max(counts))
