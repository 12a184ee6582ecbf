"""All analyses of a study, in their order, and what came of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.analysis.result import Result
from delibsim.analysis.study.ablations import ablations, personas
from delibsim.analysis.study.aqua import aqua, icc
from delibsim.analysis.study.by_block import by_block
from delibsim.analysis.study.contrasts import contrasts, questions
from delibsim.analysis.study.counts import attrition, counts, in_room
from delibsim.analysis.study.effect_sizes import MARGINS, covariance, equivalence, sizes
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.people import people
from delibsim.analysis.study.reasoning import reasoning
from delibsim.analysis.study.sample import CITIZENS, Outcome, kinds_of_participants
from delibsim.analysis.study.slopes import ceiling, convergence
from delibsim.analysis.study.specifications import specifications
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.summary import NULL_ONLY
from delibsim.analysis.study.topic_means import (
    decomposition,
    noise_floor,
    opinion_change,
    rank_stability,
)
from delibsim.domain.text import counted

Analysis = Callable[[StudyTable, Draws], Result | Sequence[Result]]
ANALYSES: tuple[Analysis, ...] = (
    in_room,
    attrition,
    contrasts,
    by_block,
    sizes,
    equivalence,
    specifications,
    covariance,
    mixed,
    reasoning,
    personas,
    people,
    decomposition,
    opinion_change,
    noise_floor,
    icc,
    ceiling,
    convergence,
    rank_stability,
    ablations,
    aqua,
)
"""Every analysis, in the order of the tables; here alone it is said which there are."""
HELD = ("complete", "partial")
"""The status of sessions that were held."""
OF_DESIGN = ("counts", "in_room", "attrition")
"""Tables that say what was held, and analyse no outcome."""
DEBATES = (
    "This is a study of debates: nobody is surveyed on considerations and preferences, so that"
    " there is no index. Its ratings are analysed by `delibsim rate report {}`."
)
DAMAGED = (
    "{} left out, because a file was damaged or changed after it was written: {}; what differs:"
    " `delibsim replay {}`."
)
NAMED = 5
"""The sessions that a warning names."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The tables of a study by name, what was planned, held, valid and analysed, what is missing.

    `missing` has an entry for each condition with fewer analysed sessions than were planned, and
    for each analysis that the study cannot give.
    """

    study: StudyTable
    results: Mapping[str, Result]
    runs: Mapping[str, int]
    missing: Sequence[Mapping[str, Any]]
    warnings: Sequence[str] = field(default_factory=tuple)

    def with_results(self, more: Sequence[Result]) -> "Findings":
        """With further tables, those that cannot be given among what is missing."""
        added = {result.name: result for result in more}
        missing = [*self.missing, *_not_given(added)]
        return replace(self, results={**self.results, **added}, missing=missing)

    @property
    def something(self) -> bool:
        """Whether anything could be analysed."""
        return any(one.given for name, one in self.results.items() if name not in OF_DESIGN)

    @property
    def whole(self) -> bool:
        """Whether every session that was planned is analysed."""
        return self.runs["planned"] == self.runs["analysed"]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table as plain values; none where the study does not give it."""
        result = self.results.get(name)
        return result.plain() if result is not None and result.given else []


def findings(
    study: StudyTable,
    draws: Draws,
    steps: Sequence[Analysis] = ANALYSES,
    watch: Callable[[str, int, int], None] | None = None,
) -> Findings:
    """Every analysis of a study; `watch` is told the name of each before it begins."""
    results: dict[str, Result] = {}
    for i, analysis in enumerate(steps):
        if watch is not None:
            watch(_name(analysis), i, len(steps))
        given = analysis(study, draws)
        for result in [given] if isinstance(given, Result) else given:
            results[result.name] = result
    if "contrasts" in results:
        results["questions"] = questions(results)
    counted = counts(study, draws)
    missing = [*_missing_sessions(counted), *_not_given(results)]
    all_results = {counted.name: counted, **results}
    return Findings(study, all_results, flow(counted), missing, _warnings(study))


def analyses(margin: float | None) -> Sequence[Analysis]:
    """Every analysis, with this smallest effect of interest on the change of the index.

    None leaves the margins that `equivalence` declares.
    """
    if margin is None:
        return ANALYSES
    margins = {**MARGINS, Outcome("dri"): margin, Outcome("dri_adjusted"): margin}

    def declared(study: StudyTable, draws: Draws) -> Result:
        return equivalence(study, draws, margins)

    return [declared if one is equivalence else one for one in ANALYSES]


def flow(counted: Result) -> dict[str, int]:
    """How many sessions are planned, held, valid and analysed, from the table of counts."""
    rows = counted.rows
    return {name: int(rows[name].sum()) for name in ("planned", "held", "valid", "analysed")}


def _name(analysis: Analysis) -> str:
    return getattr(analysis, "__name__", "analysis").replace("_", " ")


def _missing_sessions(counted: Result) -> Iterator[dict[str, Any]]:
    """An entry for each condition with sessions that are not analysed."""
    for row in counted.plain():
        lacking = row["planned"] - row["analysed"]
        if lacking or row["missing"]:
            levels = (row["topic"], row["treatment"], row["model"], row["setting"])
            condition = ", ".join(str(level) for level in levels if level)
            yield {
                "condition": condition,
                "sessions": lacking,
                "reason": row["missing"],
                "detail": f"{condition}: {lacking} not analysed ({row['missing']}).",
            }


def _not_given(results: Mapping[str, Result]) -> Iterator[dict[str, Any]]:
    for name, result in results.items():
        if not result.given:
            yield {"analysis": name, "reason": result.why_not, "detail": result.detail}


def _warnings(study: StudyTable) -> list[str]:
    """What must be known before anything else is read."""
    told = [NULL_ONLY] if list(kinds_of_participants(study)) == [CITIZENS] else []
    formats = study.rows["format"].dropna() if "format" in study.rows.columns else ()
    if len(formats) and (formats == "debate").all():
        told.append(DEBATES.format(study.study))
    if damaged := study.rows.query("status == 'damaged'")["session"].tolist():
        more = f" and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
        named = ", ".join(damaged[:NAMED]) + more
        told.append(DAMAGED.format(counted(len(damaged), "session"), named, study.study))
    return told
