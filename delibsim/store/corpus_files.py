"""Conversations of people in tables: turns, and what people answered before and after; and the
utterances of a source of any size, by conversation.

Answers stand in the metadata of a corpus, or in a CSV file beside it, a row an answer, or a row a
person and phase with a column an item, as deliberr publishes them.
"""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Self, get_args

from delibsim.domain.corpora import AboutConversation, AboutSpeaker, Record, Unplaced, Utterance
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.survey import LABEL, Phase, Survey, faults_of
from delibsim.store.instruments.answers import EMPTY, STAGES
from delibsim.store.instruments.own_answers import PARTICIPANT, STAGE
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet, refuse_faults, streamed

TURN_COLUMNS = ("session", "turn", "speaker", "text")
OPTIONAL = ("round", "topic", "treatment", "time", "role", "reply_to")


class Turns:
    """A CSV file with a row a turn."""

    name = "turns"

    def read(self, path: Path) -> Iterator[Record]:
        """Its rows, and of each session its topic and treatment."""
        told: dict[str, tuple[str, str]] = {}
        header, rows = streamed(path, TURN_COLUMNS)
        for name in header:
            if name not in (*TURN_COLUMNS, *OPTIONAL):
                yield Unplaced(f"columns that are not known: {name}")
        for line, row in rows:
            where = f"line {line}"
            session = row["session"].strip()
            about = row.get("topic", "").strip(), row.get("treatment", "").strip()
            if session not in told:
                told[session] = about
                yield AboutConversation(where, session, about[0], treatment=about[1])
            elif told[session] != about:
                differ = f"the session {session} has another topic or treatment than in its first"
                raise WrongInput(f"{path}, {where}: {differ} row")
            number = _whole(path, where, row, "turn")
            yield Utterance(
                where=where,
                conversation=session,
                speaker=row["speaker"].strip(),
                text=row["text"],
                id=str(number),
                reply_to=row.get("reply_to", "").strip(),
                time=row.get("time", "").strip(),
                number=number,
                round=_whole(path, where, row, "round") if row.get("round", "").strip() else 1,
                role=row.get("role", "").strip() or "citizen",
            )


def _whole(path: Path, where: str, row: Mapping[str, str], name: str) -> int:
    cell = row[name].strip()
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
        raise WrongInput(f"{path}, {where}: {name} is a whole number from 0, not '{cell[:40]}'")
    return int(cell)


COLUMNS = [of.name for of in fields(Utterance)]
TYPES = {"number": "INTEGER", "round": "INTEGER"}


class SortedUtterances:
    """Takes utterances in the order of the source, and gives each conversation in its order."""

    def __init__(self, folder: Path) -> None:
        self._known = sqlite3.connect(folder / "utterances.sqlite")
        self._known.execute("PRAGMA journal_mode = OFF")
        self._known.execute("PRAGMA synchronous = OFF")
        named = ", ".join(f'"{name}" {TYPES.get(name, "TEXT")}' for name in COLUMNS)
        self._known.execute(f"CREATE TABLE said (place INTEGER PRIMARY KEY, {named})")
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._insert = f"INSERT INTO said VALUES ({marks})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._known.close()

    def add(self, utterances: Iterator[Utterance]) -> None:
        """Keep utterances."""
        rows = ((n, *astuple(one)) for n, one in enumerate(utterances, 1))
        self._known.executemany(self._insert, rows)
        self._known.execute("CREATE INDEX by_conversation ON said (conversation, place)")

    def conversations(self) -> list[str]:
        """The ids of conversations, in the order of their first utterances."""
        found = self._known.execute(
            "SELECT conversation FROM said GROUP BY conversation ORDER BY min(place)"
        )
        return [id for (id,) in found]

    def speakers(self, conversation: str) -> frozenset[str]:
        """Who speaks in a conversation."""
        query = "SELECT DISTINCT speaker FROM said WHERE conversation = ?"
        return frozenset(name for (name,) in self._known.execute(query, (conversation,)))

    def said_in(self, conversation: str) -> list[Utterance]:
        """The utterances of a conversation, by their numbers where all have one, or else as they
        stand in the source.
        """
        named = ", ".join(f'"{name}"' for name in COLUMNS)
        query = f"SELECT {named} FROM said WHERE conversation = ? ORDER BY place"
        found = [Utterance(*row) for row in self._known.execute(query, (conversation,))]
        numbers = [one.number for one in found if one.number is not None]
        return sorted(found, key=attrgetter("number")) if len(numbers) == len(found) else found


NOTHING_IMPORTED = "cannot be taken as answers, and nothing was imported"
SESSION, SPEAKER = ("session", "conversation", "case"), ("speaker", *PARTICIPANT)
GivenAnswers = dict[tuple[str, str], dict[Phase, dict[str, int]]]
"""Answers by conversation and speaker, as the source calls them, phase and item."""
WAVES: tuple[Phase, ...] = get_args(Phase)[1:-1]
WHEN: dict[str, Phase] = STAGES | {wave: wave for wave in WAVES}
"""The phases as files call them, surveys in between among them."""


@dataclass(frozen=True)
class Answered:
    """What a source says that somebody answered: `values` are (item, cell), `where` they stand.

    A conversation that is "" is the only one in which the speaker spoke. `after` is the number of
    the turn after which a survey in between was held, "" where that is not said.
    """

    where: str
    conversation: str
    speaker: str
    phase: str
    values: Sequence[tuple[str, str]]
    after: str = ""


