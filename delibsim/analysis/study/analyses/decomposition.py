"""What the change of the index is made of: gains of agreement on considerations and preferences."""

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

MEASURES = ("consideration_agreement", "preference_agreement")
COLUMNS = ("population", "measure", "gain", *INTERVAL, "n", "topics", "note")
DEFINITION = (
    "The gain (value after minus before) of both agreements of which the Deliberative Reason Index"
    " is made: the mean Spearman correlation over pairs of participants of their ratings of"
    " considerations, and of their ranks of preferences. {how} People stand beside with their"
    " values on the study's topics, the cases of a topic pooled."
)
PUBLISHED = (
    "Published for people, as means over the 16 separate cases of the twelve topics: considerations"
    " +0.077, preferences +0.104. Published for language models: +0.007 and +0.024."
)


def decomposition(study: StudyTable, draws: Draws) -> Result:
    """The table `decomposition`: a row a population and measure."""
    code, detail = why_none(study, MEASURES)
    rows, notes = ([], []) if code else by_population(study, MEASURES, draws)
    table = pd.DataFrame(rows).rename(columns={"mean": "gain"})
    return Result(
        name="decomposition",
        title="Decomposition: gains of agreement",
        definition=DEFINITION.format(how=HOW.format(n=draws.resamples)),
        source="docs/measures.md#agreement",
        rows=table.reindex(columns=list(COLUMNS)),
        meanings={
            "population": POPULATION_MEANING,
            "measure": "id of the measure that is gained",
            "gain": "mean over topics of the value after minus the value before",
            **MEANINGS,
        },
        notes=[] if code else [*notes, PUBLISHED],
        why_not=code,
        detail=detail,
    )
