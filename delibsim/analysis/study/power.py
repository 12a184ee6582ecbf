"""What a study of a given size would find, and how far changes spread in a pilot."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.blocks import of_contrast, placed
from delibsim.analysis.study.counts import left_out
from delibsim.analysis.study.factors import levels_named
from delibsim.analysis.study.mixed import column
from delibsim.analysis.study.sample import main_population
from delibsim.analysis.study.study_table import BLOCK, StudyTable
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.measures.inference.mixed import mixed_fit, simulated_fits
from delibsim.measures.inference.power import (
    TESTS,
    SampleSize,
    Spread,
    needed,
    power_of,
    smallest_effect,
)
from delibsim.measures.inference.reml import Term, estimable, independent, term

PUBLISHED_SAMPLE = SampleSize(topics=12, models=11, replicates=5)
OF_PUBLISHED = ("normative", "none")
WITHIN = 0.1117
"""Mean standard deviation of the change of DRI within blocks, published."""
HALF_INTERVAL = (0.076 + 0.004) / 2
"""Half the published interval of normative less none, a bootstrap over twelve topics."""
CORRELATION = 0.3
"""Assumed where nothing tells it: the published runs share no seeds. Studies that do have .2 to
.4.
"""
PUBLISHED = (
    "published: SD of change .1746, within-block SD .1117; between topics from the interval of"
    " normative-none [-.004, .076]; the correlation is assumed"
)
TOPIC, MODEL, DRAW = "effect by topic", "effect by model", "topic x replicate"
REFITS = 200
MEMBERS = ("topic", "residual", "correlation")


@dataclass(frozen=True)
class Assumed:
    """A spread and where it is from, in words; `intervals` are 95% intervals of its members that
    were estimated, `sample` is the design that they were estimated on.
    """

    spread: Spread
    source: str
    sample: SampleSize
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def published(between: Sequence[str] = OF_PUBLISHED) -> Assumed:
    """The spread of the published study, as far as what is published tells it; a note says so where
    another contrast is asked about.

    Twelve topics, eleven models, five replicates that share no seeds: `residual` is the whole
    within-block standard deviation, and nothing is known of the correlation. The spread between
    topics is what the interval leaves after sampling error (the bootstrap has the variance of
    twelve values divided by 12 * 12 / 11).
    """
    topics, models, replicates = 12, 11, 5
    of_topics = (HALF_INTERVAL / 1.96) ** 2 * topics * topics / (topics - 1)
    between_topics = of_topics - 2 * WITHIN**2 / (models * replicates)
    spread = Spread(math.sqrt(between_topics), WITHIN, CORRELATION)
    notes = []
    if tuple(between) != OF_PUBLISHED:
        a, b = between
        notes.append(f"That spread is of normative less none; that of {a} less {b} is not known.")
    return Assumed(spread, PUBLISHED, PUBLISHED_SAMPLE, notes=notes)


def of_pilot(study: StudyTable, outcome: str, between: Sequence[str], seed: int = 0) -> Assumed:
    """The spread of the change of an outcome in a pilot, by a mixed model of the differences of two
    treatments in a replicate of a block.

    Topics, models, and topic and replicate together have intercepts. A member that the design
    cannot tell is NaN, and named in `notes`. WrongInput where there is nothing to estimate from.
    """
    column_of_change = f"{outcome}_change"
    if column_of_change not in study.rows:
        changes = [name for name in map(str, study.rows) if name.endswith("_change")]
        known = [name.removesuffix("_change") for name in changes]
        raise unknown(f"outcome in {study.study}", outcome, known)
    sessions, notes = main_population(study)
    notes += left_out(study)
    population = replace(study, rows=sessions)
    data = population.analysed(column_of_change)
    own = of_contrast(data, *between)
    for name in between:
        if not (own["treatment"] == name).any():
            levels = [one for several in levels_named(data).values() for one in several]
            known = [*dict.fromkeys(data["treatment"].astype(str)), *levels]
            raise unknown(f"treatment with a change of {outcome} in {study.study}", name, known)
    data = own
    rows = differences(data, column_of_change, between)
    too_small = refused("pilot_too_small", study=study.study)
    if not (rows.groupby("topic")["replicate"].nunique() > 1).any():
        raise too_small
    fixed, terms = _design(rows)
    kept, untold = estimable(fixed, terms)
    if not {TOPIC, DRAW} & {one.name for one in kept}:
        raise too_small
    fit = mixed_fit(column(rows["difference"]), fixed, kept)
    if not fit.converged:
        raise WrongInput(f"the mixed model of {study.study} cannot be fitted: {fit.note}")
    for name in (TOPIC, DRAW):
        if name in untold:
            notes.append(f"{study.study} does not tell the SD of the {name}: {untold[name]}.")
    if not study.paired:
        notes.append("Treatments of the pilot share no seeds: those that do spread less.")
    source = f"{study.study}: {len(data)} sessions of {between[0]} and {between[1]}, {outcome}"
    names = [*[one.name for one in kept], "residual"]
    spread = _spreads(np.array([[fit.variances[name] for name in names]]), names)[0]
    again = simulated_fits(fit, fixed, kept, REFITS, seed).variances
    intervals = {}
    if len(again):
        for member, drawn in zip(MEMBERS, _spreads(again, names).T, strict=True):
            if not np.isnan(drawn).all():
                low, high = np.nanquantile(drawn, [0.025, 0.975])
                intervals[member] = (float(low), float(high))
    return Assumed(Spread(*map(float, spread)), source, _sample(data), intervals, notes)


def differences(data: pd.DataFrame, change: str, between: Sequence[str]) -> pd.DataFrame:
    """The difference of two treatments in every replicate of a block that has both, with the
    columns of the block, `replicate` and `difference`.
    """
    place = [*BLOCK, "replicate"]
    rows = placed(data).astype(dict.fromkeys(BLOCK, str))
    wide = rows.pivot_table(index=place, columns="treatment", values=change).reindex(
        columns=list(between)
    )
    found = (wide[between[0]] - wide[between[1]]).dropna()
    return found.rename("difference").reset_index()


def _design(rows: pd.DataFrame) -> tuple[np.ndarray, list[Term]]:
    own = rows["setting"].to_numpy()
    settings = [(own == setting).astype(float) for setting in dict.fromkeys(own)]
    fixed = np.column_stack([np.ones(len(rows)), *settings])
    fixed = fixed[:, independent(fixed)]
    draws = rows["topic"] + "\n" + rows["replicate"].astype(str)
    return fixed, [term(TOPIC, rows["topic"]), term(MODEL, rows["model"]), term(DRAW, draws)]


def _spreads(variances: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Topic, residual and correlation (n, 3) from the variances (n, terms) of differences."""
    known = dict(zip(names, variances.T, strict=True))
    missing = np.full(len(variances), math.nan)
    topic, draw = known.get(TOPIC, missing), known.get(DRAW, missing)
    within = known["residual"] + np.nan_to_num(draw)
    return np.column_stack([np.sqrt(topic), np.sqrt(within / 2), draw / within])


