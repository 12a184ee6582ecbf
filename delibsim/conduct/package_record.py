"""The record of a study as far as it may be packaged: what people were promised, whose instruments
these are, and what is damaged decide; and what a package must not hold: secrets, names, addresses.
"""

import getpass
import platform
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from delibsim.analysis.run.leave_out import people_among
from delibsim.conduct.import_conversations import names_of_speakers
from delibsim.conduct.verify import Verified
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.secret import HIDDEN, IN_MESSAGES, KEY_FORM
from delibsim.domain.text import counted
from delibsim.models.clients.faults import secrets
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.files import OF_PEOPLE, each_line
from delibsim.store.own_folder import names_in
from delibsim.store.people.persons import answers_in_seats, identities
from delibsim.store.people.register import Register
from delibsim.store.runs import NOTES, SCORES, TEXTS, VOTERS, Runs
from delibsim.store.session_files import INHERITED, PLAN, RECORD, RUN, SUMS, TOMBSTONE, WITHIN

_KNOWN = read_data("package.yaml")
REDACTED = "[redacted]"
SHORTEST = 4
"""Characters of a name of this machine, and of an address, from which on it is looked for."""
SHORTEST_OF_PEOPLE = 3
"""Characters of a person's name from which on."""
HIDDEN_ALREADY = (REDACTED, HIDDEN, "=hidden")
"""What a text ends with that stands for a secret: here, in messages, in addresses."""
SECRET = "secret"


@dataclass(frozen=True)
class Traces:
    """What is looked for: patterns by what they find, of which the texts in `kept` may stay."""

    patterns: Mapping[str, re.Pattern[str]]
    kept: frozenset[str]

    def found_in(self, text: str) -> Iterator[tuple[str, str]]:
        """Every trace in a text: its kind, and the text itself."""
        for kind, pattern in self.patterns.items():
            for match in pattern.finditer(text):
                if not self._may_stay(match[0]):
                    yield kind, match[0]

    def without(self, text: str) -> str:
        """A text with every trace redacted."""
        for pattern in self.patterns.values():
            text = pattern.sub(lambda one: one[0] if self._may_stay(one[0]) else REDACTED, text)
        return text

    def _may_stay(self, found: str) -> bool:
        """Whether a text that was found was kept, or stands for what is hidden already."""
        return not found or found in self.kept or found.endswith(HIDDEN_ALREADY)


@dataclass(frozen=True)
class Trace:
    """What was found: its kind, the text, how often, and the first file that holds it."""

    kind: str
    text: str
    times: int
    file: str

    def told(self) -> str:
        """In a sentence; of a secret its beginning alone."""
        shown = f"{self.text[:4]}..." if self.kind == SECRET else self.text
        return f"{self.kind}: {shown} ({counted(self.times, 'time')}, first in {self.file})"


ALL = "all"
"""Of people: everybody agreed to sharing."""
OF_STUDY = ("study.json", "fingerprints.jsonl", TEXTS, VOTERS, NOTES, "preregistration.md")
OF_SESSION = (PLAN, RECORD, RUN, SUMS, INHERITED, TOMBSTONE, "sent.jsonl", "interventions.jsonl")
OF_TASK = ("task.json", RECORD, "annotations.jsonl", "steps.jsonl", "scheme.json", "batches.jsonl")
LICENSED = re.compile(
    r"(?<!\bno )(?<!\bnot )(?<!\bwithout )(?<!\bwithout a )\blicen[cs]", re.IGNORECASE
)
"""A source that names a licence, and does not say that there is none."""
OF_RATERS = ("people.jsonl", "packs")
WHY: Mapping[str, str] = read_data("package.yaml")["why"]
DAMAGED = ("changed", "damaged", "lost")
"""The verdicts under which a session is not what was recorded."""


@dataclass(frozen=True)
class LeftOut:
    """What of a study is not in a package: its place in the study, why (a code), and in words."""

    place: str
    why: str
    detail: str

    @classmethod
    def because(cls, place: str, why: str, **known: str) -> "LeftOut":
        """With the words for a code."""
        return cls(place, why, WHY[why].format(**known))


def places_of(runs: Runs) -> Iterator[tuple[str, Runs]]:
    """A study, and what lies within it as a study, each with what its places begin with."""
    yield "", runs
    for kind in WITHIN:
        if (runs.folder / kind / "study.json").is_file():
            yield f"{kind}/", Runs.at(runs.folder / kind)


