"""From the folder of a study to the report on its codes by one scheme."""

from pathlib import Path

from delibsim.analysis.coding.codes import CodedStudy, coded_study
from delibsim.analysis.coding.report import Settings, coding_report
from delibsim.analysis.report import Report
from delibsim.asking.kinds.coding import Coding, coding_of
from delibsim.asking.texts import texts_of
from delibsim.domain.text import counted
from delibsim.store.annotations import packs_of
from delibsim.store.coded import SchemeCodes
from delibsim.store.runs import Runs


def report_on_codes(
    runs: Runs, scheme: str, settings: Settings, home: Path | None = None
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


def _study(coding: Coding, faults: list[str]) -> CodedStudy:
    texts = texts_of(coding.runs, coding.unit, faults=faults)
    codes = SchemeCodes.of(coding.codings, faults, coding.scheme)
    packs = packs_of(coding.codings.files)
    return coded_study(coding.runs.study, codes, texts, packs)
