"""What rank 1 means in a file of people's answers; every answer that is kept has it as the most
preferred.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from delibsim.domain.errors import WrongInput

Rank1 = Literal["most_preferred", "least_preferred"]
MEANINGS: tuple[Rank1, ...] = get_args(Rank1)

COLUMN = "rank_1_is"
"""The column in which a file of answers declares what rank 1 is, alike in all rows of a survey."""

# No codebook says so. The more somebody objects (C40 of auscj), the higher the number at a ban of
# everything (P7): r is 0.67 before and 0.70 after, and would be negative if 1 were the best.
LEAST_FIRST = frozenset({"deliberr.auscj"})
"""The published surveys in whose answers rank 1 is the least preferred."""


def in_source(survey_id: str) -> Rank1:
    """What rank 1 is in the published answers to a survey, where they are what was imported.

    >>> in_source("deliberr.auscj"), in_source("deliberr.ccps")
    ('least_preferred', 'most_preferred')
    """
    return "least_preferred" if survey_id in LEAST_FIRST else "most_preferred"


def declared(path: Path, cells: Iterable[tuple[int, str]]) -> Rank1 | None:
    """What rank 1 is according to the cells (line, text) of `COLUMN`; None where all are empty.

    Raises WrongInput, naming file and line, for another word, and where rows contradict each other.
    """
    first: tuple[int, str] | None = None
    for line, text in cells:
        where = f"{path}, line {line}, column {COLUMN}"
        if text and text not in MEANINGS:
            raise WrongInput(f"{where}: expected {' or '.join(MEANINGS)}, got {text!r}")
        first = first or (line, text)
        if text != first[1]:
            raise WrongInput(f"{where}: {text!r}, but {first[1]!r} in line {first[0]}")
    if first is None or not first[1]:
        return None
    return "least_preferred" if first[1] == "least_preferred" else "most_preferred"