def left_out(runs: Runs, verified: Verified, people: str) -> list[LeftOut]:
    """The sessions and tasks of a study that a package may not hold."""
    damaged = {one.name for one in verified.differing if one.verdict in DAMAGED}
    found: dict[str, LeftOut] = {}
    agreed = _agreed(runs, people)
    for prefix, place in places_of(runs):
        for name in place.sessions():
            at = f"{prefix}{name}"
            why = "damaged" if at in damaged else _why(place, name, agreed, found)
            if why:
                found[at] = LeftOut.because(at, why)
    names = {place.rpartition("/")[2] for place in found}
    for prefix, place in places_of(runs):
        for folder in _tasks(place):
            at = f"{prefix}{ANNOTATIONS}/{folder.name}"
            if names and _mentions(folder, names):
                found[at] = LeftOut.because(at, "mentions")
            elif people != ALL and any((folder / name).exists() for name in OF_RATERS):
                found[f"{at}/people"] = LeftOut.because(f"{at}/people", "raters")
    return list(found.values())


def _tasks(runs: Runs) -> list[Path]:
    """The folders of what was asked about the texts of a study."""
    return sorted(path for path in (runs.folder / ANNOTATIONS).glob("*") if path.is_dir())


def _why(
    runs: Runs, name: str, agreed: Callable[[Session], bool], found: Mapping[str, LeftOut]
) -> str:
    """The code of why a session is left out; "" where it is packaged."""
    try:
        session = runs.unchecked().planned(name)
    except WrongInput:
        return "damaged"
    if people_among(session) and not runs.withdrawn(name) and not agreed(session):
        return "people"
    parent = session.parentage.session if session.parentage is not None else ""
    return "parent" if parent in found else ""


def _agreed(runs: Runs, people: str) -> Callable[[Session], bool]:
    """Whether everybody in a session agreed to sharing: `people` is "all", "" for nobody, or a
    question of the researcher and the answer that says so, QUESTION=ANSWER.
    """
    if people in ("", ALL):
        return lambda session: people == ALL
    question, equals, answer = people.partition("=")
    if not equals or not any((runs.folder / name).is_file() for name in OF_PEOPLE):
        said = "is all, or QUESTION=ANSWER of a study with a register of people"
        raise WrongInput(f"--people {said}, not '{people}'")
    register = Register.of(runs)
    given = answers_in_seats(register, question)
    register.close()
    if not any(filter(None, (one for own in given.values() for one in own))):
        raise WrongInput(f"--people: nobody answered a question '{question}'")

    def agreed(session: Session) -> bool:
        there = given.get(session.id, [])
        return bool(there) and all(answer in own for own in there)

    return agreed


def _mentions(folder: Path, sessions: Collection[str]) -> bool:
    """Whether a file of a folder names one of these sessions."""
    for path in folder.rglob("*.json*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        if any(name in text for name in sessions):
            return True
    return False


def unlicensed(runs: Runs) -> list[LeftOut]:
    """The instruments of others in a study whose source names no licence: with them the record of
    every session goes, whose prompts hold their items.
    """
    found = {}
    for name in runs.sessions():
        try:
            survey = runs.unchecked().planned(name).survey
        except WrongInput:
            continue
        if survey.validated and not LICENSED.search(survey.source):
            known = {"survey": survey.id, "source": survey.source or "none is named"}
            found[survey.id] = LeftOut.because(f"record of {survey.id}", "instrument", **known)
    return list(found.values())


def copy_record(runs: Runs, to: Path, without: Sequence[LeftOut]) -> None:
    """Copy the record of a study into a folder, without what is left out, what is of this machine
    (locks, caches, the register of people), and what can be made again.
    """
    gone = {one.place for one in without}
    for prefix, place in places_of(runs):
        target = to / prefix
        target.mkdir(parents=True, exist_ok=True)
        _copy(place.folder, target, OF_STUDY)
        for name in place.sessions():
            if f"{prefix}{name}" not in gone:
                _copy(place.folder / name, target / name, OF_SESSION)
        for folder in _tasks(place):
            at = f"{prefix}{ANNOTATIONS}/{folder.name}"
            if at not in gone:
                raters = () if f"{at}/people" in gone else OF_RATERS
                _copy(folder, target / folder.relative_to(place.folder), (*OF_TASK, *raters))
        _copy_scores(place, target / SCORES, {one.rpartition("/")[2] for one in gone})


def _copy(source: Path, target: Path, names: Sequence[str]) -> None:
    for name in names:
        path = source / name
        if path.is_symlink() or not path.exists():
            continue
        target.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target / name, symlinks=True)
        else:
            shutil.copyfile(path, target / name)


