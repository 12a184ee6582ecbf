"""Which texts are put before coders, and which of them are alike."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.annotation import Text
from delibsim.domain.language import word_count, wordless
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Scheme


@dataclass(frozen=True)
class Uncoded:
    """A text that is not put before coders on a dimension, and why."""

    text: str
    dimension: str
    reason: Reason


def occurrences_of(texts: Iterable[Text]) -> dict[str, int]:
    """How many texts before it, in this order, are word for word like each text, by id."""
    seen: Counter[str] = Counter()
    found = {}
    for text in texts:
        digest = text.sha256
        found[text.id] = seen[digest]
        seen[digest] += 1
    return found


def why_not_coded(text: str, scheme: Scheme, dimension: Dimension) -> Reason | None:
    """Why a text is not put before coders on a dimension; None if it is."""
    if not text.strip():
        return Reason("empty")
    if wordless(text):
        return Reason("wordless")
    words = word_count(text)
    least, most = max(scheme.least_words, dimension.least_words), scheme.most_words
    if words < least:
        return Reason("too_short", f"{words} words, and the scheme codes from {least} on")
    if most is not None and words > most:
        return Reason("too_long", f"{words} words, and the scheme codes up to {most}")
    return None


def dimensions_for(scheme: Scheme, text: Text) -> list[str]:
    """The ids of the dimensions on which a text is coded; none for one that is not coded at all."""
    found = []
    for dimension in scheme.dimensions:
        if why_not_coded(text.text, scheme, dimension) is None:
            found.append(dimension.id)
    return found


def uncoded_of(
    scheme: Scheme, dimensions: Sequence[Dimension], texts: Sequence[Text]
) -> tuple[Uncoded, ...]:
    """The texts that are not put before coders, by dimension."""
    found = []
    for dimension in dimensions:
        for text in texts:
            reason = why_not_coded(text.text, scheme, dimension)
            if reason is not None:
                found.append(Uncoded(text.id, dimension.id, reason))
    return tuple(found)


def twins_of(
    shown: Mapping[str, Text], occurrences: Mapping[str, int], texts: Sequence[Text]
) -> dict[str, tuple[str, ...]]:
    """By the id of the first of the texts that coders see alike, context included: all of them; by
    the id of any other: nothing.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text in sorted(texts, key=lambda text: occurrences[text.id]):
        seen = shown[text.id]
        groups.setdefault((seen.text, seen.context), []).append(text.id)
    found: dict[str, tuple[str, ...]] = {}
    for ids in groups.values():
        found |= dict.fromkeys(ids[1:], ())
        found[ids[0]] = tuple(ids)
    return found
