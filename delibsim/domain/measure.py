"""What is known of a measure, and the catalogue of all measures that the built-in scorers give."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from delibsim.domain.data import read_data

SCORE_PHASES = ("pre", "post", "change")
"""The phases of scores; those of a survey are `domain.survey.PHASES`."""
HEADINGS = {"pre": "before", "post": "after", "change": "change"}
"""The phases as they are printed."""


def heading_of(phase: str) -> str:
    """A phase as it is printed.

    >>> heading_of("pre"), heading_of("wave_2")
    ('before', 'wave 2')
    """
    return HEADINGS.get(phase) or phase.replace("_", " ")


CHANGE = ("change",)
ANY = (-inf, inf)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure: what its scores are called, what they mean and how they may be shown.

    `id` is the name in scores, `label` the name in tables for readers, `definition` one sentence,
    `plain` the same for readers outside the field ("" where the definition is plain), and `source`
    where a reader finds the formula: a DOI, a URL or a page of the docs, several joined by "; ".
    `unit` is that of the value, "" for a number without unit. `range` holds the lowest and the
    highest value, of the change only where there is nothing but a change; an end that is not known
    or depends on the instrument is infinite. `phases` are those of the scores, none for what has no
    phase. `signed` is False for a change that is no difference of two phases and is printed without
    a sign. `comparable` says whether values of different instruments may stand side by side,
    `human_reference` whether values of real people are known, `in_summary`
    whether `delibsim run` prints the measure in its table. Raises ValueError for an empty text,
    an unknown phase and a range whose ends are the wrong way round.
    """

    id: str
    label: str
    definition: str
    source: str
    plain: str = ""
    unit: str = ""
    range: tuple[float, float] = ANY
    phases: tuple[str, ...] = SCORE_PHASES
    signed: bool = True
    comparable: bool = False
    human_reference: bool = False
    in_summary: bool = True

    def __post_init__(self) -> None:
        """Refuse what no table could show."""
        for name in ("id", "label", "definition", "source"):
            if not getattr(self, name).strip():
                raise ValueError(f"measure {self.id!r}: {name} is empty")
        unknown = [phase for phase in self.phases if phase not in SCORE_PHASES]
        if unknown:
            raise ValueError(f"measure {self.id!r}: unknown phase {unknown[0]!r}")
        low, high = self.range
        if not low < high:
            raise ValueError(f"measure {self.id!r}: the range {low:g} to {high:g} is empty")

    def holds(self, value: float, phase: str = "") -> bool:
        """Whether a value lies in the range; a change may be as large as the range is wide.

        >>> MEASURES["dri"].holds(1.5, "post"), MEASURES["dri"].holds(1.5, "change")
        (False, True)
        """
        low, high = self.range
        if phase == "change" and self.phases != CHANGE:
            low, high = low - high, high - low
        return low - ROUNDING <= value <= high + ROUNDING


ROUNDING = 1e-9
"""How far rounding may carry a value beyond its range."""


def _catalogue() -> tuple[dict[str, tuple[Measure, ...]], dict[str, Measure]]:
    """The measures by scorer, and all by id, as the file has them."""
    by_scorer: dict[str, tuple[Measure, ...]] = {}
    by_id: dict[str, Measure] = {}
    for group in read_data("measures.yaml"):
        usual = group.get("usual", {})
        own = [Measure(**usual | entry) for entry in group["measures"]]
        by_scorer[group["scorer"]] = (*by_scorer.get(group["scorer"], ()), *own)
        by_id |= {measure.id: measure for measure in own}
    return by_scorer, by_id


CATALOGUE, MEASURES = _catalogue()
"""The measures of each built-in scorer by the name of the scorer, and all by id, in the order in
which tables show them.
"""


def in_order(declared: Mapping[str, Measure]) -> dict[str, Measure]:
    """Measures by id in the order of tables: built-in ones as in MEASURES, then all others.

    >>> list(in_order({"words": MEASURES["stance"], "dri": MEASURES["dri"]}))
    ['dri', 'words']
    """
    ours = {name: declared[name] for name in MEASURES if name in declared}
    return ours | dict(declared)
