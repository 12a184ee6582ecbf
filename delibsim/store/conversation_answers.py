"""Answers of the people of conversations, in a CSV file beside these: a row an answer, or a row a
person and phase with a column an item, as deliberr publishes them.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from delibsim.domain.errors import unknown
from delibsim.domain.survey import LABEL, Phase, Survey, faults_of
from delibsim.store.instruments.answers import EMPTY, STAGES
from delibsim.store.instruments.own_answers import PARTICIPANT, STAGE
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet, refuse_faults

NOTHING_IMPORTED = "cannot be taken as answers, and nothing was imported"
SESSION, SPEAKER = ("session", "conversation", "case"), ("speaker", *PARTICIPANT)
GivenAnswers = dict[tuple[str, str], dict[Phase, dict[str, int]]]
"""Answers by conversation and speaker, as the source calls them, phase and item."""


def read_given(
    path: Path, spoke: Mapping[str, frozenset[str]], survey_of: Callable[[str], Survey]
) -> GivenAnswers:
    """The answers of those who `spoke`, by conversation, to the survey of each; WrongInput, with
    the lines, for anybody else, an item that the survey lacks, an answer given twice, and what is
    no answer to it.
    """
    sheet = read_sheet(path)
    session, speaker, phase = (_column(path, sheet, one) for one in (SESSION, SPEAKER, STAGE))
    found: GivenAnswers = {}
    faults: list[str] = []
    ends: dict[tuple[tuple[str, str], Phase], int] = {}
    for line, row in sheet.records():
        who, when = (row[session], row[speaker]), STAGES.get(row[phase].casefold())
        if who[0] not in spoke:
            faults.append(f"line {line}: there is no conversation '{who[0][:40]}'")
        elif who[1] not in spoke[who[0]]:
            told = f"'{who[1][:40]}' never spoke in '{who[0]}', and has answers"
            faults.append(f"line {line}: {told}")
        elif when is None:
            faults.append(f"line {line}: a phase is pre or post, not '{row[phase][:40]}'")
        else:
            own = found.setdefault(who, {}).setdefault(when, {})
            ends[who, when] = line
            for item, value in _values(row):
                fault = _fault(item, value, own, survey_of(who[0]))
                if fault:
                    faults.append(f"line {line}: {fault}")
                else:
                    own[item] = int(value)
    for (who, when), line in ends.items():
        told = faults_of(found[who][when], survey_of(who[0]))
        faults += [f"line {line}: {who[1]}, {when}: {fault}" for fault in told]
    refuse_faults(path, faults, NOTHING_IMPORTED)
    return found


def _column(path: Path, sheet: CsvSheet, names: tuple[str, ...]) -> str:
    """The first of these columns, however it is written, that a file has."""
    known = {name.casefold().removesuffix("id").rstrip("_"): name for name in sheet.header}
    found = next((known[name] for name in names if name in known), None)
    if found is None:
        raise unknown("column", names[0], sheet.header, f"Columns are those of {path}")
    return found


def _values(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The items of a row that were answered, with what was answered."""
    cells = [(row["item"], row["value"])] if "item" in row and "value" in row else row.items()
    for item, value in cells:
        if value not in EMPTY and ("item" in row or LABEL.fullmatch(item)):
            yield item, value


def _fault(item: str, value: str, own: Mapping[str, int], survey: Survey) -> str:
    """Why a cell is no answer; "" where it is one."""
    if all(item != known.id for known in survey.items):
        return f"the survey {survey.id} has no item '{item[:40]}'"
    if item in own:
        return f"{item} is answered twice"
    whole = value.removeprefix("-")
    if not (whole.isascii() and whole.isdecimal() and len(whole) < 10):
        return f"{item}: an answer is a whole number, not '{value[:40]}'"
    return ""
