"""How far opinions moved: changes of ratings and of ranks, and how stable the ranks are."""

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.topic_means import (
    HOW,
    by_population,
    why_none,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.study_table import StudyTable

MEASURES = ("opinion_change_c", "opinion_change_p", "rank_stability")
PUBLISHED = (
    "Published for language models: opinion change 0.76 (considerations) and 0.62 (preferences),"
    " tau-b 0.74."
)


def opinion_change(study: StudyTable, draws: Draws) -> Result:
    """The table `opinion_change`: a row a population and measure."""
    code, detail = why_none(study, MEASURES)
    rows, notes = ([], []) if code else by_population(study, MEASURES, draws)
    return make_table(
        "study/opinion_change",
        rows,
        notes=[*notes, PUBLISHED],
        why=code,
        detail=detail,
        how=HOW.format(n=draws.resamples),
    )
