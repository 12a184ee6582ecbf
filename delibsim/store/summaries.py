"""The summaries of a study on disk: one folder a task, one summary a line."""

from dataclasses import dataclass

from delibsim.domain.reason import Reason
from delibsim.domain.summary import Slot, Summary
from delibsim.store.answers import Answers

PREFIX = "summaries-"
"""What the names of the tasks of summaries begin with."""


@dataclass(frozen=True)
class _Line:
    """A summary as it stands in a file: flat, and without what says nothing."""

    model: str
    size: int
    draw: int
    run: int
    group: str = ""
    text: str = ""
    missing: Reason | None = None

    @classmethod
    def of(cls, one: Summary) -> "_Line":
        """A summary as one line."""
        slot = one.slot
        own = (slot.model, slot.size, slot.draw, slot.run, slot.group)
        return cls(*own, one.text, one.reason)

    def answer(self) -> Summary:
        """The summary of the line."""
        slot = Slot(self.model, self.size, self.draw, self.run, self.group)
        return Summary(slot, self.text, self.missing)


@dataclass(frozen=True)
class Summaries(Answers[Summary]):
    """The summaries of one task of a study."""

    prefix = PREFIX
    called = "summaries"
    many = "sets of summaries"
    command = "delibsim summarise ask"
    line = _Line
