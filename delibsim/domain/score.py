"""A score, what is known of its measure, and the protocol of whatever produces scores from runs;
the catalogue of all measures that the built-in scorers give.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isnan
from typing import Any, Literal, Protocol, runtime_checkable

from delibsim.domain.data import read_data
from delibsim.domain.run import Run

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


Unit = Literal["run", "participant", "statement", "pair", "text"]


@dataclass(frozen=True, slots=True)
class Score:
    """One number about one target.

    `target` is the id of the session, followed for smaller units by "/" and the participant or the
    index of the turn; of the unit "text" it is the id of an imported text. `value` is NaN where the
    measure is undefined; `note` then holds the reason code. `phase` is "pre", "post" or "change".
    """

    measure: str
    unit: Unit
    target: str
    value: float
    phase: str = ""
    coder: str = ""
    note: str = ""


ENSEMBLE = "ensemble"
"""The coder whose score is taken together from those of others."""


def of_whole_runs(scores: Iterable[Score]) -> list[Score]:
    """The scores of whole runs; where an ensemble has one, its own alone of all coders'.

    >>> scores = [Score("m", "run", "s", 1.0, coder=coder) for coder in ("a", "ensemble", "b")]
    >>> [score.coder for score in of_whole_runs(scores)]
    ['ensemble']
    """
    whole = [score for score in scores if score.unit == "run"]
    decided = {(one.target, one.measure, one.phase) for one in whole if one.coder == ENSEMBLE}
    if not decided:
        return whole
    found = []
    for score in whole:
        key = score.target, score.measure, score.phase
        if score.coder == ENSEMBLE or key not in decided:
            found.append(score)
    return found


@runtime_checkable
class Scorer(Protocol):
    """Whatever reads runs, returns scores and changes nothing.

    `version` is raised whenever a number changes. A scorer that need not have all runs of a study
    before it at once declares `by_run` or has `compare` (see `ComparesRuns`).
    """

    name: str
    version: int

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Score runs; the scores of a run do not depend on the order in which runs are given."""
        ...


class Comparison(Protocol):
    """What a scorer remembers of all runs: each is noted first, and then scored."""

    def note(self, run: Run) -> Any:
        """Remember what is needed of a run to score others; what is needed to score it itself, or
        None where that is the whole run.
        """
        ...

    def score(self, noted: Any, /) -> Iterable[Score]:
        """The scores of one of the runs, after all were noted: of the run, or of what noting it
        gave.
        """
        ...


@runtime_checkable
class ComparesRuns(Protocol):
    """A scorer that compares runs, and is shown them one after another."""

    def compare(self) -> Comparison:
        """A comparison that knows no run yet."""
        ...


def compared(comparison: Comparison, runs: Sequence[Run]) -> list[Score]:
    """The scores of runs that are compared with each other."""
    every = [(comparison.note(run), run) for run in runs]
    found = []
    for noted, run in every:
        found += comparison.score(run if noted is None else noted)
    return found


class _Alone:
    """What a scorer remembers that scores run by run: nothing."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def note(self, run: Run) -> None:
        """Remember nothing: a run is scored whole."""

    def score(self, run: Run) -> Iterable[Score]:
        """The scores of a run."""
        return self._scorer.score([run])


def run_by_run(scorer: Scorer) -> Comparison | None:
    """What shows a scorer one run after another; None for one that needs all runs at once."""
    if isinstance(scorer, ComparesRuns):
        return scorer.compare()
    return _Alone(scorer) if getattr(scorer, "by_run", False) else None


@dataclass(frozen=True)
class IndividualChange:
    """How one participant's answers changed from the survey before to the one after.

    `topic`, `model` (that of the participant) and `treatment` are names. `items_changed` counts
    the items with another answer afterwards, among the `items` that were answered both times, of
    the `items_asked`. `mean_change_c` and `mean_change_p` are the mean absolute changes of a
    rating (points of the scale) and of a rank; `tau` is Kendall's tau-b between own ranks before
    and after; `dri_before` and `dri_after` are the individual index. All five are NaN where they
    are undefined, and `note` holds the reason codes, those of the group ending in `_in_group`.
    `largest_change` is the largest change of an answer, with its sign, and `largest_item` the
    first item in the order of the survey that changed so much, with ratings before ranks; "" and
    0 where no answer changed, NaN where an answer is missing. A negative change of a rank is a
    rise: rank 1 is the best.
    """

    session: str
    topic: str
    model: str
    treatment: str
    participant: str
    items: int
    items_asked: int
    items_changed: int
    mean_change_c: float
    mean_change_p: float
    tau: float
    largest_item: str
    largest_change: float
    dri_before: float
    dri_after: float
    note: str

    def plain(self) -> dict[str, Any]:
        """As plain values, None where there is none."""
        row = asdict(self)
        for name, value in row.items():
            if isinstance(value, float) and isnan(value):
                row[name] = None
        return row
