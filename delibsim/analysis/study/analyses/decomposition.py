"""What the change of the index is made of: gains of agreement on considerations and preferences."""

import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.topic_means import (
    HOW,
    INTERVAL,
    by_population,
    why_none,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.study_table import StudyTable

MEASURES = ("consideration_agreement", "preference_agreement")
COLUMNS = ("population", "measure", "gain", *INTERVAL, "n", "topics", "note")
PUBLISHED = (
    "Published for people, as means over the 16 separate cases of the twelve topics: considerations"
    " +0.077, preferences +0.104. Published for language models: +0.007 and +0.024."
)


def decomposition(study: StudyTable, draws: Draws) -> Result:
    """The table `decomposition`: a row a population and measure."""
    code, detail = why_none(study, MEASURES)
    rows, notes = ([], []) if code else by_population(study, MEASURES, draws)
    table = pd.DataFrame(rows).rename(columns={"mean": "gain"})
    return make_table(
        "study/decomposition",
        table.reindex(columns=list(COLUMNS)),
        notes=[*notes, PUBLISHED],
        why=code,
        detail=detail,
        how=HOW.format(n=draws.resamples),
    )
