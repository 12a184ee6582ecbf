"""The words of models at the pace of somebody who types, so that nothing tells them from people."""

import asyncio
from collections.abc import Callable

from delibsim.domain.presence import A_PERSON
from delibsim.models.base import Completion, LanguageModel
from delibsim.models.capabilities import Capabilities, capabilities_of
from delibsim.prompts.prompt import Prompt


class Paced:
    """A voice whose words are passed on at so many a minute; None: as soon as they are there.

    Only words of models are delayed, and only those that were asked for now: what is taken from the
    record, and what people or the survey say, is passed on at once. `asked` counts the calls.
    """

    def __init__(
        self, model: LanguageModel, asked: Callable[[], int], words_a_minute: float | None
    ) -> None:
        self.name = model.name
        self._model, self._asked, self._pace = model, asked, words_a_minute

    @property
    def capabilities(self) -> Capabilities:
        """Those of the voice."""
        return capabilities_of(self._model)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The answer, after the time that it takes to type it."""
        before = self._asked()
        found = await self._model.complete(prompt, seed)
        new = self._asked() > before
        typed = found.model_returned != A_PERSON and prompt.purpose.occasion.startswith("turn ")
        if self._pace and new and typed:
            await asyncio.sleep(60 * len(found.text.split()) / self._pace)
        return found
