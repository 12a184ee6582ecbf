"""Studies that are too small, unbalanced or constant: every number missing has its reason."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.result import Result
from delibsim.analysis.study.ablations import ablations, personas
from delibsim.analysis.study.aqua import icc
from delibsim.analysis.study.by_block import by_block, reasoning
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.counts import attrition
from delibsim.analysis.study.effect_sizes import covariance, equivalence, sizes
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.people import ceiling, convergence
from delibsim.analysis.study.report import findings, study_report
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.analysis.study.topic_means import (
    decomposition,
    noise_floor,
    opinion_change,
    rank_stability,
)

DRAWS = DrawCounts(permutations=100, resamples=100, parametric=0)
ANALYSES = (
    contrasts,
    by_block,
    reasoning,
    ablations,
    attrition,
    ceiling,
    convergence,
    covariance,
    decomposition,
    equivalence,
    icc,
    mixed,
    noise_floor,
    opinion_change,
    personas,
    rank_stability,
    sizes,
    specifications,
)
STUDY = synthetic_study(topics=3, models=2, replicates=2)
ROWS = STUDY.rows
CHANGES = [name for name in ROWS.columns if name.endswith(("_pre", "_post", "_change"))]


def results(analysis, study):
    """The tables of an analysis."""
    given = analysis(study, DRAWS)
    return [given] if isinstance(given, Result) else given


def varied(rows):
    """The rows beside others with personas."""
    return pd.concat([rows, rows.assign(persona="values", setting="other")], ignore_index=True)


BAD = {
    "one topic": ROWS[ROWS["topic"] == "topic0"],
    "one treatment": ROWS[ROWS["treatment"] == "none"],
    "one model": ROWS[ROWS["model"] == "model1"],
    "one session": ROWS.iloc[:1],
    "unbalanced": ROWS.iloc[:23],
    "constant": ROWS.assign(**dict.fromkeys(CHANGES, 0.25)),
    "missing in a condition": ROWS.assign(
        **{name: ROWS[name].where(ROWS["treatment"] != "basic") for name in CHANGES}
    ),
    "duplicated": pd.concat([ROWS, ROWS.iloc[:3]]),
    "nothing measured": ROWS.assign(**dict.fromkeys(CHANGES, np.nan)),
    "no columns of measures": ROWS.drop(columns=CHANGES),
    "design alone": ROWS[["topic", "model", "setting", "treatment", "replicate", "status"]],
    "debates": ROWS.drop(columns=CHANGES).assign(format="debate"),
    "empty": ROWS.iloc[:0],
    "nobody silent": ROWS[ROWS["treatment"] != "none"],
    "no rounds": ROWS.drop(columns="rounds"),
    "no families": ROWS.drop(columns=["family", "reasoning"]),
}
BAD["personas, missing in a condition"] = varied(BAD["missing in a condition"])
BAD["personas, unbalanced"] = varied(ROWS).iloc[:50]
ESTIMATES = (
    "slope gain mean difference estimate se low high p p_topics low_draws p_draws p_free p_tukey d"
).split()


@cache
def results_of(analysis, kind):
    """The tables of an analysis of a bad study, made once for all tests."""
    return results(analysis, replace(STUDY, rows=BAD[kind]))


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("analysis", ANALYSES)
def test_what_is_missing_has_a_reason(analysis, kind):
    for result in results_of(analysis, kind):
        assert result.given or (result.detail and result.rows.empty)
        assert set(result.rows.columns) == set(result.meanings)
        for name in ESTIMATES:
            if name in result.rows.columns:
                missing = result.rows[result.rows[name].isna()]
                assert (missing["note"] != "").all(), name


WHY = {
    "one treatment": {
        "one_treatment": (contrasts, covariance, equivalence, sizes, specifications, attrition),
        "no_normative": (reasoning,),
    },
    "one topic": {"nothing_varies": (ablations,), "one_level": (personas,)},
    "nobody silent": {"no_control": (noise_floor,)},
    "no rounds": {"no_rounds": (rank_stability,)},
    "no families": {"not_known": (reasoning,)},
    "nothing measured": {"no_value": (contrasts, icc, ceiling, opinion_change, noise_floor)},
    "debates": {"debates": (contrasts, icc, ceiling, ablations, decomposition)},
    "empty": {"no_sessions": (contrasts, convergence, personas, rank_stability)},
}
"""By the kind of study: the reason codes, and the analyses that give them."""


@pytest.mark.parametrize("kind", WHY)
def test_an_analysis_without_a_table_has_its_reason(kind):
    for code, analyses in WHY[kind].items():
        for analysis in analyses:
            for result in results_of(analysis, kind):
                assert (result.why_not, len(result.rows)) == (code, 0), analysis
                assert result.detail.endswith(".")


OF_MODELS = (ablations, attrition, covariance, equivalence, icc, noise_floor, reasoning, sizes)
"""Analyses of one population."""


@pytest.mark.parametrize("analysis", OF_MODELS)
def test_citizens_of_the_null_model_are_not_mixed_with_models(analysis):
    citizens = synthetic_study(topics=3, models=2, replicates=2, seed=5, null=True).rows
    both = pd.concat([varied(ROWS), citizens], ignore_index=True)
    (alone,) = results(analysis, replace(STUDY, rows=varied(ROWS)))
    (result,) = results(analysis, replace(STUDY, rows=both))
    pd.testing.assert_frame_equal(result.rows, alone.rows)
    assert "Sessions of citizens of the null model are not in this table: 36." in result.notes


@pytest.mark.parametrize("analysis", ANALYSES)
def test_neither_order_nor_columns_that_know_missing_values_change_anything(analysis):
    """The table of a study has pandas' own whole numbers, logicals and texts, with NA."""
    rows = varied(ROWS)
    rows.loc[3, ["dri_change", "dri_adjusted_change", "reasked", "temperature"]] = np.nan
    rows.loc[5, "reasked"] = 1
    others = rows.convert_dtypes().sample(frac=1, random_state=3)
    found = results(analysis, replace(STUDY, rows=rows))
    again = results(analysis, replace(STUDY, rows=others))
    for one, other in zip(found, again, strict=True):
        pd.testing.assert_frame_equal(one.rows, other.rows)


@pytest.mark.parametrize("kind", ["nothing measured", "debates", "empty"])
@pytest.mark.parametrize("analysis", ANALYSES)
def test_a_study_without_the_measures_gives_no_table(analysis, kind):
    if analysis is attrition:
        return  # it needs no measures
    for result in results_of(analysis, kind):
        estimates = result.rows.get("estimate", pd.Series(dtype=float))
        assert estimates.isna().all()
        if analysis is not specifications:
            assert result.why_not


SMALLEST = {
    "one session under none": ROWS[(ROWS["treatment"] != "none") | ROWS.index.isin([0])],
    "one session": ROWS.iloc[:1],
    "one session of each treatment": ROWS.iloc[:3],
}


@pytest.mark.parametrize("kind", SMALLEST)
def test_a_study_of_one_has_a_report(kind):
    found = findings(replace(STUDY, rows=SMALLEST[kind].reset_index(drop=True)), DRAWS)
    page = study_report(found, DRAWS).page()
    assert any("Noise floor" in sentence for sentence in page.summary)
    assert not any("(SD" in sentence for sentence in page.summary)
