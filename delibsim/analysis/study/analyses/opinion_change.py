"""How far opinions moved: changes of ratings and of ranks, and how stable the ranks are."""

import pandas as pd

from delibsim.analysis.study.analyses.topic_means import (
    HOW,
    INTERVAL,
    MEANINGS,
    by_population,
    why_none,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.populations import POPULATION_MEANING
from delibsim.analysis.study.study_table import StudyTable

MEASURES = ("opinion_change_c", "opinion_change_p", "rank_stability")
COLUMNS = ("population", "measure", "mean", *INTERVAL, "n", "topics", "note")
DEFINITION = (
    "opinion_change_c and opinion_change_p: the mean absolute difference of a rating of a"
    " consideration (in points of the scale) and of a rank of a preference, after and before, over"
    " participants and items. rank_stability: the mean over participants of Kendall's tau-b between"
    " their own ranks before and after; 1 is no change of order. {how} People stand beside with"
    " their values on the study's topics, as far as they answered the same instrument."
)
PUBLISHED = (
    "Published for language models: opinion change 0.76 (considerations) and 0.62 (preferences),"
    " tau-b 0.74."
)


def opinion_change(study: StudyTable, draws: Draws) -> Result:
    """The table `opinion_change`: a row a population and measure."""
    code, detail = why_none(study, MEASURES)
    rows, notes = ([], []) if code else by_population(study, MEASURES, draws)
    return Result(
        name="opinion_change",
        title="Opinion change and stability of ranks",
        definition=DEFINITION.format(how=HOW.format(n=draws.resamples)),
        source="docs/measures.md#agreement",
        rows=pd.DataFrame(rows).reindex(columns=list(COLUMNS)),
        meanings={
            "population": POPULATION_MEANING,
            "measure": "id of the measure",
            "mean": "mean over topics of the measure",
            **MEANINGS,
        },
        notes=[] if code else [*notes, PUBLISHED],
        why_not=code,
        detail=detail,
    )
