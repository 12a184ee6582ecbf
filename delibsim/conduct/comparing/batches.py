"""The batches of an adaptive comparison, as they were kept and as they follow from the votes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.annotation.adaptive import Chain, next_step
from delibsim.annotation.pairs import groups_of
from delibsim.domain.adaptive import Batch, Stop
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Sheet, Vote

ADAPTIVE = "adaptive"


def chain_of(task: Mapping[str, Any], texts: Sequence[Text], dimension: str) -> Chain:
    """How the batches of a dimension are chosen, from what a study keeps of a comparison.

    A batch has at most so many pairs that no text needs to stand in two of them.
    """
    design, groups = task["design"], groups_of(texts)
    several = sum(len(ids) for ids in groups.values() if len(ids) > 1)
    return Chain(
        dimension=dimension,
        groups=groups,
        names=(task["study"], task["seed"]),
        size=min(design["batch"], max(several // 2, 1)),
        probe=design["probe"],
        order=design["order"],
        per_text=task["per_text"][-1],
        until=task["until"],
    )


def batches_of(steps: Iterable[Batch | Stop]) -> dict[str, list[Batch]]:
    """The batches of every dimension, in order."""
    found: dict[str, list[Batch]] = {}
    for step in steps:
        if isinstance(step, Batch):
            found.setdefault(step.dimension, []).append(step)
    return found


def sheets_in(batches: Iterable[Batch]) -> tuple[Sheet, ...]:
    """The sheets of batches, in order."""
    return tuple(sheet for batch in batches for sheet in batch.sheets)


def stops_of(steps: Iterable[Batch | Stop]) -> dict[str, Stop]:
    """What ended the batches of every dimension; none where it has gone on since."""
    found: dict[str, Stop] = {}
    for step in steps:
        if isinstance(step, Stop):
            found[step.dimension] = step
        else:
            found.pop(step.dimension, None)
    return found


def rechosen(
    chain: Chain, batches: Sequence[Batch], votes: Sequence[Vote]
) -> Iterator[tuple[Batch, Batch | Stop]]:
    """Every batch beside the one that follows from the votes that there were.

    `votes` are all of its dimension, in the order in which they came.
    """
    # Rules and limits may have been others then; the size says how far the batch was to go.
    free = replace(chain, until={}, per_text=len(chain.ids))
    for place, batch in enumerate(batches):
        own = replace(free, size=batch.size)
        yield batch, next_step(own, batches[:place], votes[: batch.votes])
