"""Writing and appending files so that a crash at any moment leaves the old file, the new one, or
one torn last line.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import shutil
import stat
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO

from pydantic_core import PydanticSerializationError, to_json

from delibsim.domain.errors import WrongInput, refused
from delibsim.store.reading import json_value, opened

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


FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
"""Files, connections included, that this process may have open; often 1,024."""
MOST_OPEN = 2_000 if FILES == resource.RLIM_INFINITY else min(FILES // 5, 2_000)
"""Logs that are kept open at once."""
TRIES = 4  # looks at a lock before it counts as taken


def write_atomically(path: Path, text: str, durable: bool = False, mode: int = 0o666) -> None:
    """Write a whole text file: temporary file in the same folder, fsync, rename.

    With `durable` its name is on the disk too when this returns, and those of new folders.
    """
    with written_atomically(path, durable, mode) as write:
        write(text)


def _of_this_process() -> str:
    return f".{os.getpid()}-"


def is_left(name: str) -> bool:
    """Whether a file was left half written: not one that this process is writing."""
    return name.endswith(".tmp") and _of_this_process() not in name


@contextmanager
def written_atomically(
    path: Path, durable: bool = False, mode: int = 0o666
) -> Generator[Callable[[str], None]]:
    """Write a text file part by part, with the function that is given.

    The file takes its place when the context ends well; until then what was there is as it was.
    """
    make_folder(path.parent, durable)
    name = path.with_name(f".{path.name}{_of_this_process()}{token_hex(4)}.tmp")
    with _named(path):
        # tempfile would make it for its owner alone; this way the umask decides, as elsewhere.
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode_of(path, mode))
        file = os.fdopen(handle, "w", encoding="utf-8", newline="\n")

    def write(text: str) -> None:
        with _named(path):
            file.write(text)

    try:
        yield write
        with _named(path):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(name, path)
            if durable:
                _sync(path.parent)
    except BaseException:
        with suppress(OSError):
            file.close()
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


@contextmanager
def _named(path: Path) -> Generator[None]:
    """Errors of the system name this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def json_text(plain: Any, indent: int | None = None) -> str:
    """Plain values as JSON; escaped to ASCII where half a character could not be written as UTF-8.
    It reads back equal.

    Raises ValueError for NaN and infinite numbers, which are no JSON.
    """
    return _json_bytes(plain, indent).decode()


def _json_bytes(plain: Any, indent: int | None = None) -> bytes:
    try:
        text = to_json(plain, indent=indent, inf_nan_mode="constants")
    except PydanticSerializationError:
        return json.dumps(plain, allow_nan=False, indent=indent).encode()
    if b"NaN" in text or b"Infinity" in text:
        json.dumps(plain, allow_nan=False)  # raises if it is a number and not a word
    return text


def make_folder(folder: Path, durable: bool = False) -> None:
    """Make a folder and those above it where they are missing; with `durable` on the disk."""
    above = [one for one in (folder, *folder.parents) if not one.exists()] if durable else []
    folder.mkdir(mode_of(folder, 0o777), parents=True, exist_ok=True)
    for new in above:
        _sync(new.parent)


