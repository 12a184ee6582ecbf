"""All figures of a study in the order of its report, and why a study cannot have one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from delibsim.analysis.result import Result
from delibsim.analysis.study.analyses.ablations import ablations as levels
from delibsim.analysis.study.analyses.by_block import by_block
from delibsim.analysis.study.analyses.ceiling import ceiling as slopes
from delibsim.analysis.study.analyses.contrasts import contrasts
from delibsim.analysis.study.analyses.convergence import convergence
from delibsim.analysis.study.analyses.decomposition import decomposition as gains
from delibsim.analysis.study.analyses.equivalence import equivalence as margins
from delibsim.analysis.study.analyses.pair_correlations import OF_PEOPLE, PAIRS
from delibsim.analysis.study.analyses.reasoning import reasoning as within_families
from delibsim.analysis.study.analyses.specifications import specifications as curve
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.figures.ablations import ablations
from delibsim.analysis.study.figures.agreement import decomposition
from delibsim.analysis.study.figures.aqua import aqua_profiles
from delibsim.analysis.study.figures.before_after import before_after
from delibsim.analysis.study.figures.consistency import consistency
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.effects import effects, effects_by_model, effects_by_topic
from delibsim.analysis.study.figures.equivalence import equivalence
from delibsim.analysis.study.figures.individual import individual_change
from delibsim.analysis.study.figures.reasoning import reasoning
from delibsim.analysis.study.figures.regressions import ceiling, diversity
from delibsim.analysis.study.figures.specifications import specifications
from delibsim.analysis.study.figures.trajectories import trajectories
from delibsim.analysis.study.study_table import StudyTable

Draw = Callable[[StudyTable, Mapping[str, Result]], Drawing | None]
Analysis = Callable[[StudyTable, Draws], Result | Sequence[Result]]


@dataclass(frozen=True)
class Kind:
    """A figure that a study may have.

    `shows` and `needs` say in words what it shows and what a study must have for it. `analyses`
    give the tables that it is drawn from, besides the table of the study; the first table is the
    one without which there is no figure, unless the table of the study is enough (`from_table`).
    `from_answers` names the tables of a figure that is drawn from the answers of runs.
    """

    name: str
    shows: str
    draw: Draw
    needs: str
    analyses: tuple[Analysis, ...] = ()
    from_table: bool = False
    from_answers: tuple[str, ...] = ()

    def results(self, study: StudyTable, draws: Draws) -> dict[str, Result]:
        """The tables that the figure is drawn from, by name; of answers none."""
        found = {}
        for analysis in self.analyses:
            given = analysis(study, draws)
            for result in [given] if isinstance(given, Result) else given:
                found[result.name] = result
        return found

    def why_not(self, results: Mapping[str, Result]) -> str:
        """Why `draw` gave no figure, in a sentence: the reason of its table, or what it needs."""
        name = TABLES.get(self.name, self.name)
        first = None if self.from_table else results.get(name)
        told = first.detail if first is not None and not first.given else ""
        return told or self.needs


TABLES = {
    "effects": "contrasts",
    "effects_by_model": "by_model",
    "effects_by_topic": "by_topic",
    "consistency": PAIRS,
}
"""The table without which there is no figure, where it has another name than the figure."""
TWO_TREATMENTS = "It needs sessions under two treatments of the same topic and model, with a DRI."
ANSWERS = "It needs sessions whose survey was answered before and after."
FIGURES = (
    Kind(
        "effects",
        "contrasts of treatments, pooled",
        effects,
        TWO_TREATMENTS,
        (contrasts,),
    ),
    Kind(
        "before_after",
        "the index before and after by condition, people beside",
        before_after,
        ANSWERS,
        from_table=True,
    ),
    Kind(
        "effects_by_model",
        "contrasts within every model",
        effects_by_model,
        TWO_TREATMENTS,
        (by_block, contrasts),
    ),
    Kind(
        "effects_by_topic",
        "contrasts within every topic, and with each left out",
        effects_by_topic,
        TWO_TREATMENTS,
        (by_block, contrasts),
    ),
    Kind(
        "trajectories",
        "every session from before to after",
        trajectories,
        ANSWERS,
        from_table=True,
    ),
    Kind(
        "consistency",
        "agreement of every pair on considerations against preferences",
        consistency,
        "It needs the answers of sessions, which a table does not hold.",
        from_answers=(PAIRS, OF_PEOPLE),
    ),
    Kind(
        "individual_change",
        "how far participants moved",
        individual_change,
        "It needs the answers of sessions, which a table does not hold.",
        from_answers=("individual_change",),
    ),
    Kind(
        "ceiling",
        "change of the index against the index before",
        ceiling,
        ANSWERS,
        (slopes,),
        from_table=True,
    ),
    Kind(
        "diversity",
        "change of diversity against diversity before",
        diversity,
        "It needs sessions with a perspective diversity before and after.",
        (convergence,),
        from_table=True,
    ),
    Kind(
        "decomposition",
        "gains of agreement on considerations and preferences",
        decomposition,
        ANSWERS,
        (gains,),
    ),
    Kind(
        "aqua_profiles",
        "the twenty indicators of discourse quality",
        aqua_profiles,
        "It needs scores of AQuA: delibsim score STUDY --scorer aqua.",
        from_table=True,
    ),
    Kind(
        "reasoning",
        "reasoning models against others of their family",
        reasoning,
        "It needs reasoning and other models of one family under normative instructions.",
        (within_families,),
    ),
    Kind(
        "ablations",
        "differences between levels of a factor",
        ablations,
        "It needs a further factor that varies, such as rounds or group size.",
        (levels,),
    ),
    Kind(
        "specifications",
        "every estimate of a contrast by the choices behind it",
        specifications,
        TWO_TREATMENTS,
        (curve,),
    ),
    Kind(
        "equivalence",
        "contrasts against a smallest effect of interest",
        equivalence,
        TWO_TREATMENTS,
        (margins,),
    ),
)
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
