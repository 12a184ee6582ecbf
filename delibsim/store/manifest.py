"""What a study is, frozen when it begins: settings, parts, sessions, prompts, versions; and every
amendment since.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from pydantic import TypeAdapter, ValidationError

from delibsim.domain.errors import WrongInput
from delibsim.store.codec import differences
from delibsim.store.editions import EDITIONS, FIRST, NOW, UNSAID
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import file_bytes, json_value

SCHEMA = 3


@dataclass(frozen=True)
class Manifest:
    """The file study.json. What stands in it is only ever added to.

    `settings` are shared by all sessions; `parts` are what sessions are made of, by kind and name;
    `sessions` the names of all that are planned; `prompts` a SHA-256 for every cell of the design;
    `begun` and each of `amendments` say when, with which versions and from which commit; an
    amendment also what it added. `edition` names the presets and prompts that the study keeps (see
    editions.py). `schema` is that of the file: what was read from a file of schema 2 says what was
    left unsaid there, and is written as schema 3 when the study goes on. Of `schema` 1, `settings`
    and `parts` are all there is.
    """

    study: str
    settings: Mapping[str, Any]
    parts: Mapping[str, Mapping[str, Any]]
    sessions: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    begun: Mapping[str, Any] = field(default_factory=dict)
    amendments: tuple[Mapping[str, Any], ...] = ()
    schema: int = SCHEMA
    edition: str = NOW

    def conflicts(self, new: "Manifest") -> list[str]:
        """What would change under its name, one line a difference; what is only added is none."""
        if self.schema == 1:
            # Sessions were named otherwise then, so that what is held already would be asked and
            # paid for once more.
            return [
                f"schema: {self.schema} -> {new.schema} (it can be read, scored and exported, and"
                " not be gone on with)"
            ]
        changed = differences(dict(self.settings), dict(new.settings))
        for kind, named in self.parts.items():
            given = new.parts.get(kind, {})
            both = [name for name in named if name in given]
            changed += differences({n: named[n] for n in both}, {n: given[n] for n in both}, kind)
        both = [
            cell
            for cell in self.prompts
            if cell in new.prompts and self.prompts[cell] != new.prompts[cell]
        ]
        return changed or [
            f"prompts of {cell}: worded otherwise by this version of delibsim" for cell in both
        ]

    def amended(self, new: "Manifest") -> "Manifest":
        """With what is new in another; unchanged if nothing is."""
        parts = {
            kind: {**self.parts.get(kind, {}), **new.parts.get(kind, {})}
            for kind in {**self.parts, **new.parts}
        }
        sessions = tuple(dict.fromkeys([*self.sessions, *new.sessions]))
        fresh = {kind: sorted(set(parts[kind]) - set(self.parts.get(kind, {}))) for kind in parts}
        added = {kind: names for kind, names in fresh.items() if names}
        if not added and sessions == self.sessions:
            return replace(self, schema=SCHEMA)
        count = len(sessions) - len(self.sessions)
        amendment = {**new.begun, "added": added, "sessions": count}
        prompts = {**new.prompts, **self.prompts}
        amendments = (*self.amendments, amendment)
        return replace(
            self,
            parts=parts,
            sessions=sessions,
            prompts=prompts,
            amendments=amendments,
            schema=SCHEMA,
        )


MANIFEST = TypeAdapter(Manifest)


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
    if not isinstance(plain, dict) or plain.get("schema") not in range(1, SCHEMA + 1):
        raise WrongInput(
            f"{path} was not written under schema {SCHEMA}; this version leaves it untouched"
        )
    if plain["schema"] < SCHEMA:
        plain = _upgraded(plain)
    elif plain.get("edition") not in EDITIONS:
        raise WrongInput(
            f"{path}: edition {plain.get('edition')!r} is not known to this version; known are"
            f" {', '.join(EDITIONS)}"
        )
    try:
        return MANIFEST.validate_python(plain)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise WrongInput(
            f"{path} is damaged ({where}); move it away to start the study anew"
        ) from None


def _upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    """What an older file left unsaid: its edition, and the procedures' settings that came later."""
    parts = plain.get("parts")
    if not isinstance(parts, dict) or not isinstance(parts.get("procedures"), dict):
        return plain | {"edition": FIRST}
    said = {key: value for key, value in UNSAID.items() if value is not None}
    told = {}
    for name, own in parts["procedures"].items():
        told[name] = {**said, **own} if isinstance(own, dict) else own
    return plain | {"edition": FIRST, "parts": {**parts, "procedures": told}}


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write study.json, atomically."""
    write_atomically(path, json_text(MANIFEST.dump_python(manifest, mode="json"), indent=1) + "\n")


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
