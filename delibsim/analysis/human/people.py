"""The human reference: every measure of real citizen deliberations, and how sure its change is.

Definitions and published values: docs/human-reference.md. Groups are the benchmark's topics
(participants of all deliberations of one survey pooled) or the single deliberations (cases).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from delibsim.domain.data import read_data
from delibsim.domain.score import CHANGE, HEADINGS, MEASURES
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Phase
from delibsim.measures import agreement, dri
from delibsim.store.instruments.answers import Answers

BENCHMARK: tuple[str, ...] = read_data("human_published.yaml")["benchmark"]
"""The surveys that are the benchmark's topics, in the order of its tables."""

_KNOWN = [known for known in MEASURES.values() if known.human_reference]

BEFORE_AND_AFTER_IDS = tuple(known.id for known in _KNOWN if "pre" in known.phases)
"""What is measured before and after; its change is post - pre."""

CHANGES = (*BEFORE_AND_AFTER_IDS, *(known.id for known in _KNOWN if known.phases == CHANGE))
"""What there is a change of."""

RESAMPLES = 10_000
BOOTSTRAP = seed_of("human", "bootstrap", "topics")
"""The seed of the bootstrap over topics."""


class NoFormula(LookupError):
    """A measure is declared to have a human reference, and nothing here computes it."""


@dataclass(frozen=True)
class Reference:
    """The measures of one group of `n` people, by name; `n` is 0 for a mean.

    An undefined value is NaN, with the reason code of the scorers in `notes` (docs/measures.md),
    after its phase where there is one.
    """

    id: str
    n: int
    pre: Mapping[str, float]
    post: Mapping[str, float]
    change: Mapping[str, float]
    notes: Mapping[str, str]


@dataclass(frozen=True)
class Ceiling:
    """Least squares of the change of DRI on DRI before, over topics, with plain errors and t(df).

    It says whether topics that start high gain less.
    """

    beta: float
    se: float
    r2: float
    p: float
    df: int


def by_topic(answers: Sequence[Answers], scales: Mapping[str, tuple[int, int]]) -> list[Reference]:
    """One reference a survey, the benchmark's topics first and in their order.

    `scales` are the surveys' lowest and highest rating.
    """
    return [_reference(own.survey, own, own, scales[own.survey]) for own in _ordered(answers)]


def by_case(answers: Sequence[Answers], scales: Mapping[str, tuple[int, int]]) -> list[Reference]:
    """One reference a deliberation, named survey/case, in the order of `by_topic` and the data."""
    found = []
    for own in _ordered(answers):
        for case in dict.fromkeys(own.cases):
            name = f"{own.survey}/{case}"
            found.append(_reference(name, own.of_case(case), own, scales[own.survey]))
    return found


def of_benchmark(references: Sequence[Reference]) -> list[Reference]:
    """Those references, by topic or by case, that belong to the benchmark's topics."""
    return [reference for reference in references if reference.id.split("/")[0] in BENCHMARK]


def missing_topics(references: Sequence[Reference]) -> list[str]:
    """The benchmark's topics of which there is no reference."""
    present = {reference.id.split("/")[0] for reference in references}
    return [topic for topic in BENCHMARK if topic not in present]


def mean_of(references: Sequence[Reference]) -> Reference:
    """The unweighted mean over the benchmark's groups.

    NaN where a measure of any of them is undefined, or one of the twelve topics is missing.
    """
    groups = of_benchmark(references)
    if missing := missing_topics(groups):
        reason = f"no answers of {', '.join(missing)}"
        none = dict.fromkeys(BEFORE_AND_AFTER_IDS, np.nan)
        notes = dict.fromkeys(CHANGES, reason)
        return Reference("mean", 0, none, none, dict.fromkeys(CHANGES, np.nan), notes)
    notes = {name: f"undefined in {group.id}" for group in groups for name in group.notes}
    return Reference(
        id="mean",
        n=0,
        pre=_means([group.pre for group in groups]),
        post=_means([group.post for group in groups]),
        change=_means([group.change for group in groups]),
        notes=notes,
    )


