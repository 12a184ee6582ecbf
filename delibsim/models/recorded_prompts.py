"""Replaying on recorded prompts: answers stand although a prompt is worded otherwise now."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from delibsim.domain.word_differences import Piece, passages
from delibsim.models.base import Completion
from delibsim.models.replay import Diverged, Exchange, Replay, both_texts
from delibsim.prompts.prompt import Prompt


@dataclass(frozen=True)
class Reworded:
    """A call whose prompt is worded otherwise now: its id, and the passages that differ, in words
    (first the recorded ones, then those of now).
    """

    call: str
    passages: tuple[tuple[Piece, ...], ...]


class OnRecordedPrompts(Replay):
    """Answers as recorded, found by their seeds, whatever the prompt says now.

    `reworded` collects the calls whose prompts say something else; a call that was never made, and
    one whose record was edited, is a Diverged all the same.
    """

    def __init__(self, name: str, exchanges: Iterable[Exchange]) -> None:
        super().__init__(name, exchanges)
        self.reworded: list[Reworded] = []

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The completion that was recorded under a seed."""
        recorded = self._by_seed.get(seed)
        if recorded is None:
            return await super().complete(prompt, seed)
        if recorded.hash != _hash(recorded):
            raise Diverged(
                f"{recorded.id}: the record was edited: its hash is that of another call"
            )
        if (recorded.messages, recorded.form) != (prompt.messages, prompt.reply.describe()):
            differing = passages(*both_texts(recorded, prompt))
            self.reworded.append(Reworded(recorded.id, tuple(differing)))
        return dataclasses.replace(recorded.completion)


class _RecordedForm:
    """The form of a recorded reply, of which nothing is known but its words."""

    def __init__(self, words: str) -> None:
        self._words = words

    def describe(self) -> str:
        return self._words

    def read(self, text: str) -> str:
        return text

    def example(self, label: str, words: int = 0) -> str:
        return label


def _hash(recorded: Exchange) -> str:
    prompt = Prompt(recorded.messages, _RecordedForm(recorded.form), recorded.purpose)
    return prompt.hash(recorded.model, recorded.seed)
