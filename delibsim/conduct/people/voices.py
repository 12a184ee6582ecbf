"""The voices of a room: people at its desk, models at the pace of people, models that stand in."""

import asyncio
from collections.abc import Callable

from delibsim.conduct.people.desk import RoomDesk, StandIn
from delibsim.domain.hosting import A_PERSON, PERSON, named_stand_in
from delibsim.domain.run import Session
from delibsim.models.base import Capabilities, Completion, LanguageModel, capabilities_of
from delibsim.models.person.browser import Asked, BrowserPerson, Given
from delibsim.models.pool import ModelPool
from delibsim.prompts.prompt import Prompt


def voices_of(pool: ModelPool, session: Session, desk: RoomDesk) -> dict[str, LanguageModel]:
    """The models of one room: people at its desk, all others from the pool of the hall."""
    found: dict[str, LanguageModel] = {}
    population = session.seed_for("population")
    for name, settings in session.voices.items():
        if settings.get("kind") == PERSON:
            found[name] = BrowserPerson(name, settings.get("temperature"), session.id, desk)
        else:
            found[name] = pool.model(name, settings, population)
    return found


def standing_in(model: LanguageModel, name: str) -> StandIn:
    """A model that answers for a person who left, marked as such."""

    async def answer(asked: Asked) -> Given:
        found = await model.complete(asked.prompt, asked.seed)
        return Given(found.text, found.status, found.detail, named_stand_in(name))

    return answer


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
