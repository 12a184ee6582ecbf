"""The record of a study as far as it may be packaged: what people were promised, whose instruments
these are, and what is damaged decide.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.analysis.run.leave_out import people_among
from delibsim.conduct.verify import Verified
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.files import OF_PEOPLE, each_line
from delibsim.store.people.persons import answers_in_seats
from delibsim.store.people.register import Register
from delibsim.store.runs import NOTES, SCORES, TEXTS, VOTERS, Runs
from delibsim.store.session_files import INHERITED, PLAN, RECORD, RUN, SUMS, TOMBSTONE, WITHIN

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
