"""A folder that an export or a report replaces as a whole: only one that it wrote before."""

import os
from collections.abc import Iterator
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.store.reading import file_bytes, json_value

MANIFEST = "manifest.json"
"""The file that lists, under `files`, what was written into the folder beside it."""
SHOWN = 3


def refuse_others(folder: Path, writer: str, option: str = "--to") -> None:
    """WrongInput where a `writer`, such as an export, cannot or must not replace a folder.

    It must not where the folder holds a file that its manifest does not list. It cannot where a
    file stands in the way, the working folder lies in it, something is mounted there, or nothing
    may be written. `option` is the option of the command that names another.
    """
    place = folder.resolve()
    try:
        _refuse_place(place, folder, writer, option)
        foreign = _foreign(place) if place.is_dir() else []
    except OSError as error:
        raise WrongInput(
            f"{folder} cannot be the folder of the {writer}: {error.strerror}; name another:"
            f" {option} FOLDER"
        ) from None
    if foreign:
        more = f" and {len(foreign) - SHOWN} more" if len(foreign) > SHOWN else ""
        more += "" if (place / MANIFEST).is_file() else f"; it has no {MANIFEST}"
        raise WrongInput(
            f"{folder} holds what no {writer} wrote ({', '.join(foreign[:SHOWN])}{more}), and a new"
            f" {writer} replaces its folder as a whole; move that away, or name another folder:"
            f" {option} FOLDER"
        )


def names_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below a folder by its path in the folder, in order; links are not followed."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(folder).as_posix(), path


def _refuse_place(place: Path, folder: Path, writer: str, option: str) -> None:
    """WrongInput where a folder cannot be put at a place."""
    if place.exists() and not place.is_dir():
        raise WrongInput(f"{folder} is a file; name a folder: {option} FOLDER")
    within = f"name a folder within it: {option} {folder / writer}"
    if Path.cwd().is_relative_to(place):
        raise WrongInput(f"{folder} holds the working folder and cannot be replaced; {within}")
    if place.is_mount():
        raise WrongInput(f"a disk is mounted at {folder}, which cannot be replaced; {within}")
    above = next(one for one in place.parents if one.exists())
    if not above.is_dir():
        raise WrongInput(f"{above} is a file, so that {folder} cannot be a folder; name another")
    if not os.access(above, os.W_OK | os.X_OK):
        raise WrongInput(
            f"no folder can be written in {above}; name one that can be written: {option} FOLDER"
        )


def _foreign(folder: Path) -> list[str]:
    """The files below a folder that its manifest does not list."""
    try:
        listed = set(json_value(file_bytes(folder / MANIFEST))["files"]) | {MANIFEST}
    except (OSError, ValueError, KeyError, TypeError):
        listed = set()
    return [name for name, _ in names_in(folder) if name not in listed]
