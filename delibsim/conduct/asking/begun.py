"""Going on with a task: what of its settings would change, and how that is refused."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.models.base import OUTCOMES
from delibsim.store.annotations import TaskFolder
from delibsim.store.codec import differences
from delibsim.store.files import each_line

SHOWN = 12
"""How many differences a refusal lists."""


def answered(files: TaskFolder) -> bool:
    """Whether a model has answered in a task, be it with a reply that could not be read: what it
    said belongs to the settings with which it was asked. A call that failed on the way binds
    nobody.
    """
    if files.annotations.is_file():
        return True
    # Most records begin with an answer, so that little of a long one is read.
    for _, record in each_line(files.exchanges):
        completion = (record or {}).get("completion")
        if isinstance(completion, dict) and completion.get("status") in OUTCOMES:
            return True
    return False


def changed_settings(
    begun: Mapping[str, Any], new: Mapping[str, Any], fixed: Iterable[str], named: Iterable[str]
) -> list[str]:
    """What differs in settings that are the same for the whole task (`fixed`), and in what may be
    added under another name only (`named`).
    """
    changed = []
    for name in fixed:
        changed += differences(begun.get(name), new[name], name)
    for kind in named:
        for name, own in new[kind].items():
            if name in begun[kind]:
                changed += differences(begun[kind][name], own, f"{kind}.{name}")
    return changed


def edited_texts(begun: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """The ids of texts whose SHA-256 is not the one that was kept."""
    return [id for id, digest in new.items() if begun.get(id, digest) != digest]


def refuse_if(changed: Sequence[str], problem: str, advice: str) -> None:
    """WrongInput with what differs, a line each, and what to do; nothing where nothing does."""
    if not changed:
        return
    more = [f"  and {len(changed) - SHOWN} more"] if len(changed) > SHOWN else []
    shown = [f"  {line}" for line in changed[:SHOWN]]
    raise WrongInput("\n".join([f"{problem}:", *shown, *more, advice]))
