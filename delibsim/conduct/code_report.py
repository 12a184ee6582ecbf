"""From the folder of a study to the report on its codes by one scheme."""

from collections.abc import Mapping
from pathlib import Path

from delibsim.analysis.coding.codes import CodedStudy, coded_study
from delibsim.analysis.coding.effect import CodedTexts
from delibsim.analysis.coding.effect_files import texts_of_study
from delibsim.analysis.coding.report import CodeReportSettings, coding_report
from delibsim.analysis.report import Report
from delibsim.asking.kinds.coding import Coding, coding_of
from delibsim.asking.texts import texts_of
from delibsim.domain.text import counted
from delibsim.store.annotations import packs_of
from delibsim.store.coded import SchemeCodes
from delibsim.store.runs import Runs


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


def outcomes_of_codes(
    runs: Runs, scheme: str, dimension: str, named: Mapping[str, str]
) -> tuple[list[CodedTexts], list[str]]:
    """The codes of a study as outcomes of its treatments, and what must be known of them."""
    faults: list[str] = []
    outcomes, notes = texts_of_study(_study(coding_of(runs, scheme), faults), dimension, named)
    return outcomes, [*notes, *faults]


def _study(coding: Coding, faults: list[str]) -> CodedStudy:
    texts = texts_of(coding.runs, coding.unit, faults=faults)
    codes = SchemeCodes.of(coding.codings, faults, coding.scheme)
    packs = packs_of(coding.codings.files)
    return coded_study(coding.runs.study, codes, texts, packs)
