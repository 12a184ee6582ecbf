"""The figures of a study in the order of its report, what they are drawn from, and why a study
cannot have one. What is shown and how is in data/figures/study.yaml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, FigureEntry, drawn, entries_of
from delibsim.analysis.figures.tables_of_study import PREPARED
from delibsim.analysis.figures.words import remark, rows_of
from delibsim.analysis.result import Result
from delibsim.analysis.study.ablations import ablations
from delibsim.analysis.study.by_block import by_block, reasoning
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effect_sizes import equivalence
from delibsim.analysis.study.people import ceiling, convergence, people
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.topic_means import decomposition

Analysis = Callable[[StudyTable, DrawCounts], Result | Sequence[Result]]
ANALYSES: Mapping[str, tuple[Analysis, ...]] = {
    "effects": (contrasts, people),
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


class StudyFigure(FigureEntry):
    """A figure that a study may have."""

    def results(self, study: StudyTable, draws: DrawCounts) -> dict[str, Result]:
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
        first = results.get(self.result)
        return self.needs if first is None or first.given else first.detail or self.needs


FIGURES = tuple(StudyFigure(**vars(entry)) for entry in entries_of("study").values())
"""The figures in the order of the report."""


def drawings(
    study: StudyTable,
    results: Mapping[str, Result],
    kinds: Sequence[StudyFigure] = FIGURES,
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
