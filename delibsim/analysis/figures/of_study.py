"""The figures of a study in the order of its report, what they are drawn from, and why a study
cannot have one. What is shown and how is in data/figures/study.yaml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, Entry, drawn, entries_of
from delibsim.analysis.figures.tables_of_study import PREPARED
from delibsim.analysis.figures.words import remark, rows_of
from delibsim.analysis.result import Result
from delibsim.analysis.study.ablations import ablations
from delibsim.analysis.study.by_block import by_block, reasoning
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effect_sizes import equivalence
from delibsim.analysis.study.pair_correlations import OF_PEOPLE, PAIRS
from delibsim.analysis.study.people import ceiling, convergence
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.topic_means import decomposition

Analysis = Callable[[StudyTable, Draws], Result | Sequence[Result]]
ANALYSES: Mapping[str, tuple[Analysis, ...]] = {
    "effects": (contrasts,),
    "effects_by_model": (by_block, contrasts),
    "effects_by_topic": (by_block, contrasts),
    "ceiling": (ceiling,),
    "diversity": (convergence,),
    "decomposition": (decomposition,),
    "reasoning": (reasoning,),
    "ablations": (ablations,),
    "specifications": (specifications,),
    "equivalence": (equivalence,),
}
"""What gives the tables that a figure is drawn from, besides the table of the study."""
FROM_ANSWERS = {"consistency": (PAIRS, OF_PEOPLE), "individual_change": ("individual_change",)}
"""The tables of figures that are drawn from the answers of runs."""
TABLES = {
    "effects": "contrasts",
    "effects_by_model": "by_model",
    "effects_by_topic": "by_topic",
    "consistency": PAIRS,
}
"""The table without which there is no figure, where it has another name than the figure."""
FROM_SESSIONS = {"before_after", "trajectories", "ceiling", "diversity", "aqua_profiles"}
"""Figures for which the table of the study is enough."""


class Kind(Entry):
    """A figure that a study may have."""

    @property
    def from_answers(self) -> tuple[str, ...]:
        """The tables of answers that it is drawn from."""
        return FROM_ANSWERS.get(self.name, ())

    def results(self, study: StudyTable, draws: Draws) -> dict[str, Result]:
        """The tables that the figure is drawn from, by name; of answers none."""
        found = {}
        for analysis in ANALYSES.get(self.name, ()):
            given = analysis(study, draws)
            for result in [given] if isinstance(given, Result) else given:
                found[result.name] = result
        return found

    def draw(self, study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
        """The figure; None where the study cannot give it."""
        prepared = PREPARED.get(self.table)
        data = prepared(study, results) if prepared else Data(rows_of(results, self.table))
        data = replace(data, more=data.more + remark(study))
        return next(drawn(self, {self.table: data}), None)

    def why_not(self, results: Mapping[str, Result]) -> str:
        """Why `draw` gave no figure, in a sentence: the reason of its table, or what it needs."""
        first = results.get(TABLES.get(self.name, self.name))
        if first is None or first.given or self.name in FROM_SESSIONS:
            return self.needs
        return first.detail or self.needs


FIGURES = tuple(Kind(**vars(entry)) for entry in entries_of("study").values())
"""The figures in the order of the report."""


def drawings(
    study: StudyTable,
    results: Mapping[str, Result],
    kinds: Sequence[Kind] = FIGURES,
) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that a study has, and by name why it has no other."""
    found, missing = [], {}
    for kind in kinds:
        drawing = kind.draw(study, results)
        if drawing is None:
            missing[kind.name] = kind.why_not(results)
        else:
            found.append(drawing)
    return found, missing
