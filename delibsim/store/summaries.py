"""The summaries of a study on disk: one folder a task, one summary a line."""

from dataclasses import dataclass

from delibsim.domain.summary import Slot, Summary
from delibsim.store.answers import Answers

PREFIX = "summaries-"
"""What the names of the tasks of summaries begin with."""


@dataclass(frozen=True)
class Summaries(Answers[Summary]):
    """The summaries of one task of a study."""

    prefix = PREFIX
    called = "summaries"
    many = "sets of summaries"
    command = "delibsim summarise ask"
    of_models = Summary
    flat = ("slot", Slot)
