"""Replaying: a session held again with its recorded exchanges in the place of its models."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from delibsim.domain.run import Run
from delibsim.domain.word_differences import Piece
from delibsim.models.replay import (
    Diverged,
    Exchange,
    OnRecordedPrompts,
    Replay,
    branch_voices,
    exchanges_in,
)
from delibsim.store.codec import Damaged, differences, run_to_plain
from delibsim.store.places import inherited
from delibsim.store.runs import Runs

V = TypeVar("V", bound=Replay)
Verdict = Literal["equal", "different", "diverged", "damaged", "imported"]
NOT_COMPARED = ("provenance", "dropped")
"""Fields of a run that say how it was held, not what was asked and answered."""


@dataclass(frozen=True)
class Passage:
    """A passage of prompts that this version words otherwise than the record, in words, and the
    ids of the calls whose prompts have it.
    """

    words: tuple[Piece, ...]
    calls: tuple[str, ...]


async def replay(runs: Runs, session: str) -> Run:
    """Hold a session again from its recorded exchanges; Diverged if it asks anything else."""
    return (await _replayed(runs, session, Replay))[0]


async def _replayed(runs: Runs, session: str, voice: type[V]) -> tuple[Run, Collection[V]]:
    """A session held again, and the voices that took the place of its models."""
    from delibsim.engine.forum import hold  # Mesa takes half a second to import

    runs.refuse_withdrawn(session)
    planned = runs.unchecked().planned(session)
    exchanges, _ = exchanges_of(runs, session)
    made: list[V] = []

    def recorded(name: str, own: list[Exchange]) -> V:
        made.append(voice(name, own))
        return made[-1]

    voices = {name: recorded(name, exchanges) for name in planned.voices}
    past = past_of(runs, session)
    return await hold(planned, branch_voices(planned, voices, past, recorded)), made


async def compare(runs: Runs, session: str) -> tuple[Verdict, list[str]]:
    """Whether a session that is held again from its record gives the run on disk, and what differs.

    "diverged" where another prompt was made than the recorded one, "damaged" where a file cannot be
    read, "imported" where people held the session elsewhere, so that nothing can be held again.
    """
    verdict, changed, _ = await _compare(runs, session, Replay)
    return verdict, changed


async def compare_on_record(runs: Runs, session: str) -> tuple[Verdict, list[str], list[Passage]]:
    """The same on recorded prompts: the answers stand although this version words a prompt
    otherwise. The third are the passages that it words otherwise.
    """
    verdict, changed, voices = await _compare(runs, session, OnRecordedPrompts)
    calls: dict[tuple[Piece, ...], list[str]] = {}
    for voice in voices:
        for reworded in voice.reworded:
            for words in dict.fromkeys(reworded.passages):
                calls.setdefault(words, []).append(reworded.call)
    return verdict, changed, [Passage(words, tuple(ids)) for words, ids in calls.items()]


async def _compare(
    runs: Runs, session: str, voice: type[V]
) -> tuple[Verdict, list[str], Collection[V]]:
    try:
        if runs.unchecked().planned(session).conversation is not None:
            return "imported", [], ()
        again, voices = await _replayed(runs, session, voice)
        recorded = runs.unchecked().run(session)
    except Diverged as error:
        return "diverged", str(error).splitlines(), ()
    except Damaged as error:
        return "damaged", [str(error)], ()
    if again == recorded:
        return "equal", [], voices
    changed = differences(_compared(recorded), _compared(again))
    return ("different", changed, voices) if changed else ("equal", [], voices)


def _compared(run: Run) -> dict[str, Any]:
    plain = run_to_plain(run)
    return {name: value for name, value in plain.items() if name not in NOT_COMPARED}


def past_of(runs: Runs, session: str) -> list[Exchange]:
    """What a branch has of its parent's record; nothing of a session that is no branch."""
    return exchanges_in(inherited(runs, session)[0])[0]


def record_of(runs: Runs, session: str) -> list[Exchange]:
    """All exchanges of a run in the order in which they were made, of a branch with those of its
    parent.
    """
    return [*past_of(runs, session), *exchanges_of(runs, session)[0]]


def exchanges_of(runs: Runs, session: str) -> tuple[list[Exchange], int]:
    """The readable exchanges of a session, in the order in which they were made, and how many lines
    of its log are not. Those that a branch has of its parent are not among them.
    """
    records, damaged = runs.exchanges(session)
    exchanges, unread = exchanges_in(records)
    return exchanges, damaged + unread
