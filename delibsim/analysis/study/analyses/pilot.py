"""How far changes spread: from the sessions of a pilot, or from the published study."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from delibsim.analysis.study.sample.mixed_design import column, settings_of
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.sample.silent_sessions import with_counterparts
from delibsim.analysis.study.study_table import BLOCK, StudyTable
from delibsim.domain.errors import WrongInput, unknown
from delibsim.measures.inference.mixed import MixedFit, mixed_fit, simulated_fits
from delibsim.measures.inference.power import Sample, Spread
from delibsim.measures.inference.random_effects import Term, estimable, independent, term

PUBLISHED_SAMPLE = Sample(topics=12, models=11, replicates=5)
WITHIN = 0.1117
"""Mean standard deviation of the change of DRI within blocks, published."""
HALF_INTERVAL = (0.076 + 0.004) / 2
"""Half the published interval of normative less none, a bootstrap over twelve topics."""
ERROR = 0.013
"""The published standard error of normative in the mixed model with slopes by model."""
PUBLISHED = (
    "published: SD of change .1746, within-block SD .1117; between topics from the interval of"
    " normative-none [-.004, .076], between models from its standard error .013 in the mixed model"
)
TERMS = {"topic": "effect by topic", "model": "effect by model", "pair": "topic x replicate"}
REFITS = 200


@dataclass(frozen=True)
class Assumed:
    """A spread and where it is from, in words; `intervals` are 95 % intervals of its members that
    were estimated, `sample` is the design that they were estimated on.
    """

    spread: Spread
    source: str
    sample: Sample
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def published() -> Assumed:
    """The spread of the published study, as far as what is published tells it.

    Twelve topics, eleven models, five replicates that share no seeds, so that nothing is known of
    what treatments of a replicate would share: `pair` is 0 and `residual` the whole within-block
    standard deviation. That between topics is what the interval leaves after sampling error (the
    bootstrap has the variance of twelve values divided by 12 * 12 / 11); that between models is
    what the standard error leaves.
    """
    topics, models, replicates = 12, 11, 5
    noise = 2 * WITHIN**2
    of_topics = (HALF_INTERVAL / 1.96) ** 2 * topics * topics / (topics - 1)
    between_topics = of_topics - noise / (models * replicates)
    between_models = (ERROR**2 - noise / (topics * models * replicates)) * models
    spread = Spread(math.sqrt(between_topics), math.sqrt(between_models), 0.0, WITHIN)
    return Assumed(spread, PUBLISHED, PUBLISHED_SAMPLE)


def of_pilot(study: StudyTable, outcome: str, between: Sequence[str], seed: int = 0) -> Assumed:
    """The spread of the change of an outcome in a pilot, by a mixed model of two treatments.

    The difference of the treatments has slopes by topic and by model; topics, models and blocks
    have intercepts, and so have topic and replicate together where treatments share seeds. A member
    that the design cannot tell is NaN, and named in `notes`. WrongInput where there is nothing to
    estimate from.
    """
    column_of_change = f"{outcome}_change"
    if column_of_change not in study.rows:
        changes = [name for name in map(str, study.rows) if name.endswith("_change")]
        known = [name.removesuffix("_change") for name in changes]
        raise unknown(f"outcome in {study.study}", outcome, known)
    sessions, notes = main_population(study)
    population = replace(study, rows=sessions)
    data = population.analysed(column_of_change)
    for name in between:
        if not (data["treatment"] == name).any():
            known = list(dict.fromkeys(data["treatment"].astype(str)))
            raise unknown(f"treatment with a change of {outcome} in {study.study}", name, known)
    data = data[data["treatment"].isin(list(between))]
    fixed, terms = _design(data, between[0], study.paired)
    kept, left_out = estimable(fixed, terms)
    if not {TERMS["topic"], TERMS["pair"]} & {one.name for one in kept}:
        raise WrongInput(
            f"{study.study} is too small to say how far changes spread: that needs at least two"
            " topics and two replicates. Leave it out and state the spread, such as --sd"
            " topic=.05,slope=.03,pair=.05,residual=.1"
        )
    fit = mixed_fit(column(data[column_of_change]), fixed, kept)
    if not fit.converged:
        raise WrongInput(f"the mixed model of {study.study} cannot be fitted: {fit.note}")
    for name in TERMS.values():
        if name in left_out:
            notes.append(f"{study.study} does not tell the SD of the {name}: {left_out[name]}.")
    unpaired = not study.paired
    if unpaired:
        notes.append("Treatments of the pilot share no seeds: pair is a part of the residual.")
    source = f"{study.study}: {len(data)} sessions of {between[0]} and {between[1]}, {outcome}"
    return Assumed(
        _spread(fit, unpaired),
        source,
        _sample(data),
        _intervals(fit, fixed, kept, seed),
        notes,
    )


def _design(data: pd.DataFrame, first: str, paired: bool) -> tuple[np.ndarray, list[Term]]:
    contrast = np.where(data["treatment"] == first, 0.5, -0.5)
    fixed = np.column_stack([np.ones(len(data)), contrast, settings_of(data)])
    fixed = fixed[:, independent(fixed)]
    blocks = with_counterparts(data)[list(BLOCK)].astype(str).agg("\n".join, axis=1)
    terms = [
        term("topic", data["topic"].astype(str)),
        term("model", data["model"].astype(str)),
        term("block", blocks),
        term(TERMS["topic"], data["topic"].astype(str), contrast),
        term(TERMS["model"], data["model"].astype(str), contrast),
    ]
    if paired:
        pairs = data["topic"].astype(str) + "\n" + data["replicate"].astype(str)
        terms.append(term(TERMS["pair"], pairs))
    return fixed, terms


def _spread(fit: MixedFit, unpaired: bool) -> Spread:
    sds = {}
    for member, name in TERMS.items():
        sds[member] = math.sqrt(fit.variances.get(name, math.nan))
    pair = 0.0 if unpaired else sds["pair"]
    return Spread(sds["topic"], sds["model"], pair, math.sqrt(fit.variances["residual"]))


def _intervals(
    fit: MixedFit,
    fixed: np.ndarray,
    terms: Sequence[Term],
    seed: int,
) -> dict[str, tuple[float, float]]:
    """95 % intervals by parametric bootstrap, of the members that were estimated."""
    again = simulated_fits(fit, fixed, terms, REFITS, seed)
    if not len(again.variances):
        return {}
    ends = np.sqrt(np.quantile(again.variances, [0.025, 0.975], axis=0))
    names = [*[one.name for one in terms], "residual"]
    found = {}
    for member, name in [*TERMS.items(), ("residual", "residual")]:
        if name in names:
            low, high = ends[:, names.index(name)]
            found[member] = (float(low), float(high))
    return found


def _sample(data: pd.DataFrame) -> Sample:
    cells = len(data[[*BLOCK, "treatment"]].drop_duplicates())
    return Sample(data["topic"].nunique(), data["model"].nunique(), round(len(data) / cells))