def _copy_scores(runs: Runs, target: Path, gone: Collection[str]) -> None:
    """Copy scores, without those of sessions that are left out."""
    for path in sorted((runs.folder / SCORES).rglob("*.jsonl")):
        to = target / path.relative_to(runs.folder / SCORES)
        to.parent.mkdir(parents=True, exist_ok=True)
        with to.open("wb") as file:
            for line, score in each_line(path):
                about = str((score or {}).get("target", "")).partition("/")[0]
                if about not in gone:
                    file.write(line + b"\n")


def traces_of(studies: Iterable[Runs], folders: Iterable[Path], kept: Collection[str]) -> Traces:
    """What is looked for in a package of these studies: `folders` are those of this machine, `kept`
    what may stand in it all the same.
    """
    found = {SECRET: f"{KEY_FORM.pattern}|{_any(secrets())}"}
    found |= {f"{SECRET} in an address": IN_MESSAGES.pattern}
    places = {str(one) for path in folders for one in (path.resolve(), path.absolute())}
    places = {one for one in places if one.count("/") > 1}
    found |= {"folder of this machine": _any(places), **_KNOWN["scan"]}
    found |= {"user or machine": _any(_of_machine(), whole=True)}
    found |= {"person": _any(map(_in_any_case, _of_people(studies)), whole=True, plain=False)}
    patterns = {}
    for kind, pattern in found.items():
        flags = re.IGNORECASE if kind.endswith("address") and SECRET in kind else 0
        patterns[kind] = re.compile(pattern, flags)
    return Traces(patterns, frozenset(kept))


def _any(texts: Iterable[str], whole: bool = False, plain: bool = True) -> str:
    """A pattern of any of these texts, or of these patterns where they are not `plain`, the longest
    first, as whole words if wished.
    """
    known = sorted(filter(None, texts), key=len, reverse=True)
    joined = "|".join(map(re.escape, known) if plain else known)
    if not joined:
        return r"(?!)"
    return rf"(?<!\w)(?:{joined})(?!\w)" if whole else joined


def _of_machine() -> Iterator[str]:
    """The names of the user and of the machine, where they tell something."""
    with suppress(OSError, KeyError):  # a user without an entry
        yield from _telling(getpass.getuser())
    yield from _telling(platform.node())


def _telling(name: str) -> Iterator[str]:
    if len(name) >= SHORTEST and name not in (*_KNOWN["common_users"], "localhost"):
        yield name


def _in_any_case(name: str) -> str:
    """A pattern of what somebody is known by: a word of its own as it is written, since many names
    are words too (Will, Rose), and several words in upper or lower case.
    """
    return f"(?i:{re.escape(name)})" if re.search(r"\W", name) else re.escape(name)


def _of_people(studies: Iterable[Runs]) -> Iterator[str]:
    """What the registers of the studies know people by, and the files of names beside them."""
    for runs in studies:
        yield from _long_enough(names_of_speakers(runs), SHORTEST_OF_PEOPLE)
        if not any((runs.folder / name).is_file() for name in OF_PEOPLE):
            continue
        register = Register.of(runs)
        for one in identities(register).values():
            yield from _long_enough([one.name], SHORTEST_OF_PEOPLE)
            yield from _long_enough([one.address, one.panel_id], SHORTEST)
        register.close()


def _long_enough(texts: Iterable[str], shortest: int) -> Iterator[str]:
    return (text for text in texts if len(text) >= shortest)


def texts_in(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Every file below a folder that holds text: its path in the folder, the file, the text."""
    for name, path in names_in(folder):
        if path.suffix not in _KNOWN["binary"]:
            yield name, path, path.read_text(encoding="utf-8", errors="surrogateescape")


def scan(folder: Path, traces: Traces) -> list[Trace]:
    """What a folder holds that it must not."""
    times: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], str] = {}
    for name, _, text in texts_in(folder):
        for one in traces.found_in(text):
            times[one] = times.get(one, 0) + 1
            first.setdefault(one, name)
    return [Trace(*one, times[one], first[one]) for one in times]


def redact(folder: Path, traces: Traces) -> list[str]:
    """Replace in every file of a folder what it must not hold; the names of the files changed."""
    changed = []
    for name, path, text in texts_in(folder):
        clean = traces.without(text)
        if clean != text:
            path.write_bytes(clean.encode("utf-8", errors="surrogateescape"))
            changed.append(name)
    return changed
