"""A person in a browser as a participant: what is asked of her waits on a desk."""

from dataclasses import dataclass
from typing import Protocol

from delibsim.domain.hosting import A_PERSON
from delibsim.models.base import NO_USE, Capabilities, Completion, PreflightIssue, Status
from delibsim.prompts.prompt import Prompt

NOBODY = "people answer in a browser only under: delibsim serve STUDY"


@dataclass(frozen=True)
class WaitingPrompt:
    """One prompt that waits for the person in a seat of a session."""

    session: str
    prompt: Prompt
    seed: int

    @property
    def seat(self) -> str:
        """The name of the participant who is asked."""
        return self.prompt.purpose.participant

    @property
    def key(self) -> str:
        """The name of the request: equal for the same prompt after a restart.

        It is the SHA-256 of the session and of the prompt with its seed.
        """
        return self.prompt.hash(f"person in {self.session}", self.seed)


@dataclass(frozen=True)
class Given:
    """What came of a request: a reply that the form of the prompt has read already, or why there is
    none. `by` names who answered, which is a model where one stands in for the person.
    """

    text: str
    status: Status = "ok"
    detail: str = ""
    by: str = A_PERSON


class Desk(Protocol):
    """Where requests wait for people."""

    async def ask(self, asked: WaitingPrompt) -> Given:
        """What came of a request, however long that takes; asking again for what was given already
        gives it at once.
        """
        ...


class BrowserPerson:
    """A person who answers on pages. Without a desk, which `delibsim serve` gives, nobody can be
    asked, and the preflight says so.

    `temperature` has no meaning here and is reported as dropped.
    """

    without_effect = frozenset({"temperature"})

    def __init__(
        self,
        name: str = "person",
        temperature: float | None = None,
        session: str = "",
        desk: Desk | None = None,
    ) -> None:
        self.name, self.temperature = name, temperature
        self._session, self._desk = session, desk

    @property
    def capabilities(self) -> Capabilities:
        """A preflight, which says so where there is no desk."""
        return Capabilities(preflight=self._preflight)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """What the person gave; status "cancelled" where there is no desk."""
        if self._desk is None:
            return completion_of(self.name, self.temperature, Given("", "cancelled", NOBODY))
        given = await self._desk.ask(WaitingPrompt(self._session, prompt, seed))
        return completion_of(self.name, self.temperature, given)

    async def _preflight(self) -> list[PreflightIssue]:
        return [] if self._desk else [PreflightIssue("error", self.name, NOBODY)]


def completion_of(name: str, temperature: float | None, given: Given) -> Completion:
    """What a person gave as a completion. A temperature has no meaning, and is reported so."""
    return Completion(
        text=given.text,
        status=given.status,
        detail=given.detail,
        usage=NO_USE,
        model_requested=name,
        model_returned=given.by,
        parameters_dropped=() if temperature is None else ("temperature",),
        finish_reason="stop",
    )