def answers_in_file(path: Path) -> Iterator[Answered]:
    """The answers in a CSV file; WrongInput for one that is no table of them."""
    sheet = read_sheet(path)
    session, speaker, phase = (_column(path, sheet, one) for one in (SESSION, SPEAKER, STAGE))
    for line, row in sheet.records():
        who = row[session], row[speaker]
        yield Answered(f"line {line}", *who, row[phase], list(_values(row)), row.get("after", ""))


def answers_in_metadata(
    record: AboutConversation | AboutSpeaker, names: Sequence[str]
) -> Iterator[tuple[str, Answered]]:
    """The answers in the metadata of these names, each with the name that is taken for it: of a
    speaker items by phase, or, by a name such as "{item}_{phase}", one answer in each; of a
    conversation such items by speaker.
    """
    for name in names:
        own = record.facts.get(name)
        if isinstance(record, AboutSpeaker):
            people = {record.speaker: _phases(own)}
        else:
            people = {who: _phases(of) for who, of in own.items()} if isinstance(own, dict) else {}
        place = record.where, getattr(record, "conversation", "")
        for speaker, phases in people.items() if all(people.values()) else ():
            for phase, items in phases.items():
                yield name, Answered(*place, speaker, phase, _cells(items))
    if isinstance(record, AboutSpeaker):
        for name, phase, item in _single(record.facts, names):
            cells = _cells({item: record.facts[name]})
            yield name, Answered(record.where, "", record.speaker, phase, cells)


def _phases(found: Any) -> Mapping[str, Mapping[str, Any]]:
    """Metadata that are items by phase; nothing for others."""
    known = isinstance(found, dict) and all(
        phase.casefold() in WHEN and isinstance(items, dict) for phase, items in found.items()
    )
    return found if known else {}


def _single(facts: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The metadata that fit one of these patterns, each with its phase and its item."""
    for name in names:
        pattern = re.escape(name).replace(r"\{item\}", "(?P<item>.+)")
        pattern = pattern.replace(r"\{phase\}", f"(?P<phase>{'|'.join(WHEN)})")
        for known in facts if {"{item}", "{phase}"} <= set(re.findall("{.*?}", name)) else ():
            if parts := re.fullmatch(pattern, known, re.IGNORECASE):
                yield known, parts["phase"], parts["item"]


def _cells(items: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The items that were answered, with the values as a CSV file would have them."""
    known = {item: value for item, value in items.items() if value is not None and value == value}
    plain = {
        item: int(value) if isinstance(value, float) and value.is_integer() else value
        for item, value in known.items()
    }
    return [(item, str(value)) for item, value in plain.items()]


def given_answers(
    path: Path,
    answered: Iterable[Answered],
    spoke: Mapping[str, frozenset[str]],
    survey_of: Callable[[str], Survey],
    unplaced: Counter[str],
    waves: dict[tuple[str, Phase], int],
) -> GivenAnswers:
    """The answers of those who `spoke`, by conversation, to the survey of each; WrongInput, with
    the places, for anybody else, an item that the survey lacks, an answer given twice, and what is
    no answer to it. Of answers whose source names no conversation, those of speakers in none or
    several are `unplaced`. After which turn surveys in between were held is added to `waves`, by
    conversation and phase, where answers say so.
    """
    found: GivenAnswers = {}
    faults: list[str] = []
    ends: dict[tuple[tuple[str, str], Phase], str] = {}
    spoke_in: dict[str, list[str]] = defaultdict(list)
    for conversation, speakers in spoke.items():
        for speaker in speakers:
            spoke_in[speaker].append(conversation)
    for one in answered:
        where, conversation = one.where, one.conversation
        if not conversation:
            places = spoke_in.get(one.speaker, [])
            if len(places) != 1:
                unplaced[
                    f"answers of a speaker in {'several' if places else 'no'} conversations"
                ] += 1
                continue
            conversation = places[0]
        who, when = (conversation, one.speaker), WHEN.get(one.phase.casefold())
        if who[0] not in spoke:
            faults.append(f"{where}: there is no conversation '{who[0][:40]}'")
        elif who[1] not in spoke[who[0]]:
            told = f"'{who[1][:40]}' never spoke in '{who[0]}', and has answers"
            faults.append(f"{where}: {told}")
        elif when is None:
            told = f"a phase is pre, post or in between {' to '.join((WAVES[0], WAVES[-1]))}"
            faults.append(f"{where}: {told}, not '{one.phase[:40]}'")
        elif one.after and when in WAVES and not one.after.isdecimal():
            faults.append(f"{where}: after is the number of a turn, not '{one.after[:40]}'")
        else:
            if one.after and when in WAVES:
                waves[who[0], when] = int(one.after)
            own = found.setdefault(who, {}).setdefault(when, {})
            ends[who, when] = where
            for item, value in one.values:
                fault = _fault(item, value, own, survey_of(who[0]))
                if fault:
                    faults.append(f"{where}: {fault}")
                else:
                    own[item] = int(value)
    for (who, when), where in ends.items():
        told = faults_of(found[who][when], survey_of(who[0]))
        faults += [f"{where}: {who[1]}, {when}: {fault}" for fault in told]
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
