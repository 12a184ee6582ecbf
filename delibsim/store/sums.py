"""The check sums of a session: what its files were when its run was written.

<session>/SHA256SUMS has a line a file, in the form of sha256sum: `sha256sum -c SHA256SUMS` in that
folder checks them without delibsim. It goes with the folder, wherever that is copied or deleted.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from delibsim.domain.text import counted, quoted
from delibsim.store.branch_folders import INHERITED
from delibsim.store.codec import Damaged
from delibsim.store.files import write_atomically
from delibsim.store.own_folder import SUMS
from delibsim.store.reading import opened
from delibsim.store.withdrawn import is_withdrawn

PLAN, RECORD, RUN = "session.json", "exchanges.jsonl", "run.json"
AGAIN = "the same command makes it again from its record"
UNKNOWN = (
    "{} without check sums (held by an earlier version, or SHA256SUMS is gone or damaged): whether"
    " they were changed since is not known, and delibsim replay compares them with their records"
)
Check = Callable[[Path, bytes], None]
"""What refuses a file of a session, given what it holds."""
LINE = re.compile(rb"^([0-9a-f]{64})  ([a-z]+\.jsonl?)\r?$", re.MULTILINE)
LONGEST = 4096  # bytes
BEFORE = (PLAN, INHERITED, RECORD)
"""What is whole before the run is written."""


def write_sums(folder: Path, run: str, durable: bool = False) -> None:
    """Write the check sums of a session whose run has this text and is to be written next.

    Without `durable` they are with the system alone: those that a loss of power takes are not
    known, which spoils nothing.
    """
    sums = {}
    for name in BEFORE:
        if (folder / name).is_file():
            sums[name] = sum_of(folder / name)
    sums[RUN] = hashlib.sha256(run.encode()).hexdigest()
    text = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    if durable:
        write_atomically(folder / SUMS, text, durable)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SUMS).unlink(missing_ok=True)  # a link would be followed
        (folder / SUMS).write_text(text, encoding="ascii")


def sums_in(folder: Path) -> dict[str, str]:
    """The check sum of each file of a session, by name; nothing where they were not kept, or cannot
    be read.
    """
    try:
        with opened(Path(f"{folder}/{SUMS}")) as file:
            found = LINE.findall(file.read(LONGEST))
    except OSError:
        return {}
    return {name.decode(): digest.decode() for digest, name in found}


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_changed(path: Path, content: bytes) -> None:
    """Damaged for a file of a session that holds this and held something else when the run was
    written. Where that is not known nothing is refused.
    """
    known = sums_in(path.parent).get(path.name)
    if known is None or known == hashlib.sha256(content).hexdigest():
        return
    again = f", or move it away: {AGAIN}" if path.name == RUN else ""
    raise Damaged(
        f"{path} was changed after it was written ({SUMS}): restore it from a copy{again}; what"
        f" differs: delibsim replay {quoted(path.parent)}"
    )


def lost_run(folder: Path) -> list[str]:
    """That a session without a run had one, in a sentence; nothing where it had none, as far as is
    known, or was withdrawn.
    """
    if RUN not in sums_in(folder) or is_withdrawn(folder):
        return []
    gone = f"{folder / RUN} is gone, or was not written to its end ({SUMS} tells of it)"
    return [f"{gone}: restore it from a copy, or {AGAIN}"]


def changed_files(folder: Path) -> list[str]:
    """The files of a session that are not what they were when its run was written, a sentence
    each.
    """
    found = []
    for name, digest in sums_in(folder).items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif sum_of(path) != digest:
            found.append(f"{name} is not what it was when the run was written ({SUMS})")
    return found


def unknown(folder: Path, sessions: Iterable[str]) -> str:
    """That it is not known of some of these sessions in a folder whether their runs were changed,
    in a sentence; "" where it is known of all.
    """
    n = sum(not sums_in(folder / name).keys() >= {PLAN, RUN} for name in sessions)
    return UNKNOWN.format(counted(n, "run")) if n else ""
