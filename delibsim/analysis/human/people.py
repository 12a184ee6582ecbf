"""The human reference: every measure of real citizen deliberations, and how sure its change is.

Definitions and published values: docs/human-reference.md. Groups are the benchmark's topics
(participants of all deliberations of one survey pooled) or the single deliberations (cases).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from delibsim.domain.measure import CHANGE, HEADINGS, MEASURES, SCORE_PHASES
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Phase, Survey, Topic
from delibsim.measures import agreement, dri
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.library import Library, package_data

if TYPE_CHECKING:
    import pandas as pd


BENCHMARK = (
    "fnqcj",
    "uppsala_speaks",
    "fremantle",
    "ccps",
    "zukunft",
    "energy_futures",
    "forestera",
    "auscj",
    "biobanking_wa",
    "swiss_health",
    "bep",
    "acp",
)
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


FIGURES = Path(__file__).parents[2] / "data" / "human_reference.json"


@cache
def _document() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def reference(topic_id: str) -> dict[str, Any] | None:
    """What `delibsim list people --json` gives for a topic; None where no real people are known.

    The keys are id, n, pre, post, change, and notes where a measure is undefined.

    >>> round(reference("ccps")["change"]["dri"], 3)
    0.104
    """
    for group in _document()["groups"]:
        if group["id"] == topic_id:
            return {**group, **{phase: dict(group[phase]) for phase in SCORE_PHASES}}
    return None


def of_topics(topic_ids: Sequence[str], measure: str, phase: str) -> list[float]:
    """People's values of a measure in a phase on topics, NaN where it is undefined or unknown.

    They are those of the instruments that people answered.

    >>> [round(value, 3) for value in of_topics(["ccps", "tea"], "dri", "change")]
    [0.104, nan]
    """
    found = []
    for topic in topic_ids:
        value = (reference(topic) or {}).get(phase, {}).get(measure)
        found.append(nan if value is None else value)
    return found


def groups_of_five(topic_id: str) -> dict[str, Any] | None:
    """The same people dealt into groups of five; None where no real people are known.

    By measure and phase: the mean over partitions, and its standard deviations.

    >>> groups_of_five("ccps")["groups"]
    6
    """
    for group in _document()["groups_of_five"]["topics"]:
        if group["id"] == topic_id:
            return dict(group)
    return None


def ceiling_of_five() -> dict[str, Any]:
    """The change of DRI on DRI before over all groups of five of the twelve topics.

    The keys are those of `groups_of_five.GroupCeiling`, and `intercept`: with it the line goes
    through the means of all groups.

    >>> ceiling_of_five()["n"]
    77
    """
    five = _document()["groups_of_five"]
    fit, means = five["ceiling"], five["mean_of_groups"]["dri"]
    intercept = means["change"]["mean"] - fit["beta"] * means["pre"]["mean"]
    return {**fit, "intercept": intercept}


def human_value(
    topic_id: str,
    measure: str,
    phase: str,
    survey_id: str,
) -> tuple[float | None, str]:
    """People's value of a measure on a topic in a phase (pre, post, change); None with a reason.

    `survey_id` is that of the survey it is to be compared on, "" where it is unknown.

    >>> human_value("ccps", "diversity", "pre", "ccps")
    (None, 'another_instrument')
    """
    people = reference(topic_id)
    if people is None:
        return None, "no_people_on_this_topic"
    if survey_id not in ("", topic_id, f"deliberr.{topic_id}"):
        return None, "another_survey"
    if withheld(topic_id, measure, survey_id):
        return None, "another_instrument" if survey_id else "instrument_unknown"
    value = people.get(phase, {}).get(measure)
    if value is None:
        return None, people.get("notes", {}).get(measure, "not_measured_in_people")
    return value, ""


def withheld(topic_id: str, measure: str, survey_id: str) -> bool:
    """Whether people's value is not shown because they answered another instrument.

    So it is for every measure that is not comparable between instruments, unless the survey is
    the one people answered.

    >>> withheld("ccps", "diversity", "ccps"), withheld("ccps", "diversity", "deliberr.ccps")
    (True, False)
    """
    own = survey_id == f"deliberr.{topic_id}"
    return not own and measure in MEASURES and not MEASURES[measure].comparable


def people_of(session: Session) -> dict[str, Any] | None:
    """The human reference of a session, as `reference` gives it, with what may be shown beside it.

    None unless topic and survey are those that people deliberated on, or our short form, word for
    word. On the short form a measure that is not comparable between instruments is None, and its
    note says `another_instrument`. Figures: docs/human-reference.md.
    """
    topic, survey = session.topic, session.survey
    people = reference(topic.id)
    if people is None or not _known_to_people(topic, survey):
        return None
    notes = dict(people.get("notes", {}))
    for phase in SCORE_PHASES:
        for measure in people[phase]:
            if withheld(topic.id, measure, survey.id):
                people[phase][measure] = None
                notes[measure] = "another_instrument"
    return people | {"notes": notes}


def on_their_instrument(session: Session) -> bool:
    """Whether the survey of a session is the one that people answered on its topic."""
    return session.survey.id == f"deliberr.{session.topic.id}"


@cache
def _known_to_people(topic: Topic, survey: Survey) -> bool:
    """Whether people deliberated on this topic and answered this survey, or its short form."""
    if survey.id not in (topic.id, f"deliberr.{topic.id}"):
        return False
    ours = Library(package_data("topics").parent)
    if topic != ours.topic(topic.id):
        return False
    return survey.id != topic.id or survey == ours.survey(survey.id)


KEYS = ("topic", "measure", "phase")
"""Columns by which people's values are found."""
COLUMNS = ("people", "people_n", "people_of_five", "people_of_five_sd", "people_note")
"""Columns that are added."""


def add_human_reference(table: "pd.DataFrame") -> "pd.DataFrame":
    """The table with what real people did on the same topic in the same measure and phase.

    Needs columns `topic`, `measure` and `phase` (pre, post, change); uses `survey` where there is
    one. Adds `people` (all participants of the topic pooled), `people_n`, `people_of_five` (mean
    over groups of five, for the measures that have it), `people_of_five_sd` (between those groups)
    and `people_note`: why there is no value. Raises ValueError where a column is missing.
    """
    import pandas as pd  # which no run needs

    lacking = [name for name in KEYS if name not in table.columns]
    if lacking:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    surveys = table["survey"] if "survey" in table.columns else [""] * len(table)
    keys = zip(*(table[name] for name in KEYS), surveys, strict=True)
    rows = [_people(*key) for key in keys]
    joined = pd.DataFrame(rows, columns=list(COLUMNS), index=table.index)
    return pd.concat([table, joined], axis=1)


def _people(topic: str, measure: str, phase: str, survey: str) -> tuple[float | str, ...]:
    value, note = human_value(topic, measure, phase, survey)
    people = reference(topic)
    n = people["n"] if people else math.nan
    if value is None:
        return math.nan, n, math.nan, math.nan, note
    five: dict[str, Any] = (groups_of_five(topic) or {}).get(measure, {}).get(phase, {})
    return value, n, five.get("mean", math.nan), five.get("between_groups", math.nan), ""
