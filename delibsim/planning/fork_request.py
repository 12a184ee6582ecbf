"""What a fork asks for: where runs branch, what is said otherwise, who leaves and joins, how often;
read from the words of a command.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.parentage import Edit
from delibsim.domain.run import Session
from delibsim.store.reading import file_text

MOST_PLACES = 1_000
"""The most values that a list or range may name."""
LONGEST_FILE = 1_000_000
"""Bytes of a file that holds one statement."""
LIST = re.compile(r"\s*\d{1,9}\s*(,\s*\d{1,9}\s*)*")
RANGE = re.compile(r"\s*range\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\)\s*")
SAY = re.compile(r"(?:(\d{1,9})=)?(.+)", re.DOTALL)
INSERT = re.compile(r"(\d{1,9}):(\d{1,9})=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Spoken:
    """Words that are said in a turn (None: the one at which the run branches), and their file; a
    `seat` says them before that turn where they are inserted.
    """

    turn: int | None
    text: str
    file: str
    seat: int = 0


@dataclass(frozen=True)
class Places:
    """Where runs branch, which turns and seats are concerned, and how often.

    `said` and `inserted` hold for each edit its alternatives, of which every combination is held.
    `seats` are those whose model and persona change, counted from 1; () for all.
    """

    at: tuple[int, ...]
    said: tuple[tuple[Spoken, ...], ...] = ()
    inserted: tuple[tuple[Spoken, ...], ...] = ()
    removed: tuple[int, ...] = ()
    leave: tuple[int, ...] = ()
    join: int = 0
    seats: tuple[int, ...] = ()
    times: int = 1
    control: bool = False


@dataclass(frozen=True)
class Spot:
    """One place at which a run branches, and one combination of what is said otherwise."""

    at: int
    spoken: tuple[Spoken, ...]


def places_of(values: Mapping[str, Sequence[str]], home: Path, control: bool = False) -> Places:
    """The places that words name, by the option they were given with; WrongInput for others.

    Options: at, say, insert, remove, leave, join, seat, times. Files lie in `home` unless their
    path says otherwise.
    """
    said = tuple(_said(word, home) for word in values.get("say", ()))
    inserted = tuple(_inserted(word, home) for word in values.get("insert", ()))
    removed = _numbers(values, "remove")
    named = [one.turn for part in (*said, *inserted) for one in part if one.turn is not None]
    at = _numbers(values, "at") or tuple(sorted({*named, *removed})[:1])
    if not at:
        raise WrongInput("name the first turn that may differ: --at 6")
    return Places(
        at=at,
        said=said,
        inserted=inserted,
        removed=removed,
        leave=_numbers(values, "leave"),
        join=_number(values, "join", 0),
        seats=_numbers(values, "seat"),
        times=_number(values, "times", 1),
        control=control,
    )


def spots_of(places: Places) -> list[Spot]:
    """Every place with every combination of what is said otherwise, in order."""
    combinations = list(itertools.product(*places.said, *places.inserted))
    return [Spot(at, spoken) for at in places.at for spoken in combinations]


def edits_of(spot: Spot, removed: Iterable[int], speakers: Sequence[str]) -> tuple[Edit, ...]:
    """The edits of one spot; `speakers` are the participants in the order of seats."""
    edits = [Edit("remove", turn) for turn in removed]
    for one in spot.spoken:
        turn = spot.at if one.turn is None else one.turn
        if one.seat:
            edits.append(Edit("insert", turn, one.text, speakers[one.seat - 1]))
        else:
            edits.append(Edit("say", turn, one.text))
    return tuple(sorted(edits, key=lambda edit: edit.turn))


def seat_and_model(word: str, session: Session) -> tuple[list[str], str]:
    """The seat, by its number, and the setting that `--seat "Speaker 3=MODEL"` names; WrongInput
    for a name that nobody has.
    """
    name, _, model = word.rpartition("=")
    if name not in session.seats:
        raise unknown("seat", name, session.seats)
    return [str(session.seats.index(name) + 1)], f"model={model}"


def numbers(text: str, option: str) -> tuple[int, ...]:
    """The whole numbers that a list or a range names, each once; WrongInput for anything else.

    >>> numbers("6", "at"), numbers("0,2,4", "at"), numbers("range(0,10,3)", "at")
    ((6,), (0, 2, 4), (0, 3, 6, 9))
    """
    text = text.strip().removeprefix("[").removesuffix("]")
    found: Sequence[int] = ()
    if LIST.fullmatch(text):
        found = [int(part) for part in text.split(",")]
    elif match := RANGE.fullmatch(text):
        step = int(match[3] or 1)
        found = range(int(match[1]), int(match[2]), step) if step else ()
    if not found or len(found) > MOST_PLACES:
        raise WrongInput(
            f"--{option} is a whole number, a list of them (0,2,4) or a range (range(0,10)), at"
            f" most {MOST_PLACES}, not '{text}'"
        )
    return tuple(dict.fromkeys(found))


def _numbers(values: Mapping[str, Sequence[str]], option: str) -> tuple[int, ...]:
    found = [number for text in values.get(option, ()) for number in numbers(text, option)]
    if option in ("leave", "seat") and 0 in found:
        raise WrongInput(f"--{option}: seats are counted from 1")
    return tuple(dict.fromkeys(found))


def _number(values: Mapping[str, Sequence[str]], option: str, default: int) -> int:
    """One whole number above 0."""
    texts = values.get(option, ())
    if not texts:
        return default
    found = numbers(texts[-1], option)
    if len(found) != 1 or not 0 < found[0] <= MOST_PLACES:
        raise WrongInput(f"--{option} is one whole number from 1 to {MOST_PLACES}")
    return found[0]


def _said(word: str, home: Path) -> tuple[Spoken, ...]:
    """The alternatives of `--say 6=a.txt,b.txt`, or without a turn."""
    match = SAY.fullmatch(word)
    if match is None:
        raise WrongInput("--say names a turn and a file: --say 6=say.txt")
    turn = int(match[1]) if match[1] else None
    return tuple(Spoken(turn, _text(name, home), name) for name in match[2].split(","))


def _inserted(word: str, home: Path) -> tuple[Spoken, ...]:
    """The alternatives of `--insert 6:2=a.txt,b.txt`."""
    match = INSERT.fullmatch(word)
    if match is None or int(match[2]) == 0:
        raise WrongInput(
            "--insert names a turn, the seat that speaks before it, and a file: --insert"
            f" 6:2=say.txt, not '{word}'"
        )
    turn, seat = int(match[1]), int(match[2])
    return tuple(Spoken(turn, _text(name, home), name, seat) for name in match[3].split(","))


def _text(name: str, home: Path) -> str:
    """The text of a file; WrongInput where it cannot be said."""
    path = home / name.strip()
    text = file_text(path, LONGEST_FILE).strip()
    if not text:
        raise WrongInput(f"{path} is empty; a statement has words (to leave a turn out: --remove)")
    return text