def _own_file(path: Path) -> int:
    """A file to be read, appended to and locked, made where it is missing; OSError for a link, a
    pipe or a device in its place, by which somebody else's file would be written or waited for.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags, mode_of(path, 0o666))
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    else:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
    problem = "it is a link, a pipe or a device, not a file; take it away"
    raise OSError(errno.EINVAL, problem, str(path))


def _own_text(path: Path) -> TextIO:
    return os.fdopen(_own_file(path), "a+", encoding="utf-8")


class Log:
    """A file of JSON objects, one a line, that is kept open from one line to the next.

    Not more than `MOST_OPEN` are; another is opened for each of its lines. A line is with the
    system when `append` returns, and outlives the process; with `durable` it is on the disk, and
    outlives a loss of power. A torn line left by a crash is closed first, and stays torn.
    """

    _open = 0

    def __init__(self, path: Path, durable: bool = False) -> None:
        self._path, self._durable = path, durable
        self._file: int | None = None
        self._end = 0  # how long the file was after the last line

    def append(self, record: Mapping[str, Any]) -> None:
        """Append one JSON object as one line; ValueError for one that is no JSON."""
        line = _json_bytes(record) + b"\n"
        try:
            self._write(line)
        except OSError as error:
            self.close()
            raise OSError(error.errno, error.strerror, str(self._path)) from None
        if Log._open > MOST_OPEN:
            self.close()

    def close(self) -> None:
        """Close the file; another line opens it again."""
        if self._file is not None:
            file, self._file, self._end = self._file, None, 0
            Log._open -= 1
            os.close(file)

    def _write(self, line: bytes) -> None:
        file, end = self._opened()
        if end != self._end and os.pread(file, 1, end - 1) != b"\n":
            line = b"\n" + line
        self._end = end + len(line)
        while line:
            line = line[os.write(file, line) :]
        if self._durable:
            os.fsync(file)
            if not end:
                _sync(self._path.parent)  # the name of a new file

    def _opened(self) -> tuple[int, int]:
        """The open file and its length; a new one, where it was removed."""
        if self._file is not None:
            status = os.fstat(self._file)
            if status.st_nlink:
                return self._file, status.st_size
            self.close()
        self._file = _own_file(self._path)
        Log._open += 1
        return self._file, os.fstat(self._file).st_size


def append_line(path: Path, record: Mapping[str, Any], durable: bool = False) -> None:
    """Append one JSON object as one line of a file that is not kept open (see Log)."""
    with closing(Log(path, durable)) as log:
        log.append(record)


def read_lines(
    path: Path, wanted: Callable[[bytes], bool] | None = None
) -> tuple[list[dict[str, Any]], int]:
    """The JSON objects of a file of lines, and how many lines were damaged; a missing file has none
    of either. Lines that are not `wanted` are passed over unread.
    """
    records, damaged = [], 0
    for _, record in each_line(path, wanted):
        if record is None:
            damaged += 1
        else:
            records.append(record)
    return records, damaged


def each_line(
    path: Path, wanted: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
    """Every line of a file that is not empty, with its JSON object; None where it is damaged.

    A missing file has no line. Lines that are not `wanted` are left out.
    """
    try:
        file = opened(path)
    except FileNotFoundError:
        return
    with file:
        for ended in file:
            line = ended.removesuffix(b"\n")
            if not line or (wanted is not None and not wanted(line)):
                continue
            try:
                record = json_value(line)
            except ValueError:
                record = None
            yield line, record if isinstance(record, dict) else None


@contextmanager
def staged(folder: Path) -> Generator[Path]:
    """An empty folder that takes the place of `folder` as a whole when the context ends well; until
    then `folder` is as it was.

    What processes left behind that were killed on the way is removed. A link stays, and the folder
    that it leads to is replaced.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{folder.name}."
    for path in folder.parent.iterdir():
        if path.name.startswith(prefix) and path.name.endswith(".tmp") and path.is_dir():
            _remove_if_left(path)
    new = folder.parent / f"{prefix}{token_hex(4)}.tmp"
    new.mkdir(mode_of(new, 0o777))
    handle = os.open(new, os.O_RDONLY)
    try:
        # Freed by the system when the process dies, which tells what is left behind.
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield new
        for path in (*new.iterdir(), new):
            _sync(path)
        _take_the_place(new, folder)
        _sync(folder.parent)
    except OSError as error:
        if error.filename is None:  # a file of the folder that was written line by line
            raise OSError(error.errno, error.strerror or str(error), str(folder)) from None
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)  # the old folder by now, or what was not finished
        os.close(handle)


def _take_the_place(new: Path, folder: Path) -> None:
    """Rename a folder over another: in one step where the system can exchange two names (Linux),
    else in two.
    """
    if not folder.exists():
        os.rename(new, folder)
        return
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    names = here, os.fsencode(new), here, os.fsencode(folder)
    if renameat2 is not None and renameat2(*names, exchange) == 0:
        return
    old = new.with_name(f"{new.name}.old")
    os.rename(folder, old)
    os.rename(new, folder)
    os.rename(old, new)


def _remove_if_left(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    except BlockingIOError:
        pass  # another process is writing it
    finally:
        os.close(handle)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Generator[Callable[[str], None]]:
    """Hold a folder for this process; WrongInput naming the other process if one holds it.

    Yields a function that, given a name, lets those processes in that know it (see `joined`), and
    no others, until the last of them has left. The operating system frees a lock when its process
    dies, however it dies, so a stale lock cannot exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _own_text(folder / ".lock") as file:

        def say(*lines: str) -> None:
            file.truncate(0)
            file.write("\n".join([str(os.getpid()), *lines]))
            file.flush()

        def share(name: str) -> None:
            # While nobody else can: a process that was let in under another name finds out.
            say(name)
            _flock(folder, file, fcntl.LOCK_SH)

        _flock(folder, file, fcntl.LOCK_EX)
        say()
        yield share


@contextmanager
def joined(folder: Path, name: str) -> Generator[None]:
    """Hold a folder beside the process that shares it under this name; WrongInput if it is held by
    another, or under another name.
    """
    with _own_text(folder / ".lock") as file:
        _flock(folder, file, fcntl.LOCK_SH)
        file.seek(0)
        if file.read().split("\n")[1:] != [name]:
            raise refused("given_to_others", folder=folder, named=name)
        yield


def holder(folder: Path) -> str:
    """The number of the process that holds a folder now, alone or with workers; "" if none does."""
    try:
        with opened(folder / ".lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.readline().decode(errors="replace").strip() or "(unknown)"
    except OSError:
        pass
    return ""


@contextmanager
def alone(path: Path) -> Generator[bool]:
    """Whether no other process is in this context for a file, nor another place of this process."""
    with _own_text(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def is_taken(path: Path) -> bool:
    """Whether a process is in `alone` for a file."""
    with suppress(FileNotFoundError), opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def in_turn(path: Path) -> Generator[None]:
    """Wait until no other process is in this context for a file, which is made if it is not
    there.
    """
    with _own_text(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _flock(folder: Path, file: TextIO, how: int) -> None:
    for _ in range(TRIES):
        try:
            return fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)  # somebody may only be looking (see holder)
    file.seek(0)
    process, *names = file.read().split("\n")
    workers = f" or by workers it began ({names[0]})" if names else ""
    raise WrongInput(
        f"{folder} is in use by process {process or '(unknown)'}{workers}; wait for it, or end it"
    ) from None
