"""The effect of one change over several runs that were forked alike: every run is one observation.

The effects of single runs are averaged, and their spread over runs gives the interval: how far a
change matters elsewhere than in one conversation (docs/forks.md).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from statistics import fmean
from typing import Any

from delibsim.analysis.fork_effects import EQUAL, ITEM, Effect
from delibsim.analysis.table import Table, number, numbers, texts

TOO_FEW_RUNS, OTHER_SURVEY = "too_few_runs", "other_survey"


@dataclass(frozen=True)
class OverRuns:
    """The effect of one change at one turn over runs, on one measure after it.

    `runs` were forked with this change, `n` of them have an effect; `effect` is the mean of these,
    `sd` their standard deviation, and `low` to `high` holds the mean with 95% confidence. `note` is
    the reason code where there is no effect or no interval.
    """

    at: int
    differs: str
    change: str
    measure: str
    runs: int
    n: int
    effect: float
    sd: float
    low: float
    high: float
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        found = {}
        for name, value in asdict(self).items():
            undefined = isinstance(value, float) and isnan(value)
            found[name] = None if undefined else value
        return found


def effects_over_runs(
    effects: Sequence[Effect], surveys: Mapping[str, str], comparable: Collection[str]
) -> list[OverRuns]:
    """The effects of changes that two runs or more were forked with, at the same turn.

    `surveys` are those of the runs; measures that are not `comparable` between surveys have no
    effect over runs with several. A run that was forked with several seeds has the mean of its
    effects.
    """
    alike: dict[tuple[int, str], list[Effect]] = {}
    for effect in effects:
        if effect.change:
            alike.setdefault((effect.at, effect.change), []).append(effect)
    found = []
    for own in alike.values():
        parents = dict.fromkeys(effect.parent for effect in own)
        if len(parents) < 2:
            continue
        one_survey = len({surveys[parent] for parent in parents}) == 1
        for measure in dict.fromkeys(effect.measure for effect in own):
            chosen = [effect for effect in own if effect.measure == measure]
            found.append(_over_runs(chosen, len(parents), one_survey or measure in comparable))
    return found


def _over_runs(effects: Sequence[Effect], runs: int, one_scale: bool) -> OverRuns:
    from delibsim.measures.inference.means import paired_difference  # numpy and scipy

    by_run: dict[str, list[float]] = {}
    for effect in effects:
        if one_scale and not isnan(effect.effect):
            by_run.setdefault(effect.parent, []).append(effect.effect)
    values = [fmean(own) for own in by_run.values()]
    mean = paired_difference(values, [0.0] * len(values))
    note = ""
    if not one_scale:
        note = OTHER_SURVEY
    elif len(values) < 2:
        note = TOO_FEW_RUNS
    elif mean.sd == 0:
        note = EQUAL
    first = effects[0]
    return OverRuns(
        at=first.at,
        differs=first.differs,
        change=first.change,
        measure=first.measure,
        runs=runs,
        n=mean.n,
        effect=mean.mean,
        sd=mean.sd,
        low=mean.low,
        high=mean.high,
        note=note,
    )


def tables_over_runs(
    found: Sequence[OverRuns], labels: Mapping[str, str], items: bool = False
) -> list[Table]:
    """A table for every change; answers to single items only if `items`."""
    groups: dict[tuple[int, str], list[OverRuns]] = {}
    for one in found:
        if items or not one.measure.startswith(ITEM):
            groups.setdefault((one.at, one.change), []).append(one)
    tables = []
    for own in groups.values():
        rows = []
        for one in own:
            interval = "-" if isnan(one.low) else f"{one.low:+.3f} to {one.high:+.3f}"
            row = [labels.get(one.measure, one.measure), number(one.effect, signed=True)]
            rows.append([*row, number(one.sd), interval, str(one.n)])
        columns = [*texts("after"), *numbers(["mean effect", "sd", "95% interval", "runs"])]
        title = f"over {own[0].runs} runs at {own[0].at}: {own[0].differs}"
        tables.append(Table(columns, rows, title))
    return tables


def notes_over_runs(found: Sequence[OverRuns]) -> list[str]:
    """Why effects or intervals over runs are missing, and what those that are there mean."""
    from delibsim.domain.reason import in_words

    notes = dict.fromkeys(one.note for one in found if one.note)
    lines = [f"no interval over runs: {in_words(note)}" for note in notes]
    if found:
        lines.append("over runs: every run is one observation; interval by t over the runs.")
    return lines
