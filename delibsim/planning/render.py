"""Writing every prompt of a plan as text, to be read before anything is paid."""

import asyncio
import csv
from collections.abc import Sequence
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.planning.dry_run import call_signature, dry_run, render_prompts, speakers

INDEX = "index.csv"
HEAD = """\
Prompts as they will be sent, word for word, but for what nobody can know beforehand: statements are placeholders that say
whose they are, and the numbers in <answers> are placeholders too. Re-asks are not here.

"""
REPLICATES = """
===== the other replicates =====

They are asked the same, with other seeds: the considerations and options stand in other orders, the same for a participant in
both surveys, a network may be drawn anew, and the speakers follow each other in other orders. delibsim estimate --render FOLDER --every
writes each of them whole.

"""


def render(sessions: Sequence[Session], folder: Path, every: bool) -> tuple[int, int]:
    """Write a text file for each cell of the design, or for each session; how many files, and how
    many that differ but in models.

    A file whose prompts are those of another, asked of other models, says so in their place.
    index.csv names the file of every session. WrongInput if the folder holds anything already: what
    was rendered from another plan would pass for this one's.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongInput(
            f"{folder} is not empty; name a new folder, so that no prompt of another plan is read"
            " as one of this"
        )
    groups: dict[str, list[Session]] = {}
    for session in sessions:
        groups.setdefault(session.id if every else session.id.rpartition(".r")[0], []).append(
            session
        )
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[tuple[object, ...], str] = {}
    for name, group in groups.items():
        file = f"{name}.txt"
        key = (
            call_signature(group[0])[0],
            group[0].seed,
            *(session.replicate for session in group),
        )
        text = asyncio.run(_text(group, written.setdefault(key, file), file))
        (folder / file).write_text(text, encoding="utf-8", errors="replace")
    with (folder / INDEX).open("w", encoding="utf-8", newline="") as index:
        rows = csv.writer(index)
        rows.writerow(["session", "file", "models"])
        rows.writerows(
            [s.id, f"{name}.txt", " ".join(s.models)]
            for name, group in groups.items()
            for s in group
        )
    return len(groups), len(written)


async def _text(group: Sequence[Session], original: str, file: str) -> str:
    """The text of a file: the first session whole, and what is other in its replicates."""
    first, others = group[0], group[1:]
    if original != file:
        names = "\n".join(f"  {session.id}" for session in group)
        return (
            f"Word for word the prompts of {original}, asked of"
            f" {', '.join(first.models)}:\n{names}\n"
        )
    text = HEAD + await render_prompts(first)
    if others:
        text += REPLICATES + "".join(
            [f"{session.id}: {speakers(await dry_run(session))}\n" for session in others]
        )
    return text