def _sample(data: pd.DataFrame) -> SampleSize:
    cells = len(data[[*BLOCK, "treatment"]].drop_duplicates())
    return SampleSize(data["topic"].nunique(), data["model"].nunique(), round(len(data) / cells))


TOPICS = (4, 6, 8, 12, 16, 24, 48)
REPLICATES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True)
class PowerQuestion:
    """An effect to be found: the difference of the changes of two treatments in an outcome."""

    effect: float
    power: float
    alpha: float
    outcome: str
    between: Sequence[str]


@dataclass(frozen=True)
class Found:
    """What a study finds by one of the `TESTS`: its power at the design asked for, the smallest
    effect that this design finds, and the replicates and the topics that the effect needs, None
    where no number is enough.
    """

    test: str
    power: float
    smallest: float
    replicates: int | None
    topics: int | None


@dataclass(frozen=True)
class PowerAnswer:
    """The answer to a question about power: by test, and power by topics and replicates.

    `grid` has, by (topics, replicates), the power of each test in the order of `TESTS`.
    """

    question: PowerQuestion
    assumed: Assumed
    sample: SampleSize
    tests: Sequence[Found]
    grid: dict[tuple[int, int], tuple[float, ...]]

    def plain(self) -> dict[str, Any]:
        """The answer as plain values, as `delibsim power --json` prints it."""
        sample = self.sample
        rows = []
        for (topics, replicates), powers in self.grid.items():
            named = {f"power_{test}": one for test, one in zip(TESTS, powers, strict=True)}
            rows.append({"topics": topics, "replicates": replicates, **named})
        return {
            **asdict(self.question),
            "components": {
                **asdict(self.assumed.spread),
                "source": self.assumed.source,
                "intervals": {name: list(ends) for name, ends in self.assumed.intervals.items()},
                "notes": list(self.assumed.notes),
            },
            "design": asdict(sample),
            "tests": [asdict(found) for found in self.tests],
            "grid": rows,
        }


def answer(question: PowerQuestion, assumed: Assumed, sample: SampleSize) -> PowerAnswer:
    """The answer to a question under what is assumed, for a design and for those around it."""
    found = [_found(test, question, assumed.spread, sample) for test in TESTS]
    grid = {}
    for topics in sorted({*TOPICS, sample.topics}):
        for replicates in sorted({*REPLICATES, sample.replicates}):
            size = replace(sample, topics=topics, replicates=replicates)
            powers = [_power(test, question, assumed.spread, size) for test in TESTS]
            grid[topics, replicates] = tuple(powers)
    return PowerAnswer(question, assumed, sample, found, grid)


def _power(test: str, question: PowerQuestion, spread: Spread, sample: SampleSize) -> float:
    return power_of(question.effect, spread, sample, test, question.alpha)


def _found(test: str, question: PowerQuestion, spread: Spread, sample: SampleSize) -> Found:
    power = _power(test, question, spread, sample)
    given = (question.effect, question.power, spread, sample, test, question.alpha)
    smallest = smallest_effect(question.power, spread, sample, test, question.alpha)
    return Found(
        test,
        power,
        smallest,
        needed("replicates", *given),
        needed("topics", *given),
    )
