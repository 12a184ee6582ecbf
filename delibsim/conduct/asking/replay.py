"""Comparing what a task keeps with what its record gives when it is read again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from delibsim.domain.cost import OUTCOMES
from delibsim.models.replay import Exchange, exchanges_in
from delibsim.store.annotations import TaskFolder

T = TypeVar("T")


@dataclass(frozen=True)
class Replayed:
    """What came of a replay: how many answers were computed again, and what differs."""

    task: str
    answers: int
    differences: tuple[str, ...]

    @property
    def verdict(self) -> Literal["equal", "different"]:
        """Whether all answers are those that were recorded."""
        return "different" if self.differences else "equal"


def outcomes_in(files: TaskFolder) -> tuple[Exchange, ...]:
    """The exchanges of a task that say something of an answer; failed calls are left out."""
    exchanges, _ = exchanges_in(files.read(files.exchanges)[0])
    return tuple(one for one in exchanges if one.completion.status in OUTCOMES)


def compared(
    recorded: Mapping[Any, T],
    computed: Mapping[Any, T],
    faults: Mapping[Any, str],
    words: tuple[Callable[[T], str], Callable[[T], str], str],
) -> Sequence[str]:
    """What differs between the answers that were kept and those that the record gives.

    `words` are how an answer is named, what it says, and what it is called.
    """
    named, said, noun = words
    found = []
    for key, answer in recorded.items():
        again = computed.get(key)
        if again == answer:
            continue
        if again is None:
            found.append(f"{named(answer)}: {faults.get(key, 'the record holds no such call')}")
        else:
            found.append(f"{named(answer)}: kept {said(answer)}, the record says {said(again)}")
    for key, answer in computed.items():
        if key not in recorded:
            found.append(f"{named(answer)}: on record ({said(answer)}), but not kept as a {noun}")
    return found