def _means(groups: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over groups that all have it."""
    found = {}
    for name in groups[0]:
        found[name] = float(np.mean([group[name] for group in groups]))
    return found


def interval_of_mean_change(
    references: Sequence[Reference], measure: str = "dri", level: float = 0.95
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean change over topics.

    Topics are resampled with replacement; the seed is `BOOTSTRAP`.
    """
    changes = np.array([reference.change[measure] for reference in references])
    draws = np.random.default_rng(BOOTSTRAP).integers(len(changes), size=(RESAMPLES, len(changes)))
    low, high = np.quantile(changes[draws].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def ceiling(references: Sequence[Reference]) -> Ceiling:
    """The ceiling over topics; NaN where all start alike or there are fewer than three."""
    from scipy.stats import linregress  # scipy takes half a second to import

    before = [reference.pre["dri"] for reference in references]
    if len(set(before)) < 2 or len(before) < 3:
        return Ceiling(np.nan, np.nan, np.nan, np.nan, len(before) - 2)
    fit = linregress(before, [reference.change["dri"] for reference in references])
    return Ceiling(
        beta=float(fit.slope),
        se=float(fit.stderr),
        r2=float(fit.rvalue**2),
        p=float(fit.pvalue),
        df=len(references) - 2,
    )


def _ordered(answers: Sequence[Answers]) -> list[Answers]:
    position = {survey: k for k, survey in enumerate(BENCHMARK)}
    return sorted(answers, key=lambda own: position.get(own.survey, len(position)))


def _reference(name: str, group: Answers, survey: Answers, scale: tuple[int, int]) -> Reference:
    """The measures of a group within its survey.

    All who answered the survey are the population of the standardised diversity.
    """
    phases: dict[Phase, dict[str, float]] = {}
    notes: dict[str, list[str]] = {}
    for phase in PHASES:
        phases[phase], reasons = _of_phase(group, survey, phase, scale)
        for measure, reason in reasons.items():
            notes.setdefault(measure, []).append(f"{HEADINGS[phase]}: {reason}")
    change, reasons = _change(group, phases["pre"], phases["post"])
    for measure, reason in reasons.items():
        notes.setdefault(measure, []).append(reason)
    joined = {measure: "; ".join(own) for measure, own in notes.items()}
    n = len(group.participants)
    return Reference(name, n, phases["pre"], phases["post"], change, joined)


def _of_phase(
    group: Answers, survey: Answers, phase: Phase, scale: tuple[int, int]
) -> tuple[dict[str, float], dict[str, str]]:
    rated, ranked = group.considerations[phase], group.preferences[phase]
    both = np.hstack([rated, ranked])
    population = np.hstack([survey.considerations[phase], survey.preferences[phase]])
    lows = np.repeat([scale[0], 1], [rated.shape[1], ranked.shape[1]])
    highs = np.repeat([scale[1], ranked.shape[1]], [rated.shape[1], ranked.shape[1]])
    index = partial(dri.why_undefined, rated, ranked)
    apart, alike = agreement.why_diversity_undefined, agreement.why_undefined
    standardised = agreement.diversity_standardised(both, population)
    normalised = agreement.diversity_range_normalised(both, lows, highs)
    found: Formulas = {
        "dri": (dri.dri(rated, ranked), index),
        "dri_adjusted": (dri.dri_adjusted(rated, ranked), index),
        "diversity": (agreement.diversity(both), partial(apart, both)),
        "diversity_standardised": (standardised, partial(apart, both, population)),
        "diversity_range_normalised": (normalised, partial(apart, both)),
        "consideration_agreement": (agreement.agreement(rated), partial(alike, rated)),
        "preference_agreement": (agreement.agreement(ranked), partial(alike, ranked)),
    }
    _refuse_without_formula(BEFORE_AND_AFTER_IDS, found)
    return _told(found)


def _change(
    group: Answers, pre: Mapping[str, float], post: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, str]]:
    rated = [group.considerations[phase] for phase in PHASES]
    ranked = [group.preferences[phase] for phase in PHASES]
    indices = [
        dri.why_undefined(group.considerations[phase], group.preferences[phase]) for phase in PHASES
    ]
    no_index = indices[0] or indices[1] or "zero_denominator"
    moved, stable = agreement.why_opinion_change_undefined, agreement.why_rank_stability_undefined
    found: Formulas = {
        "dri_relative": (dri.relative_change(pre["dri"], post["dri"]), lambda: no_index),
        "opinion_change_c": (agreement.opinion_change(*rated), partial(moved, *rated)),
        "opinion_change_p": (agreement.opinion_change(*ranked), partial(moved, *ranked)),
        "rank_stability": (agreement.rank_stability(*ranked), partial(stable, *ranked)),
    }
    own, reasons = _told(found)
    change = {name: post[name] - pre[name] for name in BEFORE_AND_AFTER_IDS} | own
    _refuse_without_formula(CHANGES, change)
    return change, reasons


def _refuse_without_formula(measures: Sequence[str], values: Mapping[str, Any]) -> None:
    """Raise NoFormula for a measure that is declared with a human reference and not computed."""
    missing = [name for name in measures if name not in values]
    if missing:
        raise NoFormula(
            f"the measure '{missing[0]}' is declared with human_reference=True, and"
            " delibsim/analysis/human/people.py has no formula for it: add one to _of_phase or"
            " _change"
        )


Formulas = Mapping[str, tuple[Any, Callable[[], str]]]
"""By measure: its value, and what says why it is undefined."""


def _told(found: Formulas) -> tuple[dict[str, float], dict[str, str]]:
    """The values, and the reasons of those that are undefined."""
    values = {name: float(np.asarray(value)) for name, (value, _) in found.items()}
    return values, {name: found[name][1]() for name, value in values.items() if np.isnan(value)}
