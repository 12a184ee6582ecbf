"""What a study is, frozen when it begins: settings, components, sessions, prompts, versions; and
every amendment since.
"""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL
from typing import Annotated, Any

from pydantic import Field, ValidationError

from delibsim.domain.errors import WrongInput, phrase
from delibsim.domain.run import Session
from delibsim.domain.survey import Survey, Topic
from delibsim.store.codec import differences
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import adapter, file_bytes, json_value

KINDS = ("topics", "surveys")
"""What a manifest keeps the hash of, while the plans of sessions hold it whole."""
UNTOLD = "was edited since the study began, in what the plans of its sessions do not hold"
Name = tuple[str, str]
"""A kind and an id."""
CONVERSATIONS = "conversations"
"""What study.json calls the sources of conversations that were imported."""
SCHEMA = 1
"""That of study.json; a file of another is refused."""


@dataclass(frozen=True)
class Manifest:
    """The file study.json. What stands in it is only ever added to.

    `settings` are shared by all sessions. `components` (`parts` in the file) are what sessions are
    made of, by kind and name. `sessions` are the names of all that are planned; `prompts` holds a
    SHA-256 for every cell of the design, `design` its facts (store.tables.session_facts). `begun`
    and each of `amendments` say when, with which versions and from which commit; an amendment also
    says what it added. `schema` is that of the file.
    """

    study: str
    settings: Mapping[str, Any]
    components: Annotated[Mapping[str, Mapping[str, Any]], Field(alias="parts")]
    sessions: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    design: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    begun: Mapping[str, Any] = field(default_factory=dict)
    amendments: tuple[Mapping[str, Any], ...] = ()
    schema: int = SCHEMA

    def edited(self, new: "Manifest") -> list[Name]:
        """The topics and surveys of which another holds another hash, by kind and id."""
        found = []
        for kind in KINDS:
            given = new.components.get(kind, {})
            for name, content in self.components.get(kind, {}).items():
                if given.get(name, content) != content:
                    found.append((kind, name))
        return found

    def conflicts(
        self,
        new: "Manifest",
        kept: Iterable[Session] = (),
        planned: Iterable[Session] = (),
    ) -> list[str]:
        """What would change under its name, one line a difference; what is only added is none.

        Topics and surveys that were edited are told in texts, as far as the plans that were `kept`
        and those `planned` now hold them.
        """
        changed = differences(dict(self.settings), dict(new.settings))
        for kind, named in self.components.items():
            if kind in KINDS:
                continue
            given = new.components.get(kind, {})
            before = {name: content for name, content in named.items() if name in given}
            now = {name: given[name] for name in before}
            changed += differences(before, now, kind)
        if edited := self.edited(new):
            changed += edits(edited, kept, planned)
        if changed:
            return changed
        reworded = [cell for cell, own in self.prompts.items() if new.prompts.get(cell, own) != own]
        return [
            f"prompts of {cell}: worded otherwise by this version of delibsim" for cell in reworded
        ]

    def amended(self, new: "Manifest") -> "Manifest":
        """With what is new in another; unchanged if nothing is."""
        components, added = {}, {}
        for kind in {**self.components, **new.components}:
            old = self.components.get(kind, {})
            components[kind] = {**old, **new.components.get(kind, {})}
            if fresh := sorted(components[kind].keys() - old.keys()):
                added[kind] = fresh
        sessions = tuple(dict.fromkeys([*self.sessions, *new.sessions]))
        if not added and sessions == self.sessions:
            return self
        count = len(sessions) - len(self.sessions)
        amendment = {**new.begun, "added": added, "sessions": count}
        prompts = {**new.prompts, **self.prompts}
        design = {}
        for kind in {**new.design, **self.design}:
            design[kind] = {**new.design.get(kind, {}), **self.design.get(kind, {})}
        amendments = (*self.amendments, amendment)
        return replace(
            self,
            components=components,
            sessions=sessions,
            prompts=prompts,
            design=design,
            amendments=amendments,
        )


def read_manifest(path: Path) -> Manifest | None:
    """What study.json holds, or None if there is none; WrongInput if it is damaged or of another
    schema.
    """
    if not path.is_file():
        return None
    try:
        plain = json_value(file_bytes(path))
    except ValueError as error:
        raise WrongInput(
            f"{path} is damaged ({error}); move it away to start the study anew"
        ) from None
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise WrongInput(
            f"{path} was not written under schema {SCHEMA}; this version leaves it untouched"
        )
    try:
        return adapter(Manifest).validate_python(plain)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise WrongInput(
            f"{path} is damaged ({where}); move it away to start the study anew"
        ) from None


def write_manifest(path: Path, manifest: Manifest, durable: bool = False) -> None:
    """Write study.json, atomically."""
    plain = adapter(Manifest).dump_python(manifest, mode="json", by_alias=True)
    write_atomically(path, json_text(plain, indent=1) + "\n", durable)


def refusal(problem: str, changed: Sequence[str]) -> str:
    """That something would change what a study is, and how to go on."""
    shown = "\n".join(f"  {line}" for line in changed[:20])
    if len(changed) > 20:
        shown += f"\n  and {len(changed) - 20} more"
    return phrase("left_as_it_is", problem=problem, shown=shown)


def commits(folders: Mapping[str, Path]) -> dict[str, str]:
    """The git commit of each folder that lies in a repository, with "+" where files differ from
    it.
    """
    found = {}
    for name, folder in folders.items():
        options: dict[str, Any] = {"cwd": folder, "text": True, "stderr": DEVNULL, "timeout": 10}
        asked = (
            ["git", "rev-parse", "HEAD"],
            ["git", "status", "--porcelain", "--untracked-files=no"],
        )
        try:
            head, changed = (subprocess.check_output(words, **options) for words in asked)
        except (OSError, subprocess.SubprocessError):
            continue
        found[name] = head.strip() + ("+" if changed.strip() else "")
    return found


def edits(edited: Sequence[Name], kept: Iterable[Session], now: Iterable[Session]) -> list[str]:
    """One line for each difference of the topics and surveys named, between the plans that were
    kept and those of now: where, what stood there, what stands there now.
    """
    before, after = _texts(edited, kept), _texts(edited, now)
    lines = []
    for name in edited:
        place = ".".join(name)
        old, new = before.get(name), after.get(name)
        found = differences(old, new, place) if old and new else []
        lines += found or [f"{place}: {UNTOLD}"]
    return lines


def _texts(wanted: Sequence[Name], sessions: Iterable[Session]) -> dict[Name, dict[str, Any]]:
    """The topics and surveys wanted as plain values, as far as sessions hold them."""
    found: dict[Name, dict[str, Any]] = {}
    for session in sessions:
        for kind, entry in zip(KINDS, (session.topic, session.survey), strict=True):
            name = kind, entry.id
            if name in wanted and name not in found:
                found[name] = _plain(entry)
        if len(found) == len(wanted):
            break
    return found


def _plain(entry: Topic | Survey) -> dict[str, Any]:
    """A topic or survey as plain values; the items of a survey by their labels."""
    plain = asdict(entry)
    if isinstance(entry, Survey):
        plain["items"] = {item["id"]: item for item in plain["items"]}
    return plain
