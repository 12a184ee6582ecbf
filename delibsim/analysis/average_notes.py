"""What must be known of the averages of a study before they are read, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from delibsim.analysis.average_tables import label_of, reasons_in_words
from delibsim.analysis.averages import Averages, Levels
from delibsim.analysis.conditions import NAMED, ByCondition, people_in_words
from delibsim.analysis.run.summary import FLAG
from delibsim.domain.condition import Condition
from delibsim.domain.effect import Drop, NoEffect
from delibsim.domain.measure import Measure
from delibsim.domain.reason import in_words
from delibsim.domain.run import Session
from delibsim.domain.text import counted

WEIGHTS = "Every condition (topic, model, treatment, settings) weighs alike."
OF_PLANNED = "n/m: n of m planned sessions have a value."
NULL = "the citizen, a null model"
SD = "SD: of all sessions."


def sessions_in_words(found: ByCondition, held: int, planned: int) -> str:
    """How many of the planned sessions were held, and which of them are those of the null model."""
    told = f"{held} of {counted(planned, 'session')} held"
    everybody = {mean.condition for mean in found.means}
    if not held or not found.null:
        return told
    if everybody <= found.null:
        return f"{told}, all by {NULL}"
    return f"{told}; the columns of the null citizen are those of {NULL}"


def design_notes(
    found: ByCondition,
    averages: Averages,
    without_effect: Sequence[NoEffect],
    dropped: Sequence[Drop],
) -> list[str]:
    """What a study varies without effect, and which of its conditions are the same as others."""
    notes = []
    for one in without_effect:
        values = _listed(one.values, "value")
        models = _listed(one.models, "model")
        notes.append(f"{one.setting} ({values}) has no effect on {models} {one.where}".rstrip())
    equal = {mean.condition: mean.equal_to for mean in found.means if mean.equal_to}
    alike = {mean.condition: mean.asked_like for mean in found.means if mean.asked_like}
    notes += _pairs(equal, averages, "equal {} by construction")
    notes += map(str, dropped)
    notes += _pairs(alike, averages, "were asked like {}")
    return [f"note: {note}" for note in notes]


def _pairs(others: Mapping[Condition, Condition], averages: Averages, what: str) -> Iterator[str]:
    """How many conditions of some levels are like others, and of which levels these are."""
    of_levels = Counter(averages.levels.values())
    pairs: Counter[tuple[Levels, Levels]] = Counter()
    for condition, other in others.items():
        pairs[averages.levels[condition], averages.levels[other]] += 1
    if len(pairs) > NAMED:
        yield f"{len(others)} of {of_levels.total()} conditions {what.format('another')}"
        return
    for (levels, other_levels), n in pairs.items():
        some = f"{n} of {counted(of_levels[levels], 'condition')} of {', '.join(levels)}"
        which = "others of it" if levels == other_levels else f"those of {', '.join(other_levels)}"
        yield f"{some} {what.format(which)}"


def _listed(names: Sequence[str], noun: str) -> str:
    """Some names, or their number where they are many."""
    return ", ".join(names) if len(names) <= NAMED else counted(len(names), noun)


def average_notes(
    found: ByCondition,
    averages: Averages,
    shown: Sequence[str],
    declared: Mapping[str, Measure],
    plans: Sequence[Session],
) -> list[str]:
    """What must be known of averages: their weights, people, and all that is missing.

    `shown` are the measures that are printed, `declared` the measures of the scorers by id.
    """
    rows = [row for row in averages.rows if row.measure in shown]
    nothing = len({(row.population, row.levels) for row in rows}) < len(averages.cells)
    partial = nothing or any(row.valid < row.planned for row in rows)
    notes = [f"{WEIGHTS} {OF_PLANNED}" if partial else WEIGHTS]
    notes += people_in_words(plans)
    notes += _without_value(averages, shown, declared)
    notes += _gaps(found)
    notes += _flagged(found)
    return notes


def _without_value(
    averages: Averages, shown: Sequence[str], declared: Mapping[str, Measure]
) -> Iterator[str]:
    """Why sessions have no value, one sentence for all measures that lack the same."""
    patterns = []
    for measure in shown:
        missing: Counter[str] = Counter()
        for phases in averages.of(measure).values():
            missing.update(min(phases.values(), key=lambda row: row.valid).missing)
        if missing:
            patterns.append((sorted(missing.items()), measure))
    patterns.sort(key=lambda pattern: pattern[0])
    for missing_of_all, group in groupby(patterns, key=lambda pattern: pattern[0]):
        labels = [label_of(measure, declared) for _, measure in group]
        which = ", ".join(labels[:NAMED])
        if len(labels) == len(shown) > 1:
            which = "any measure"
        elif len(labels) > NAMED:
            which = f"{labels[0]} and {counted(len(labels) - 1, 'other measure')}"
        yield f"no value of {which}: {reasons_in_words(dict(missing_of_all))}"


def _gaps(found: ByCondition) -> Iterator[str]:
    """What is missing from runs, by reason."""
    n: Counter[tuple[str, str]] = Counter()
    runs: Counter[tuple[str, str]] = Counter()
    for gap in found.gaps:
        n[gap.what, gap.reason] += gap.n
        runs[gap.what, gap.reason] += gap.runs
    for (what, reason), lacking in n.items():
        among = counted(runs[what, reason], "session")
        noun = what.removesuffix("s")
        yield f"missing: {counted(lacking, noun)} in {among}: {in_words(reason)}"


def _flagged(found: ByCondition) -> list[str]:
    """How many statements are flagged, by kind."""
    flagged: dict[str, float] = {}
    for mean in found.means:
        if mean.measure.startswith(FLAG) and mean.mean:
            kind = mean.measure.removeprefix(FLAG)
            flagged[kind] = flagged.get(kind, 0) + mean.mean * mean.valid
    if not flagged:
        return []
    kinds = ", ".join(f"{kind} ({n:.0f})" for kind, n in flagged.items())
    return [f"statements flagged, to be looked at: {kinds}"]
