"""The tombstone of a session that was withdrawn: <session>/withdrawn.json beside its plan.

A person who took part has withdrawn, and her words were deleted. Words of others quote hers, so the
session goes as a whole: its run, its record, and what was derived from them. The plan stays, so
that the session is counted under its condition as planned and not held.
"""

from datetime import UTC, datetime
from os.path import isfile
from pathlib import Path

from delibsim.domain.text import study_named
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import read_json

WITHDRAWN = "withdrawn"
"""The state of such a session, and the reason why it has no run."""
FILE = "withdrawn.json"


def is_withdrawn(folder: Path) -> bool:
    """Whether the session in this folder was withdrawn."""
    return isfile(f"{folder}/{FILE}")


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
    write_atomically(folder / FILE, json_text(plain, indent=1) + "\n", durable=True)


def spent_before(folder: Path) -> tuple[float, int]:
    """US dollars and tokens that the calls of a session had cost before it was withdrawn."""
    plain = read_json(folder / FILE)
    found = plain if isinstance(plain, dict) else {}
    return float(found.get("cost_usd", 0.0)), int(found.get("tokens", 0))


def why_withdrawn(folder: Path, session: str, study: str) -> str:
    """That a session was withdrawn, and when, in a sentence."""
    plain = read_json(folder / FILE)
    at = str(plain.get("at", "")) if isinstance(plain, dict) else ""
    when = f" on {at[:10]}" if at else ""
    return (
        f"session '{session}' of {study_named(study)} was withdrawn{when}: a person who took part"
        " had her words deleted, and with them the whole session. There is no run to read, and it"
        " is not held again"
    )
