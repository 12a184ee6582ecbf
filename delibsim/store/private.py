"""Folders that their owner alone may read: those of studies that people take part in."""

import os
from contextlib import suppress
from pathlib import Path

OTHERS = 0o077
"""What everybody but the owner may do with a file or a folder."""
OF_PEOPLE = ("people.yaml", "people.sqlite")
"""Files in the folder of a study that people take part in."""

_private: set[str] = set()
_commands: list[bool] = []


def be_a_command() -> None:
    """Let `keep_private` decide what becomes of every file of this process, which is a command of
    delibsim and nothing else.
    """
    _commands.append(True)


def keep_private(folder: Path) -> None:
    """Let its owner alone read a folder, what lies in it and what delibsim writes there later.

    A command writes all that it writes for its owner alone from now on, wherever that is:
    databases, tables and figures are written by others. Who uses delibsim from Python keeps the
    umask.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if _commands:
        os.umask(OTHERS)
    _private.add(os.path.realpath(folder))
    folder.mkdir(0o777 & ~OTHERS, exist_ok=True)
    if not folder.stat().st_mode & OTHERS:
        return
    for path in [*folder.rglob("*"), folder]:
        with suppress(OSError):  # it has gone meanwhile, or is of somebody else
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~OTHERS)


def mode_of(path: Path, mode: int) -> int:
    """The mode of a new file or folder, which the umask may narrow further."""
    if not _private:
        return mode
    real = os.path.realpath(path)
    kept = any(real == one or real.startswith(f"{one}{os.sep}") for one in _private)
    return mode & ~OTHERS if kept else mode


def stay_private(folder: Path) -> None:
    """Go on keeping private a folder that is, or is to be: people take part in its study."""
    if not folder.is_dir():
        return
    of_people = any((folder / one).is_file() for one in OF_PEOPLE)
    if of_people or not folder.stat().st_mode & OTHERS:
        keep_private(folder)
