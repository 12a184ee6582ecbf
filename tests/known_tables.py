"""How often what the tables of a study say holds in studies that are drawn from a known truth."""

from collections.abc import Callable

import numpy as np
from known_studies import (
    BLOCK,
    BLOCK_START,
    MODEL,
    TOPIC,
    TOPIC_START,
    TREATMENTS,
    WITHIN,
    Claims,
    Drawn,
    held,
    rejected,
    rows_of_index,
)

from delibsim.analysis.study.ablations import ablations, personas
from delibsim.analysis.study.aqua import aqua, icc
from delibsim.analysis.study.by_block import by_block, reasoning
from delibsim.analysis.study.effect_sizes import covariance, equivalence
from delibsim.analysis.study.people import ceiling
from delibsim.analysis.study.sample import PLANNED, OutcomeMeasure
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.topic_means import noise_floor, opinion_change
from delibsim.measures.inference.mixed import crossed_mean

MARGIN = 0.03
"""The smallest effect of interest of the test of equivalence."""


def of_blocks(one: Drawn, draws: DrawCounts) -> Claims:
    """The tables by model, by topic and without each topic."""
    rows = one.study.rows
    topics, models = sorted(set(rows["topic"])), sorted(set(rows["model"]))
    for table in by_block(one.study, draws):
        for row in rows_of_index(table):
            a, b = row["a"], row["b"]
            truth, here = one.with_models(a, b), np.nan
            if table.name == "by_topic":
                truth = one.here(a, b, topics.index(row["topic"]))
            elif table.name == "by_model":
                truth = one.with_models(a, b, models.index(row["model"]))
                here = 0 if one.same else np.nan
            yield from _said(table.name, row, truth, here)


def of_equivalence(one: Drawn, draws: DrawCounts) -> Claims:
    """The 90% interval, and treatments that are called equivalent and are not."""
    for row in rows_of_index(equivalence(one.study, draws, {OutcomeMeasure("dri"): MARGIN})):
        truth = one.with_models(row["a"], row["b"])
        yield from held("equivalence: 90% interval", row["low_90"], row["high_90"], truth)
        if abs(truth) >= MARGIN:
            yield "equivalence: called equivalent", bool(row["equivalent"])


def of_specifications(one: Drawn, draws: DrawCounts) -> Claims:
    """Every interval of the specification curve over topics like these, and the joint test."""
    curve, joint = specifications(one.study, draws)
    for row in curve.rows.to_dict("records"):
        of_topics = row["model"] != "mixed model" and not row["left_out"].startswith("model")
        if row["scale"] == "absolute" and of_topics:
            truth = one.with_models(row["a"], row["b"])
            yield from held("specifications", row["low"], row["high"], truth)
    for row in joint.rows.to_dict("records") if one.same else ():
        yield from rejected(f"joint test: {row['statistic']}", row["p"], 0)


def of_mixed(one: Drawn, draws: DrawCounts) -> Claims:
    """Over topics like these, over models like these, or both."""
    for row in mixed_of(one):
        a, b = row["a"], row["b"]
        truth = one.effect(a, b) if "model" in row["unit"] else one.with_models(a, b)
        if "topic" not in row["unit"]:
            truth += one.here(a, b) - one.with_models(a, b)
        yield from _said(f"mixed: {row['unit']}", row, truth)


def mixed_of(one: Drawn) -> list[dict]:
    """The rows of the table `mixed` on the index, from arrays: see `contrasts_of`."""
    cells = one.change.reshape(one.values.shape[1:]).mean(axis=2)
    places = np.indices(cells.shape[:2]).reshape(2, -1)
    rows = []
    for a, b in PLANNED:
        apart = cells[..., TREATMENTS.index(a)] - cells[..., TREATMENTS.index(b)]
        found = crossed_mean(apart.ravel(), *places)
        unit = " and ".join(("topic", "model")[kind] for kind in found.kinds)
        rows.append({"a": a, "b": b, "unit": unit, **vars(found.mean)})
    return rows


def of_noise(one: Drawn, draws: DrawCounts) -> Claims:
    """The mean change where nobody speaks, over topics like these."""
    truth = float(one.of_models[:, 0].mean())
    for row in rows_of_index(noise_floor(one.study, draws)):
        yield from _said("noise_floor", row, truth)


def of_reasoning(one: Drawn, draws: DrawCounts) -> Claims:
    """Models of a family against each other, over topics like these."""
    changes = one.of_models[:, TREATMENTS.index("normative")]
    pairs = len(changes) // 2
    truths = changes[1 : 2 * pairs : 2] - changes[0 : 2 * pairs : 2]
    for row in rows_of_index(reasoning(one.study, draws)):
        name = row["family"]
        truth = truths.mean() if name == "all" else truths[int(name.removeprefix("family"))]
        yield from _said("reasoning: all" if name == "all" else "reasoning", row, float(truth))


