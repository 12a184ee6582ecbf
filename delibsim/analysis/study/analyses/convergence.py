"""Convergence: whether groups that begin diverse lose more of their diversity."""

from typing import Any

import numpy as np

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.slopes import (
    FEW_CLUSTERS,
    NOISE,
    as_table,
    beside_none,
    of_people,
    slope_of,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.populations import (
    PEOPLE,
    Population,
    complete,
    main_population,
    notes_of,
    populations,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.study_table import StudyTable

BEFORE, CHANGE = "diversity_pre", "diversity_change"
INSTRUMENTS = (
    "Plain diversity grows with the number of items and the width of the scale, so that topics"
    " with longer instruments lie further to the right. People answered the validated instruments:"
    " their slope, which has no unit, may stand beside that of other instruments, their diversity"
    " may not."
)


PUBLISHED = (
    "Published for language models under this heading: none -0.059, basic +0.372, normative +0.257."
    " They are mean changes, not slopes: without interaction diversity was 6.493 before and 6.434"
    " after."
)


def convergence(study: StudyTable, draws: Draws) -> Result:
    """The table `convergence`; nothing in it is drawn at random, and `draws` is not used."""
    code, detail = why_no_value(study, (BEFORE, CHANGE))
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    if not code:
        for population in populations(study):
            mean = {"mean_change": _mean_change(population)}
            rows.append(slope_of(population, BEFORE, CHANGE) | mean)
        rows = beside_none(rows)
        changes = of_topics(BENCHMARK, "diversity", "change")
        rows.append(of_people("diversity", PEOPLE) | {"mean_change": float(np.mean(changes))})
        topics = main_population(study)[0]["topic"].nunique()
        notes = [
            *notes_of(study),
            *without_value(study.rows, (BEFORE, CHANGE)),
            FEW_CLUSTERS.format(n=topics),
            NOISE,
            INSTRUMENTS,
            PUBLISHED,
        ]
    return make_table(
        "study/convergence", as_table(rows, "mean_change"), notes=notes, why=code, detail=detail
    )


def _mean_change(population: Population) -> float:
    rows = population.rows[complete(population.rows, (BEFORE, CHANGE))]
    return float(rows[CHANGE].mean()) if len(rows) else float("nan")
