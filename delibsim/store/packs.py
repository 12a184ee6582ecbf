"""Packs and draws of texts that people code, compare or judge: packs/NAME.json in the folder of a
task.

kind ("pack", "training", "review", "audit", "pairs", "summaries"), sheets (the key: what each code
on paper stands for); of texts that are coded also scheme and its SHA-256, unit, context, coders,
texts (id to chance of being drawn), random (ids that were drawn at random), among (how many texts
were drawn from). A pack that is answered on pages says so under online, and gets more sheets where
somebody left: each names in `follows` the sheet whose place it takes.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.store.annotations import TaskFolder
from delibsim.store.files import json_text, make_folder, write_atomically
from delibsim.store.reading import read_json


def packs_of(files: TaskFolder) -> dict[str, dict[str, Any]]:
    """The packs and draws of a task by name, in the order in which they were made."""
    found = {path.stem: read_json(path) for path in files.packs.glob("*.json")}
    return dict(sorted(found.items(), key=lambda one: (one[1]["number"], one[0])))


def add_pack(files: TaskFolder, name: str, pack: Mapping[str, Any]) -> Path:
    """Keep a pack under its name, numbered; WrongInput if there is one of that name."""
    path = files.packs / f"{name}.json"
    if path.exists():
        raise WrongInput(f"{path} exists: this pack was made before")
    make_folder(files.packs, files.durable)
    numbered = {"number": len(packs_of(files)) + 1, **pack}
    write_atomically(path, json_text(numbered, indent=1) + "\n", files.durable)
    return path


def extend_pack(files: TaskFolder, name: str, sheets: Mapping[str, Any]) -> None:
    """Keep more sheets of a pack behind those that there are; KeyError if there is no such pack."""
    pack = packs_of(files)[name]
    pack["sheets"] |= sheets
    write_atomically(files.packs / f"{name}.json", json_text(pack, indent=1) + "\n", files.durable)


def handed_out(
    packs: Mapping[str, Mapping[str, Any]], kinds: Collection[str]
) -> dict[str, set[str]]:
    """The ids of the texts in packs of these kinds, by coder."""
    found: dict[str, set[str]] = {}
    for pack in packs.values():
        if pack["kind"] in kinds:
            for sheet in pack["sheets"].values():
                found.setdefault(sheet["coder"], set()).add(sheet["text"])
    return found
