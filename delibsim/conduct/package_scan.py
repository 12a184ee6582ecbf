"""What a package must not hold: secrets, addresses, names of people and of this machine."""

import getpass
import platform
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from delibsim.conduct.import_conversations import names_of_speakers
from delibsim.domain.data import read_data
from delibsim.domain.secret import HIDDEN, IN_MESSAGES, KEY_FORM
from delibsim.domain.text import counted
from delibsim.models.clients.faults import secrets
from delibsim.store.files import OF_PEOPLE
from delibsim.store.own_folder import names_in
from delibsim.store.people.persons import identities
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs

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
