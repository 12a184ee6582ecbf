"""From the folder of a study to the report on its codes by one scheme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delibsim.analysis.coding.agreement import agreement_of_people
from delibsim.analysis.coding.codes import CodedStudy, coded_study, in_wording
from delibsim.analysis.coding.effect import CodedTexts, effects_table
from delibsim.analysis.coding.effect_files import texts_of_scores, texts_of_study
from delibsim.analysis.coding.report import CodeReportSettings, coding_report
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result
from delibsim.analysis.study.finding import ON_TEXTS
from delibsim.analysis.study.outcomes import VALUE, usual_outcomes
from delibsim.analysis.study.sample import wanted_outcomes
from delibsim.analysis.study.study_table import StudyTable
from delibsim.asking.kinds.coding import Coding, coding_of
from delibsim.asking.texts import texts_of
from delibsim.conduct.analysed import newest_scores
from delibsim.domain.comparison import PAIRS
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Codings, comparisons_about, schemes_of
from delibsim.store.coded import SchemeCodes
from delibsim.store.runs import Runs
from delibsim.store.tables.scored import statement_scores


def report_on_codes(
    runs: Runs, scheme: str, settings: CodeReportSettings, home: Path | None = None
) -> Report:
    """The report on the codes of a study by a scheme, or by the only one that was applied.

    WrongInput for a scheme by which it was not coded, for a column that no text has, and for what
    is damaged.
    """
    coding = coding_of(runs, scheme, home=home)
    faults: list[str] = []
    study = _study(coding, faults)
    files = coding.codings.files
    exchanges, damaged = files.read(files.exchanges)
    if damaged:
        faults.append(f"{files.exchanges}: {counted(damaged, 'damaged line')}")
    return coding_report(study, settings, exchanges, faults)


AQUA = "aqua"


@dataclass(frozen=True)
class CodedOutcomes:
    """The codes of a study as outcomes of its treatments, by the wording in which models were
    asked, the one that is scored first; `notes` must be known of them, `gold` is how far people
    agree among themselves.
    """

    worded: Mapping[str, Sequence[CodedTexts]]
    notes: Sequence[str] = ()
    gold: Result | None = None

    @property
    def scored(self) -> Sequence[CodedTexts]:
        """Those in the wording that is scored."""
        return next(iter(self.worded.values()))


def outcomes_of_codes(
    runs: Runs, scheme: str, dimension: str, named: Mapping[str, str]
) -> CodedOutcomes:
    """The codes of a study by a scheme; of one dimension, if one is named."""
    faults: list[str] = []
    study = _study(coding_of(runs, scheme), faults)
    asked = study.coded.asked
    outcomes, notes = texts_of_study(study, dimension, named)
    found = {asked.wording: outcomes}
    for wording in asked.wordings:
        if wording not in found:
            found[wording] = texts_of_study(in_wording(study, wording), dimension, named)[0]
    own = [one for one in study.dimensions if dimension in ("", one.id)]
    return CodedOutcomes(found, [*notes, *faults], agreement_of_people(own))


def outcomes_of_texts(runs: Runs, table: StudyTable) -> tuple[list[CodedTexts], list[str]]:
    """What models said of the texts of a study, as far as its table is compared on it, with what
    people said of drawn ones; and what must be known of it.
    """
    wanted = [one.measure for one in wanted_outcomes(table) if one.measure in table.by_models]
    found: list[CodedTexts] = []
    notes: list[str] = []
    for scheme in schemes_of(runs):
        if not any(name.startswith(f"{scheme}.") for name in wanted):
            continue
        try:
            coded = outcomes_of_codes(runs, scheme, "", {})
        except WrongInput as error:
            notes.append(f"{scheme}: {error}")
            continue
        for texts in coded.scored:
            outcome = f"{scheme}.{texts.outcome.replace(': ', '.')}"
            if outcome in wanted:
                found.append(replace(texts, outcome=outcome))
        notes += coded.notes
    coded_as = {texts.outcome for texts in found}
    scored = [name for name in wanted if name not in coded_as]
    files = newest_scores(runs).values() if scored else ()
    return [*found, *texts_of_scores(statement_scores(files, scored), table.rows)], notes


def by_models(runs: Runs | None, table: StudyTable) -> frozenset[str]:
    """The columns of a study that hold what models said of its texts."""
    if runs is None:  # an exported table has codes and strengths under such names, with notes
        further = [one.measure for one in usual_outcomes(table.rows) if one.scale == VALUE]
        return frozenset(name for name in further if "." in name)
    begun = [f"{AQUA}."]
    begun += [f"{id}." for id in schemes_of(runs) if Codings.of(runs, id).files.task()]
    for about in comparisons_about(runs):
        if about.comparisons.files.task().get("models"):
            begun.append(f"{PAIRS}.{about.coder}.")
    return frozenset(name for name in map(str, table.rows) if name.startswith(tuple(begun)))


def effects_on_texts(runs: Runs | None, table: StudyTable) -> tuple[list[Result], list[str]]:
    """The table of effects on what was said of the texts of a study, and what it says; no table
    where models said nothing.
    """
    if runs is None or not table.by_models:
        return [], []
    outcomes, notes = outcomes_of_texts(runs, table)
    if not outcomes:
        return [], notes
    found, told, _ = effects_table(outcomes)
    return [replace(found, name=ON_TEXTS, notes=notes)], told


def _study(coding: Coding, faults: list[str]) -> CodedStudy:
    texts = texts_of(coding.runs, coding.unit, faults=faults, roles=coding.roles)
    codes = SchemeCodes.of(coding.codings, faults, coding.scheme)
    packs = packs_of(coding.codings.files)
    return coded_study(coding.runs.study, codes, texts, packs)