def of_icc(one: Drawn, draws: DrawCounts) -> Claims:
    """Where no effect varies: of two sessions of a topic as the design has them, of which some are
    of one model or one draw, and of two of different models and draws.
    """
    known = one.known
    others = known.models * known.replicates * len(TREATMENTS) - 1
    same_block = (known.replicates * len(TREATMENTS) - 1) / others
    same_draw = (known.models - 1) / others
    for row in rows_of_index(icc(one.study, draws)) if one.same else ():
        adjusted = row["adjusted_for"] != "nothing"
        of_model = 0.0 if adjusted else MODEL**2
        total = TOPIC**2 + BLOCK**2 + WITHIN**2 + of_model
        alike = TOPIC**2 + same_block * (BLOCK**2 + of_model)
        alike += same_draw * known.correlation * WITHIN**2
        apart = of_model / known.models
        name = "icc: adjusted" if adjusted else "icc: raw"
        truth = (alike - apart) / (total - apart)
        yield from held(name, row["low"], row["high"], truth)
        name = f"{name}, of different models"
        yield from held(name, row["low"], row["high"], TOPIC**2 / total)


def of_slopes(one: Drawn, draws: DrawCounts) -> Claims:
    """The raw slope, of which error of measurement is a part, and the corrected one."""
    error = (1 - one.known.correlation) / 2 * WITHIN**2
    start = TOPIC_START**2 + BLOCK_START**2
    for row in ceiling(one.study, draws).rows.to_dict("records"):
        if row["population"] in TREATMENTS:
            true = 0.0 if row["population"] == "none" else one.known.ceiling
            raw = (true * start - error) / (start + error)
            yield from held("ceiling: raw", row["low"], row["high"], raw)
            yield from held("ceiling: published", row["published_low"], row["published_high"], raw)
            ends = row["corrected_low"], row["corrected_high"]
            yield from held("ceiling: corrected", *ends, true)
            yield from rejected("ceiling: corrected p", row["corrected_p"], true)


def of_covariance(one: Drawn, draws: DrawCounts) -> Claims:
    """Analysis of covariance: over topics like these."""
    for row in rows_of_index(covariance(one.study, draws)):
        yield from _said("covariance", row, one.with_models(row["a"], row["b"]))


def of_other_measures(one: Drawn, draws: DrawCounts) -> Claims:
    """Tables of other measures and factors, which are given the values of the index."""
    rows = one.study.rows
    change = rows["dri_change"]
    spoken = rows["treatment"] != "none"
    rows = rows.assign(opinion_change_c_change=change, persona="none")
    rows.loc[rows["treatment"] == "normative", "persona"] = "some"
    rows["aqua.score"] = (2.5 + change).where(spoken)
    rows[["dri_adjusted_change", "diversity_pre", "diversity_change"]] = np.nan
    study = StudyTable("other", rows, (), one.study.paired)
    of_models = one.of_models.mean(axis=0)
    for row in opinion_change(study, draws).rows.to_dict("records"):
        if row["population"] in TREATMENTS and row["measure"] == "opinion_change_c":
            truth = one.mean[row["population"]] + of_models[TREATMENTS.index(row["population"])]
            yield from _said("opinion_change", row, truth)
    truth, here = one.with_models("normative", "basic"), 0 if one.same else np.nan
    spoken_only = rows[spoken].assign(treatment="spoken")
    factor = StudyTable("factor", spoken_only, (), one.study.paired)
    for row in personas(factor, draws).rows.to_dict("records"):
        if row["outcome"] == "dri_change":
            yield from _said("personas", row, truth, here)
    for row in ablations(factor, draws).rows.to_dict("records"):
        if row["factor"] == "persona" and row["outcome"] == "dri_change":
            sign = 1 if row["a"] == "some" else -1
            yield from _said("ablations", row, sign * truth, here)
    for row in aqua(study, draws).rows.to_dict("records"):
        if row["b"] == "basic":
            yield from _said("aqua", row, truth, here)
            yield from rejected("aqua: published p", row["p_pooled"], truth)


def _said(name: str, row: dict, truth: float, here: float = np.nan) -> Claims:
    """What a row with intervals and tests says; `here` is 0 where draws differ by chance alone."""
    yield from held(name, row["low"], row["high"], truth)
    if "published_low" in row:
        ends = row["published_low"], row["published_high"]
        yield from held(f"{name}: published", *ends, truth)
    yield from rejected(f"{name}: p", row.get("p", np.nan), truth)
    yield from rejected(f"{name}: p_draws", row.get("p_draws", np.nan), here)


OF_TABLES: dict[Callable[[Drawn, DrawCounts], Claims], int] = {
    of_mixed: 1,
    of_noise: 1,
    of_icc: 1,
    of_slopes: 2,
    of_covariance: 8,
    of_reasoning: 4,
    of_equivalence: 4,
    of_specifications: 8,
    of_blocks: 8,
    of_other_measures: 5,
}
"""The claims of every table, and by what the number of studies is divided: those that have many
rows, or take long, take fewer.
"""
