"""Scores of texts from comparisons in pairs, as they come back to the run that the texts are of."""

from dataclasses import dataclass

from delibsim.domain.measure import Measure

PAIRS = "pairs"
"""The name of the scorer that gives them, and the first word of its measures."""
AS_SCORES = "docs/compare.md#studies"
"""Where a reader finds what comparisons are as scores."""


@dataclass(frozen=True)
class TextScore:
    """The score of one text of a run on one dimension of a comparison, in log odds.

    `coder` is the comparison; `text` the id of a statement (SESSION/INDEX), of a participant
    (SESSION/PARTICIPANT) or of an imported text. `value` is NaN where there is none, and `note`
    says why. `apart` is the reason why the mean over a run says nothing, "" where it does.
    """

    coder: str
    dimension: str
    text: str
    value: float
    note: str = ""
    apart: str = ""


def measure_of_pairs(coder: str, dimension: str) -> Measure:
    """The measure that the scorer `pairs` gives of a comparison on one dimension.

    >>> measure_of_pairs("ab", "logical").id
    'pairs.ab.logical'
    """
    return Measure(
        id=f"{PAIRS}.{coder}.{dimension}",
        label=f"{dimension}, compared in {coder}",
        definition="Strength of a text among those of its group, from judgments of pairs; of a"
        " participant and a run the mean over its texts.",
        source=AS_SCORES,
        unit="log odds",
        phases=(),
        in_summary=False,
    )
