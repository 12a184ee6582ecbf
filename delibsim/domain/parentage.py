"""Parentage: which run a fork or a probe branches off, at which turn, and what is said there."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from delibsim.domain.errors import phrase
from delibsim.domain.transcript import Turn

SURVEY_BEFORE, SURVEY_AFTER = 0, sys.maxsize
"""The positions of the two surveys; those of turns, which lie between them, are their numbers."""
EditKind = Literal["say", "insert", "remove", "stop"]


@dataclass(frozen=True)
class Edit:
    """One statement that a branch has otherwise than the run it branches off.

    `turn` is counted as in that run. "say": the turn is said in the words of `text`. "insert":
    before it, `speaker` says `text`. "remove": the turn is not held. "stop": neither it nor any
    later turn is held. Raises ValueError for a turn before the first, and for an edit without what
    it needs.
    """

    kind: EditKind
    turn: int
    text: str = ""
    speaker: str = ""

    def __post_init__(self) -> None:
        """Refuse an edit that cannot be made."""
        if self.turn < 1:
            raise ValueError(f"turns are counted from 1; there is no turn {self.turn}")
        if bool(self.text) != (self.kind in ("say", "insert")):
            raise ValueError(
                f"an edit '{self.kind}' of turn {self.turn} with the text {self.text!r}"
            )
        if bool(self.speaker) != (self.kind == "insert"):
            raise ValueError(f"an edit '{self.kind}' of turn {self.turn} by {self.speaker!r}")


@dataclass(frozen=True)
class Parentage:
    """Where a branch comes from: the run, and the first place `at` which it may differ.

    `at` is the number of a turn, 0 for the survey before, one more than the last turn for the
    survey after. `run` is the SHA-256 of the parent's run.json. Raises ValueError for an edit of
    what lies before `at`.
    """

    study: str
    session: str
    run: str
    at: int
    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a place before the survey before, and edits of what was said before the branch."""
        if self.at < SURVEY_BEFORE:
            raise ValueError(f"a run branches at turn 0 or later, not at {self.at}")
        for edit in self.edits:
            if edit.turn < self.at:
                raise ValueError(phrase("turn_before_the_branch", turn=edit.turn, at=self.at))
        once = [edit.turn for edit in self.edits if edit.kind != "insert"]
        twice = sorted({turn for turn in once if once.count(turn) > 1})
        if twice:
            raise ValueError(f"turn {twice[0]} is edited twice; leave one of the edits out")

    @property
    def place(self) -> str:
        """The parent, as study/session."""
        return f"{self.study}/{self.session}"

    @property
    def stops(self) -> bool:
        """Whether nobody speaks any more, so that the survey after follows at once: a probe."""
        return any(edit.kind == "stop" for edit in self.edits)


@dataclass(frozen=True)
class TurnSlot:
    """A turn of a session, and what is said in it where that is `given` by a fork or a briefing, or
    `recalled`: said by people in a conversation before a fork of it; `inserted` by a fork, so that
    it is its speaker's whoever is named.
    """

    turn: Turn
    given: str | None = None
    recalled: bool = False
    inserted: bool = False


def position_of(occasion: str) -> int:
    """The position of an occasion ("pre", "turn 6", "post") in its session; what follows the survey
    after, such as a vote, has its position.

    >>> position_of("pre"), position_of("turn 6"), position_of("post") == SURVEY_AFTER
    (0, 6, True)
    """
    if occasion == "pre":
        return SURVEY_BEFORE
    if occasion.startswith("turn "):
        return int(occasion.removeprefix("turn "))
    return SURVEY_AFTER


def branched(
    slots: Sequence[TurnSlot],
    parentage: Parentage,
    left: Collection[str],
    joined: Mapping[int, Mapping[str, int]],
) -> tuple[TurnSlot, ...]:
    """The turns of a branch from those of its parent: all before the branch, then those after it.

    Edits are made first. Then those who `left` have no turn any more, and those who `joined` have
    one in each round that is not over, at the place among its remaining turns that is given by
    round. Turns are numbered anew.
    """
    past = [slot for slot in slots if slot.turn.index < parentage.at]
    future = list(_edited(slots, parentage))
    future = [slot for slot in future if slot.turn.speaker not in left]
    held: list[TurnSlot] = []
    for round_, slots_ in groupby(future, key=lambda slot: slot.turn.round):
        own = list(slots_)
        spoken = [slot for slot in own if not slot.turn.role]
        for name, place in joined.get(round_, {}).items() if spoken else ():
            turn = Turn(spoken[0].turn.index, round_, name, spoken[0].turn.task)
            after = place % (len(spoken) + 1)
            slot = TurnSlot(turn)
            own.insert(own.index(spoken[after - 1]) + 1 if after else own.index(spoken[0]), slot)
            spoken.insert(after, slot)
        held += own
    found = []
    for index, slot in enumerate([*past, *held], 1):
        found.append(replace(slot, turn=replace(slot.turn, index=index)))
    return tuple(found)


def _edited(slots: Sequence[TurnSlot], parentage: Parentage) -> Iterator[TurnSlot]:
    """The turns after a branch, with its edits."""
    own = {edit.turn: edit for edit in parentage.edits if edit.kind != "insert"}
    for slot in slots:
        turn = slot.turn
        if turn.index < parentage.at:
            continue
        edit = own.get(turn.index)
        if edit is not None and edit.kind == "stop":
            return
        for inserted in parentage.edits:
            if inserted.kind == "insert" and inserted.turn == turn.index:
                yield _inserted(turn, inserted)
        if edit is None:
            yield slot
        elif edit.kind == "say":
            yield replace(slot, given=edit.text)
    for inserted in parentage.edits:
        if slots and inserted.kind == "insert" and inserted.turn > slots[-1].turn.index:
            yield _inserted(slots[-1].turn, inserted)


def _inserted(beside: Turn, edit: Edit) -> TurnSlot:
    """What a participant says beside a turn."""
    task = beside.task if not beside.role else "speak"
    turn = Turn(beside.index, beside.round, edit.speaker, task)
    return TurnSlot(turn, edit.text, inserted=True)
