"""A task: what a coder is asked about a unit of text, and how often and in which words again.

Ratings of debates (`debates.py`), profiles of clusters (`profiles.py`) and translations
(`translation.py`) are tasks. A new way of asking about finished text is one more class like theirs.
"""

from typing import Protocol

from delibsim.domain.annotation import Unit
from delibsim.prompts.prompt import Prompt


class Task(Protocol):
    """One question about units of text; its prompt holds the form of the reply."""

    @property
    def name(self) -> str:
        """The name of the task in annotations."""
        ...

    @property
    def reasks(self) -> int:
        """How often a coder is asked again after an unreadable reply."""
        ...

    def prompt(self, unit: Unit) -> Prompt:
        """The first prompt about a unit; its purpose says who is asked, on which occasion."""
        ...

    def again(self, fault: str) -> str:
        """What is said after an unreadable reply, with the concrete fault."""
        ...

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call: it comes from names, so a call is found again in the record."""
        ...
