"""The effect of what forks have otherwise on the survey after them, in one run and over runs;
and the measures of a run turn by turn.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isnan, nan
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any, Literal

from delibsim.analysis.table import DisplayTable, number, numbers, texts
from delibsim.domain.reason import in_words
from delibsim.domain.run import Run
from delibsim.domain.survey import Phase
from delibsim.domain.text import quoted
from delibsim.domain.transcript import Statement

NO_CONTROL, TOO_FEW, EQUAL = "no_control", "too_few_replicates", "equal_differences"
ONCE = "people_once"
"""Why a fork of a conversation of people has no effect."""
HEADS = ("controls", "sd", "forks", "sd", "effect", "95% interval", "n")
BESIDE_PEOPLE = ("people", "forks", "sd", "n")
SHOWN = 240
"""Characters of a turn that are shown beside another."""
ITEM = "item "
"""What the name of a measure begins with that is the mean answer to one item."""
OF_RATERS = "proposition_wins"
"""The measure of raters of a debate, beside which the answers of listeners are shown too."""


@dataclass(frozen=True)
class ForkValues:
    """What one fork gave: where it branches, what differs ("" for a control), its number, and its
    values by measure, NaN where there is none.

    `seed` is that of its replicates; only forks of one seed are compared. `change` names what
    differs word for word, "" for a control: forks of several runs with one change share it.
    """

    session: str
    parent: str
    at: int
    cell: str
    differs: str
    seed: int
    replicate: int
    values: Mapping[str, float] = field(default_factory=dict)
    change: str = ""


@dataclass(frozen=True)
class ForkEffect:
    """The effect of one change at one turn of one run on one measure after it.

    `forks` and `controls` count those with a value; `mean` and `sd` are of the forks, `noise_mean`
    and `noise_sd` of the controls. `effect` is the mean difference over the `n` numbers that have
    both, from `low` to `high` with 95% confidence; `note` is the reason code where there is no
    effect or no interval. `people` is the value in a conversation of people that was forked.
    """

    parent: str
    at: int
    differs: str
    measure: str
    forks: int
    mean: float
    sd: float
    controls: int
    noise_mean: float
    noise_sd: float
    n: int
    effect: float
    low: float
    high: float
    note: str = ""
    change: str = ""
    seed: int = 0
    people: float = nan

    @property
    def beyond_noise(self) -> bool | None:
        """Whether the interval leaves 0 out; None without one."""
        return None if isnan(self.low) else not self.low <= 0 <= self.high

    def plain(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        plain = plain_of(self) | {"beyond_noise": self.beyond_noise}
        if self.note != ONCE:
            del plain["people"]
        return plain


def plain_of(one: Any) -> dict[str, Any]:
    """The members of a dataclass as plain values, None for NaN."""
    return {name: None if value != value else value for name, value in asdict(one).items()}


def effects_of_forks(
    forks: Iterable[ForkValues], people: Mapping[str, Mapping[str, float]] = MappingProxyType({})
) -> list[ForkEffect]:
    """The effect of every change at every place of every run, measure by measure, and last of each
    place its controls alone where nothing was changed there. Of conversations of `people` it has
    their values by measure instead, which can have no control.
    """
    places: dict[tuple[str, int, int], dict[str, list[ForkValues]]] = {}
    for fork in forks:
        place = places.setdefault((fork.parent, fork.at, fork.seed), {})
        place.setdefault(fork.cell if fork.differs else "", []).append(fork)
    found = []
    for cells in places.values():
        controls = cells.pop("", [])
        for own in cells.values() or [[]]:
            first = (own or controls)[0]
            for measure in _measures([*own, *controls]):
                effect = _effect(first, measure, own, controls)
                if first.parent in people:
                    value = people[first.parent].get(measure, nan)
                    effect = replace(effect, note=ONCE, people=value)
                found.append(effect)
    return found


def _measures(forks: Iterable[ForkValues]) -> list[str]:
    return list(dict.fromkeys(measure for fork in forks for measure in fork.values))


def _effect(
    first: ForkValues,
    measure: str,
    forks: Sequence[ForkValues],
    controls: Sequence[ForkValues],
) -> ForkEffect:
    """The effect on one measure, of forks that are alike."""
    from delibsim.measures.inference.means import paired_difference  # numpy and scipy

    own, noise = _valid(forks, measure), _valid(controls, measure)
    both = sorted(own.keys() & noise.keys())
    pairs = paired_difference(
        [own[replicate] for replicate in both], [noise[replicate] for replicate in both]
    )
    note = ""
    if not noise:
        note = NO_CONTROL
    elif len(both) < 2:
        note = TOO_FEW if forks else ""
    elif pairs.sd == 0:
        note = EQUAL
    of_forks = len(own), *mean_and_sd(own.values())
    of_controls = len(noise), *mean_and_sd(noise.values())
    of_pairs = pairs.n, pairs.mean, pairs.low, pairs.high, note
    what = first.parent, first.at, first.differs, measure
    return ForkEffect(*what, *of_forks, *of_controls, *of_pairs, first.change, first.seed)


def _valid(forks: Iterable[ForkValues], measure: str) -> dict[int, float]:
    """The values of a measure by number, without what is undefined."""
    found = {fork.replicate: fork.values.get(measure, nan) for fork in forks}
    return {replicate: value for replicate, value in found.items() if not isnan(value)}


def mean_and_sd(values: Iterable[float]) -> tuple[float, float]:
    """The mean and the standard deviation of values, NaN where they are too few."""
    found = list(values)
    return fmean(found) if found else nan, stdev(found) if len(found) > 1 else nan


def shown(effects: Sequence[ForkEffect], items: bool = False) -> list[ForkEffect]:
    """The effects to be printed: answers to single items only if `items`, or where nothing else is
    measured, as in a debate.
    """
    others = [one for one in effects if not one.measure.startswith(ITEM)]
    whole = {one.parent for one in others if one.measure != OF_RATERS}
    if items:
        return list(effects)
    return [one for one in effects if one.parent not in whole or not one.measure.startswith(ITEM)]


def tables_of_effects(
    effects: Sequence[ForkEffect], labels: Mapping[str, str], items: bool = False
) -> list[DisplayTable]:
    """A table for every place and change; `labels` name the measures."""
    groups: dict[tuple[str, int, str, int], list[ForkEffect]] = {}
    seeds: dict[tuple[str, int], set[int]] = {}
    for effect in shown(effects, items):
        place = (effect.parent, effect.at)
        groups.setdefault((*place, effect.differs, effect.seed), []).append(effect)
        seeds.setdefault(place, set()).add(effect.seed)
    found = []
    for (parent, at, differs, seed), own in groups.items():
        rows = [[labels.get(one.measure, one.measure), *_numbers(one)] for one in own if _told(one)]
        heads = BESIDE_PEOPLE if own[0].note == ONCE else HEADS
        title = f"{parent} at {at}: {differs or 'nothing but the seed'}"
        title += f" (seed {seed})" if len(seeds[parent, at]) > 1 else ""
        first = "measure" if heads == BESIDE_PEOPLE else "after"
        found.append(DisplayTable([*texts(first), *numbers(heads)], rows, title))
    return found


def _told(effect: ForkEffect) -> bool:
    """Whether there is anything to be told: beside people, where both have a value."""
    return effect.note != ONCE or not isnan(effect.people + effect.mean)


def words_beside(people: Run, fork: Run) -> DisplayTable:
    """What models say in a fork of a conversation, turn by turn, beside what people said there."""
    said = {one.turn.index: one for one in people.transcript}
    rows = []
    for one in fork.transcript:
        theirs = said.get(one.turn.index)
        if not one.given and (theirs is None or theirs.text != one.text):
            rows.append([f"{one.turn.index} {one.turn.shown}", *map(_cut, (theirs, one))])
    return DisplayTable(texts("turn", "people", "fork 1"), rows, "What is said")


def _cut(said: Statement | None) -> str:
    text = "" if said is None else " ".join(said.text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


def table_of_measure(effects: Iterable[ForkEffect], measure: str, label: str) -> DisplayTable:
    """One measure at every place and for every change: a row an effect."""
    own = [one for one in effects if one.measure == measure]
    several = len({one.seed for one in own}) > 1
    rows = []
    for one in own:
        differs = one.differs or "nothing but the seed"
        differs += f" (seed {one.seed})" if several else ""
        rows.append([one.parent, str(one.at), differs, *_numbers(one)])
    return DisplayTable(
        [*texts("run", "at", "what differs"), *numbers(HEADS)], rows, f"{label}, after"
    )


def _numbers(effect: ForkEffect) -> list[str]:
    """The cells of an effect below `HEADS`, or below `BESIDE_PEOPLE`."""
    if effect.note == ONCE:
        return [*map(number, (effect.people, effect.mean, effect.sd)), str(effect.forks)]
    cells = [number(effect.noise_mean), number(effect.noise_sd)]
    cells += [number(effect.mean), number(effect.sd), number(effect.effect, signed=True)]
    return [*cells, _interval(effect), str(effect.n)]


def _interval(one: "ForkEffect | OverRuns") -> str:
    return "-" if isnan(one.low) else f"{one.low:+.3f} to {one.high:+.3f}"


def unmeasured(forks: Sequence[ForkValues], study: str) -> list[str]:
    """What is said of forks of which nothing is measured, as those of debates that have no
    listeners and are not rated.
    """
    n = sum(not fork.values for fork in forks)
    if not n:
        return []
    rated = f"have them rated: delibsim rate ask {quoted(study)}"
    return [f"no measure of {n} of {len(forks)} forks: nobody is surveyed in them; {rated}"]


def notes_on_effects(effects: Sequence[ForkEffect]) -> list[str]:
    """Why effects or intervals are missing, and what those that are there mean."""
    notes = dict.fromkeys(effect.note for effect in effects if effect.note)
    lines = [f"no {'effect' if note == ONCE else 'interval'}: {in_words(note)}" for note in notes]
    if ONCE in notes:
        lines.append("measures of talk are of all turns, those of opinions of the survey after")
    if any(effect.beyond_noise is not None for effect in effects):
        lines.append(
            "effect: mean difference of forks and controls of one number, whose seeds are the same;"
            " interval by t over the n numbers. Many measures are looked at: one interval in"
            " twenty leaves 0 out by chance."
        )
    return lines


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
        return plain_of(self)


def effects_over_runs(
    effects: Sequence[ForkEffect], surveys: Mapping[str, str], comparable: Collection[str]
) -> list[OverRuns]:
    """The effects of changes that two runs or more were forked with, at the same turn.

    `surveys` are those of the runs; measures that are not `comparable` between surveys have no
    effect over runs with several. A run that was forked with several seeds has the mean of its
    effects.
    """
    alike: dict[tuple[int, str], list[ForkEffect]] = {}
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


def _over_runs(effects: Sequence[ForkEffect], runs: int, one_scale: bool) -> OverRuns:
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
    what = first.at, first.differs, first.change, first.measure
    return OverRuns(*what, runs, mean.n, mean.mean, mean.sd, mean.low, mean.high, note)


def tables_over_runs(
    found: Sequence[OverRuns], labels: Mapping[str, str], items: bool = False
) -> list[DisplayTable]:
    """A table for every change; answers to single items only if `items`."""
    groups: dict[tuple[int, str], list[OverRuns]] = {}
    for one in found:
        if items or not one.measure.startswith(ITEM):
            groups.setdefault((one.at, one.change), []).append(one)
    tables = []
    for own in groups.values():
        rows = []
        for one in own:
            row = [labels.get(one.measure, one.measure), number(one.effect, signed=True)]
            rows.append([*row, number(one.sd), _interval(one), str(one.n)])
        columns = [*texts("after"), *numbers(["mean effect", "sd", "95% interval", "runs"])]
        title = f"over {own[0].runs} runs at {own[0].at}: {own[0].differs}"
        tables.append(DisplayTable(columns, rows, title))
    return tables


def notes_over_runs(found: Sequence[OverRuns]) -> list[str]:
    """Why effects or intervals over runs are missing, and what those that are there mean."""
    notes = dict.fromkeys(one.note for one in found if one.note)
    lines = [f"no interval over runs: {in_words(note)}" for note in notes]
    if found:
        lines.append("over runs: every run is one observation; interval by t over the runs.")
    return lines


Source = Literal["survey before", "survey between", "probe", "survey after"]
BETWEEN: Source = "survey between"


@dataclass(frozen=True)
class MeasureAfter:
    """One measure after one turn: the mean and the standard deviation of `n` values, of which
    probes that are asked several times have several; `note` is the reason code of what is
    undefined.
    """

    measure: str
    after: int
    source: Source
    mean: float
    sd: float
    n: int
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        return plain_of(self)


@dataclass(frozen=True)
class AnswerAfter:
    """One person's answer to one item after one turn, or the reason why there is none."""

    after: int
    source: Source
    replicate: int
    participant: str
    item: str
    value: int | None
    missing: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True)
