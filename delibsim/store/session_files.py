"""What lies in the folder of a session beside its plan and its run: check sums, and the tombstone
of one that was withdrawn; and the folders of branches.

<session>/SHA256SUMS has a line a file, in the form of sha256sum: `sha256sum -c SHA256SUMS` in that
folder checks them without delibsim. It goes with the folder, wherever that is copied or deleted.
<session>/withdrawn.json says that a person who took part has withdrawn, and her words were deleted.
Words of others quote hers, so the session goes as a whole: its run, its record, and what was
derived from them. The plan stays, so that the session is counted under its condition as planned and
not held. Forks, probes and the null twin lie each in a folder of their study, laid out as a study
of its own, so that they are never among its planned sessions.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from os.path import isfile
from pathlib import Path

from delibsim.domain.errors import phrase
from delibsim.domain.study import slug
from delibsim.domain.text import counted, quoted, study_named
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text, write_atomically
from delibsim.store.own_folder import SUMS
from delibsim.store.reading import opened, read_json

FORKS, PROBES = "forks", "probes"
BRANCHES = (FORKS, PROBES)
"""The folders of a study that hold branches of runs."""
TWIN = "null_twin"
"""The folder of a study that holds the same design with citizens in all seats."""
WITHIN = (*BRANCHES, TWIN)
"""The folders of a study that are laid out as studies of their own."""
INHERITED = "inherited.jsonl"
"""What a branch has of the record of the run it branches off."""


def folder_of(root: Path, study: str) -> Path:
    """The folder of a study, or of what lies within one as a study: pilot/forks, pilot/null_twin.

    >>> folder_of(Path("runs"), "pilot/forks").as_posix()
    'runs/pilot/forks'
    """
    base, _, kind = study.rpartition("/")
    if base and kind in WITHIN:
        return folder_of(root, base) / kind
    return root / slug(study)


WITHDRAWN = "withdrawn"
"""The state of such a session, and the reason why it has no run."""
TOMBSTONE = "withdrawn.json"


def is_withdrawn(folder: Path) -> bool:
    """Whether the session in this folder was withdrawn."""
    return isfile(f"{folder}/{TOMBSTONE}")


def lay_tombstone(folder: Path, session: str, cost_usd: float = 0.0, tokens: int = 0) -> None:
    """Mark a session as withdrawn, on the disk when this returns; whoever reads the study passes it
    over from now on, whatever else of it still lies there.

    What its calls have cost stays, because budgets count on it.
    """
    if is_withdrawn(folder):
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    named = {"session": session, "reason": WITHDRAWN, "at": at}
    plain = {**named, "cost_usd": cost_usd, "tokens": tokens}
    write_atomically(folder / TOMBSTONE, json_text(plain, indent=1) + "\n", durable=True)


def spent_before(folder: Path) -> tuple[float, int]:
    """US dollars and tokens that the calls of a session had cost before it was withdrawn."""
    plain = read_json(folder / TOMBSTONE)
    found = plain if isinstance(plain, dict) else {}
    return float(found.get("cost_usd", 0.0)), int(found.get("tokens", 0))


def why_withdrawn(folder: Path, session: str, study: str) -> str:
    """That a session was withdrawn, and when, in a sentence."""
    plain = read_json(folder / TOMBSTONE)
    at = str(plain.get("at", "")) if isinstance(plain, dict) else ""
    when = f" on {at[:10]}" if at else ""
    return phrase("session_withdrawn", session=session, study=study_named(study), when=when)


PLAN, RECORD, RUN = "session.json", "exchanges.jsonl", "run.json"
AGAIN = "the same command makes it again from its record"
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


def unknown_sums(folder: Path, sessions: Iterable[str]) -> str:
    """That it is not known of some of these sessions in a folder whether their runs were changed,
    in a sentence; "" where it is known of all.
    """
    n = sum(not sums_in(folder / name).keys() >= {PLAN, RUN} for name in sessions)
    return phrase("no_check_sums", runs=counted(n, "run")) if n else ""
