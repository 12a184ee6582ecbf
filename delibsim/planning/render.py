"""Writing every prompt of a plan as text, to be read before anything is paid."""

import asyncio
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.planning.dry_run import call_signature, dry_run, render_prompts, speakers

INDEX = "index.csv"
HEAD = (
    "Prompts as they will be sent, word for word, but for what nobody can know beforehand:"
    " statements are placeholders that say\nwhose they are, and the numbers in <answers> are"
    " placeholders too. Re-asks are not here.\n\n"
)
REPLICATES = (
    "\n===== the other replicates =====\n\n"
    "They are asked the same, with other seeds: the considerations and options stand in other"
    " orders, the same for a participant in\nboth surveys, a network may be drawn anew, and the"
    " speakers follow each other in other orders. delibsim estimate --render FOLDER --every\nwrites"
    " each of them whole.\n\n"
)


def render(sessions: Sequence[Session], folder: Path, every: bool) -> tuple[int, int]:
    """Write a text file for each cell of the design, or for each session.

    Returns how many files there are, and how many that differ but in models. A file whose prompts
    are those of another, asked of other models, says so in their place. index.csv names the file of
    every session. WrongInput if the folder holds anything already: what was rendered from another
    plan would be taken for this one's.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongInput(
            f"{folder} is not empty; name a new folder, so that no prompt of another plan is read"
            " as one of this"
        )
    groups: dict[str, list[Session]] = {}
    for session in sessions:
        name = session.id if every else session.cell
        groups.setdefault(name, []).append(session)
    folder.mkdir(parents=True, exist_ok=True)
    originals: dict[tuple[object, ...], str] = {}
    for name, group in groups.items():
        file = f"{name}.txt"
        replicates = [session.replicate for session in group]
        key = (call_signature(group[0])[0], group[0].seed, *replicates)
        text = asyncio.run(_text(group, originals.setdefault(key, file), file))
        (folder / file).write_text(text, encoding="utf-8", errors="replace")
    _write_index(groups, folder / INDEX)
    return len(groups), len(originals)


def _write_index(groups: Mapping[str, Sequence[Session]], path: Path) -> None:
    """Write the file and the models of every session."""
    with path.open("w", encoding="utf-8", newline="") as index:
        rows = csv.writer(index)
        rows.writerow(["session", "file", "models"])
        for name, group in groups.items():
            for session in group:
                rows.writerow([session.id, f"{name}.txt", " ".join(session.models)])


async def _text(group: Sequence[Session], original: str, file: str) -> str:
    """The text of a file: the first session whole, and what differs in its replicates."""
    first, others = group[0], group[1:]
    if original != file:
        models = ", ".join(first.models)
        names = "\n".join(f"  {session.id}" for session in group)
        return f"Word for word the prompts of {original}, asked of {models}:\n{names}\n"
    text = HEAD + await render_prompts(first)
    if others:
        text += REPLICATES
    for session in others:
        text += f"{session.id}: {speakers(await dry_run(session))}\n"
    return text
