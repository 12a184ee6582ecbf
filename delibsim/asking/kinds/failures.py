"""Kinds of disagreement of the ensemble with a person, proposed by rule; people correct them."""

import re
from collections.abc import Iterable, Sequence

from delibsim.asking.kinds.conclusions import QUOTED
from delibsim.domain.audit import FailureKind
from delibsim.domain.scheme import Dimension, LevelValue

OF_REASONS = re.compile(r"(?<!counter)(?:justif|reason|premise)", re.I)
"""The id or name of a dimension that grades reasons."""
NOTHING_NAMED = re.compile(
    r"\b(?:no(?! doubt| longer| evidence:)|none|nothing|nobody|neither|never|without|absent"
    r"|lacks?)\b"
    r"|(?:\bnot|n['’]t) (?:mention|name|address|acknowledge|take up|refer|give|offer|contain"
    r"|engage)",
    re.I,
)
"""What a rationale says that finds nothing in the text."""


def proposed_kind(
    dimension: Dimension,
    ensemble: LevelValue,
    person: LevelValue,
    rationales: Iterable[str],
    unstable: bool,
) -> FailureKind:
    """The kind of a disagreement: the first of the rules that takes it (`domain.audit.KINDS`).

    `rationales` are those of the samples that gave the ensemble's level. Levels without an order
    are never above or below. ValueError where both levels are the same.
    """
    if ensemble == person:
        raise ValueError("levels that are the same are no disagreement")
    if dimension.scale != "nominal":
        places = dimension.values
        distance = places.index(ensemble) - places.index(person)
        ends = ensemble == places[0] and person == places[-1]
        if ends and any(map(_names_nothing, rationales)):
            return "strict"
        if distance == -1:
            return "acknowledged"
        if distance > 0:
            return "over_graded" if is_of_reasons(dimension) else "over_read"
    return "unstable" if unstable else "other"


def _names_nothing(rationale: str) -> bool:
    """Whether a rationale finds nothing in the text; what it quotes of the text does not count."""
    return NOTHING_NAMED.search(QUOTED.sub(" ", rationale)) is not None


def is_of_reasons(dimension: Dimension) -> bool:
    """Whether a dimension grades reasons, by its id and its name."""
    return bool(OF_REASONS.search(dimension.id) or OF_REASONS.search(dimension.name))


def is_unstable(models: Iterable[LevelValue], samples: Iterable[Sequence[LevelValue]]) -> bool:
    """Whether the models give three levels, or one model several levels in its samples."""
    return len(set(models)) >= 3 or any(len(set(own)) > 1 for own in samples)