class SurveyPoint:
    """A survey of the course: after which turn, of which source, in which run and phase."""

    after: int
    source: Source
    run: Run
    phase: Phase
    replicate: int = 1


def readings(
    points: Sequence[SurveyPoint],
    values: Mapping[tuple[str, str], Mapping[str, tuple[float, str]]],
) -> list[MeasureAfter]:
    """Every measure at every point of the course; `values` gives value and note by measure for
    every run and phase.
    """
    groups: dict[tuple[str, int, Source], list[tuple[float, str]]] = {}
    for point in points:
        for measure, value in values.get((point.run.session.id, point.phase), {}).items():
            groups.setdefault((measure, point.after, point.source), []).append(value)
    found = []
    for (measure, after, source), own in groups.items():
        known = [value for value, _ in own if not isnan(value)]
        note = "; ".join(dict.fromkeys(note for _, note in own if note))
        found.append(MeasureAfter(measure, after, source, *mean_and_sd(known), len(known), note))
    return found


def answers(points: Iterable[SurveyPoint]) -> Iterator[AnswerAfter]:
    """Everybody's answer to every item at every point, missing ones with the reason."""
    for point in points:
        for response in point.run.responses:
            if response.phase != point.phase:
                continue
            for item in point.run.session.survey.items:
                value, why = response.answers.get(item.id), ""
                if value is None:
                    why = str(response.missing.get(item.id, "no reason was recorded"))
                place = point.after, point.source, point.replicate
                yield AnswerAfter(*place, response.participant, item.id, value, why)


