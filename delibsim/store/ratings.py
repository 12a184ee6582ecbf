"""The ratings of a study's debates on disk: one folder a panel, one rating a line.

The debates that people were handed, and what they say of them, lie in the folder of `OF_PEOPLE`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from delibsim.domain.annotation import annotated
from delibsim.domain.pooled import digest_of
from delibsim.domain.rating import Rating
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.store import codec
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.answers import Answers
from delibsim.store.files import each_line, json_text
from delibsim.store.packs import packs_of
from delibsim.store.reading import adapter
from delibsim.store.records import first_of_each
from delibsim.store.runs import Runs

PREFIX = "rating-"
"""What the names of the tasks of raters begin with."""
OF_PEOPLE = "people"
"""The task of the packs for people."""


@dataclass(frozen=True)
class Ratings(Answers[Rating]):
    """The ratings of one panel of language models, or those of people."""

    prefix = PREFIX
    called = "panel"
    key = "panel"
    command = "delibsim rate ask"

    def _read(self, file: Path, faults: list[str] | None) -> list[Rating]:
        found, damaged = [], 0
        for _, line in each_line(file):
            plain = dict(line or {})
            try:
                plain["missing"] = codec.reasons_from_plain(plain.get("missing", {}))
                found.append(adapter(Rating).validate_json(json_text(plain), strict=True))
            except (codec.Damaged, ValidationError, ValueError):
                damaged += 1
        if damaged and faults is not None:
            faults.append(f"{file}: {counted(damaged, 'damaged line')}")
        return first_of_each(found, file, faults)

    def _plain(self, answer: Rating) -> Mapping[str, Any]:
        plain = adapter(Rating).dump_python(answer, mode="json")
        return plain | {"missing": codec.reasons_to_plain(answer.missing)}


def rater(runs: Runs, faults: list[str] | None = None) -> Callable[[Run], Run]:
    """What makes of a run one with its ratings where it is a debate: those of language models by
    panel, then those of people. Damaged lines are left out, and told in `faults`.
    """
    by_debate: dict[str, list[Rating]] = {}
    tasks = [Ratings.of(runs, name) for name in _names(runs)]
    for own in tasks:
        for rating in (*own.all(faults), *own.people(faults)):
            by_debate.setdefault(rating.session, []).append(rating)
    wordings = _wordings(tasks)

    def rated(run: Run) -> Run:
        if not run.session.kind.sides:
            return run
        own = tuple(by_debate.get(run.session.id, ()))
        return annotated(run, ratings=own, wordings=wordings)

    return rated


def _names(runs: Runs) -> list[str]:
    """The names of the panels of a study, and that of people where they were handed anything."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{PREFIX}*/")
    return sorted(folder.name.removeprefix(PREFIX) for folder in folders)


def _wordings(tasks: list[Ratings]) -> dict[str, str]:
    """What the raters of every panel and pack read, by name: the id of the wording; where several
    have one id and say other things to raters, with the first digits of the SHA-256 of that.
    """
    kept = {}
    for own in tasks:
        if task := own.files.task():
            kept[own.name] = wording_kept(task["wording"])
        for pack, plain in packs_of(own.files).items():
            kept[pack] = wording_kept(plain["wording"])
    read = {name: (one.id, digest_of(_to_raters(one))) for name, one in kept.items()}
    versions = Counter(id for id, _ in set(read.values()))
    found = {}
    for name, (id, digest) in read.items():
        found[name] = id if versions[id] == 1 else f"{id} ({digest[:8]})"
    return found


def _to_raters(wording: Wording) -> dict[str, str]:
    """Those texts of a wording that are for raters alone."""
    return {name: text for name, text in wording.texts.items() if name.startswith("rater_")}
