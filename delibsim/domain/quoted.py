"""Whether a text quotes what somebody wrote: by runs of words that it shares."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

RUN = 6
"""So many words in a row that two texts share are a quotation."""
LEAST = 3
"""Texts of fewer words are too common to be told as somebody's."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Quoted:
    """What somebody wrote, as runs of words in lower case; see `quoted`."""

    runs: frozenset[tuple[str, ...]]

    def within(self, text: str) -> bool:
        """Whether a text holds any of these runs.

        >>> own = quoted(["Buses should be free for all who live here."])
        >>> own.within("She said: 'BUSES should be free for all', and left."), own.within("Buses!")
        (True, False)
        """
        words = words_of(text)
        for length in {len(run) for run in self.runs}:
            if any(run in self.runs for run in _runs(words, length)):
                return True
        return False


def quoted(texts: Iterable[str], but: Iterable[str] = ()) -> Quoted:
    """What was written in these texts, but not what stands in others, as in a questionnaire. Runs
    of which less than half are words are forms filled in, and nobody's.

    >>> quoted(["I agree with this."], but=["I agree with this."]).runs
    frozenset()
    >>> quoted(["A1: 61, A2: 70, WINNER: A"]).runs
    frozenset()
    """
    common = [words_of(text) for text in but]
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = words_of(text)
        if len(words) >= LEAST:
            found.update(filter(_is_prose, _runs(words, min(RUN, len(words)))))
    for length in {len(run) for run in found}:
        for words in common:
            found.difference_update(_runs(words, length))
    return Quoted(frozenset(found))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without marks."""
    return WORD.findall(text.lower())


def _is_prose(run: tuple[str, ...]) -> bool:
    """Whether at least half of a run are words without digits."""
    return 2 * sum(word.isalpha() for word in run) >= len(run)


def _runs(words: list[str], length: int) -> Iterable[tuple[str, ...]]:
    for start in range(len(words) - length + 1):
        yield tuple(words[start : start + length])