def course_table(found: Sequence[MeasureAfter], labels: Mapping[str, str]) -> DisplayTable:
    """A row for every survey of the course, a column for every measure; mean answers to single
    items only where nothing else is measured, as in a debate.
    """
    known = list(dict.fromkeys(reading.measure for reading in found))
    measures = [measure for measure in known if not measure.startswith(ITEM)] or known
    rows: dict[tuple[int, Source], dict[str, float]] = {}
    for reading in found:
        rows.setdefault((reading.after, reading.source), {})[reading.measure] = reading.mean
    cells = []
    for (after, source), own in sorted(rows.items(), key=_in_course):
        shown = [number(own.get(measure, nan)) for measure in measures]
        cells.append([str(after), source, *shown])
    heads = [labels.get(measure, measure) for measure in measures]
    return DisplayTable([*texts("after turn", "asked in"), *numbers(heads)], cells)


def answer_tables(found: Sequence[AnswerAfter]) -> Iterator[DisplayTable]:
    """For every participant a row an item and a column a survey of the course; of probes that were
    asked several times the first.
    """
    first = [one for one in found if one.replicate == 1]
    places = {(one.after, one.source): None for one in first}
    points = [place for place, _ in sorted(places.items(), key=_in_course)]
    for name in dict.fromkeys(one.participant for one in first):
        cells: dict[str, dict[tuple[int, Source], str]] = {}
        for one in first:
            if one.participant == name:
                shown = "-" if one.value is None else str(one.value)
                cells.setdefault(one.item, {})[one.after, one.source] = shown
        rows = []
        for item, own in cells.items():
            rows.append([item, *(own.get(point, "-") for point in points)])
        heads = [_BRIEF.get(source, str(after)) for after, source in points]
        yield DisplayTable([*texts("item"), *numbers(heads)], rows, name)


_BRIEF = {"survey before": "before", "survey after": "after"}
SURVEYS_IN_ORDER = {"survey before": 0, "survey between": 1, "probe": 2, "survey after": 3}


def _in_course(entry: tuple[tuple[int, Source], Any]) -> tuple[int, int]:
    """Where a survey stands in the course: by turn, the surveys of the run first and last."""
    (after, source), _ = entry
    return after, SURVEYS_IN_ORDER[source]
