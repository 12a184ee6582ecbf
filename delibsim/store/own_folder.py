"""A folder that an export or a report replaces as a whole: only one that it wrote before; and the
files of a folder that may come from somebody else: only those that lie in it.
"""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.store.reading import file_bytes, json_value

MANIFEST = "manifest.json"
"""The file that lists, under `files`, what was written into the folder beside it."""
SUMS = "SHA256SUMS"
"""The file of a folder with the check sums of all others, the manifest too."""
SHOWN = 3


def refuse_others(folder: Path, writer: str, option: str = "-o") -> None:
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


def own_bytes(folder: Path, name: str, most: int) -> bytes:
    """The content of a file by its path in a folder; ValueError where it has more than `most`
    bytes, OSError where it is no regular file, or where its path holds a link.
    """
    with _opened(folder, name) as handle, os.fdopen(handle, "rb", closefd=False) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"larger than {most:,} bytes")
    return content


def own_stamp(folder: Path, name: str) -> tuple[int, ...]:
    """By what a file is known again as long as it stays the same; OSError as `own_bytes`."""
    with _opened(folder, name) as handle:
        found = os.fstat(handle)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def _opened(folder: Path, name: str) -> Generator[int]:
    """A regular file by its path in a folder, opened without following a link on that path."""
    *above, last = name.split("/")
    opened = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for part in above:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        # A pipe without a writer would be waited for.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        opened.append(os.open(last, flags, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise OSError(None, "no regular file", name)
        yield opened[-1]
    finally:
        for handle in opened:
            os.close(handle)


def foreign_in(folder: str | Path) -> Iterator[str]:
    """The paths in a folder of the entries that are neither files nor folders but links, pipes or
    devices.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/{within}" for within in foreign_in(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                yield entry.name


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
        listed = {MANIFEST, SUMS, *json_value(file_bytes(folder / MANIFEST))["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        listed = set()
    return [name for name, _ in names_in(folder) if name not in listed]
