"""The ceiling: whether groups that begin with a high index gain less."""

from typing import Any

from delibsim.analysis.human.published import ERROR, GROUPS, R2, SLOPE
from delibsim.analysis.human.reference import ceiling_of_five
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.slopes import (
    FEW_CLUSTERS,
    NOISE,
    NOT_CORRECTED,
    as_table,
    beside_none,
    of_people,
    row_of,
    slope_of,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.populations import (
    FIVES,
    PEOPLE,
    main_population,
    notes_of,
    populations,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.resampling import Line

BEFORE, CHANGE = "dri_pre", "dri_change"
PUBLISHED = (
    "Published for language models, slope (standard error) and R squared: all -0.498 (0.067), 0.36;"
    " none -0.285 (0.029), 0.19; basic -0.616 (0.114), 0.43; normative -0.585 (0.077), 0.48."
)


def ceiling(study: StudyTable, draws: Draws) -> Result:
    """The table `ceiling`; nothing in it is drawn at random, and `draws` is not used."""
    code, detail = why_no_value(study, (BEFORE, CHANGE))
    rows: list[dict[str, Any]] = []
    if not code:
        rows = [slope_of(population, BEFORE, CHANGE) for population in populations(study)]
        rows = [*beside_none(rows), of_people("dri", PEOPLE), _of_five()]
    return make_table(
        "study/ceiling",
        as_table(rows),
        notes=_notes(study),
        why=code,
        detail=detail,
    )


def _of_five() -> dict[str, Any]:
    """People in groups of five, from the shipped reference: the errors clustered by topic."""
    shipped = ceiling_of_five()
    fit = Line(
        slope=shipped["beta"],
        intercept=shipped["intercept"],
        se=shipped["se_clustered"],
        r2=shipped["r2"],
        df=11,
        n=shipped["n"],
        clusters=12,
    )
    # The median of p over partitions, not the p of the mean slope.
    return row_of(FIVES, fit) | {"p": shipped["p_clustered"], "note": NOT_CORRECTED}


def _notes(study: StudyTable) -> list[str]:
    shipped = ceiling_of_five()
    topics = main_population(study)[0]["topic"].nunique()
    return [
        *notes_of(study),
        *without_value(study.rows, (BEFORE, CHANGE)),
        FEW_CLUSTERS.format(n=topics),
        NOISE,
        PUBLISHED,
        "Published for people over the twelve topics: slope -0.418, standard error 0.291, R squared"
        " 0.17, p 0.182.",
        f"Published for groups of five people: slope {SLOPE}, standard error {ERROR}, R squared"
        f" {R2}, N {GROUPS}; these figures fit drawing with replacement. Disjoint groups have a"
        f" plain standard error of {shipped['se']:.3f}.",
    ]
