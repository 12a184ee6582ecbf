"""A language model that takes its time, keeps count of its calls, and fails when it is told to."""

import asyncio
from pathlib import Path
from typing import Any

from delibsim import Citizen, Completion, Prompt
from delibsim.models.base import STATUSES
from delibsim.prompts.prompt import Purpose


class Slow:
    """The citizen, `delay` seconds later.

    Every call is written to the file `tally` as it begins, before anything is waited for: what a
    provider would bill. If there is a file `down`, calls fail with the status that it holds; if
    that is no status, with an error that quotes it.
    """

    def __init__(
        self, name: str, delay: float = 0.0, tally: str = "", down: str = "", **settings: Any
    ) -> None:
        self.name = name
        self.delay, self.tally, self.down = delay, tally, Path(down) if down else None
        self.citizen = Citizen(name=name, **settings)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The citizen's answer to a prompt."""
        self._count(prompt.purpose)
        await asyncio.sleep(self.delay)
        if self.down and self.down.exists():
            status: Any = self.down.read_text(encoding="utf-8").strip()
            if status not in STATUSES:
                raise KeyError(status)
            return Completion("", status, "this server is down", model_requested=self.name)
        return await self.citizen.complete(prompt, seed)

    def _count(self, purpose: Purpose) -> None:
        if self.tally:
            with Path(self.tally).open("a", encoding="utf-8") as file:
                file.write(f"{purpose.participant}/{purpose.occasion}/{purpose.attempt}\n")
