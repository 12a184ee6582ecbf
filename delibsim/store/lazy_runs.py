"""Runs that are read when they are asked for."""

from collections.abc import Callable, Sequence
from typing import overload

from delibsim.domain.run import Run

KEPT = 500  # runs of some 30 kB


class LazyRuns(Sequence[Run]):
    """The runs of these sessions, read when they are asked for; only some are kept, so that a study
    of any size fits into memory.
    """

    def __init__(self, read: Callable[[str], Run], sessions: Sequence[str]) -> None:
        self._read, self._sessions = read, sessions
        self._kept: dict[str, Run] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return LazyRuns(self._read, self._sessions[index])
        session = self._sessions[index]
        run = self._kept.get(session) or self._read(session)
        if len(self._kept) < KEPT:
            self._kept[session] = run
        return run
