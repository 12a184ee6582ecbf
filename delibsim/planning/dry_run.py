"""Rehearsing a session: it is really held, with a stand-in for every voice that calls nobody and
answers with placeholders.
"""

from collections.abc import Callable
from dataclasses import dataclass

from delibsim.domain.run import Session
from delibsim.engine.hold import hold, prompt_hash
from delibsim.models.base import Completion
from delibsim.models.capabilities import Capabilities
from delibsim.prompts.prompt import Prompt


@dataclass(frozen=True)
class Asked:
    """One call of a rehearsal: the model, the prompt, and the placeholder that stands for the
    reply.
    """

    model: str
    prompt: Prompt
    reply: str


class DryRunModel:
    """In the place of a language model: answers every prompt with an example of the form it asks
    for, and tells what it was asked.
    """

    capabilities = Capabilities()

    def __init__(self, name: str, words: int, tell: Callable[[Asked], None]) -> None:
        self.name, self._words, self._tell = name, words, tell

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The example; TypeError if the form does not take its own example."""
        purpose = prompt.purpose
        if purpose.attempt:
            raise TypeError(
                f"{type(prompt.reply).__name__}.example gives a reply that its own read refuses"
            )
        reply = prompt.reply.example(
            f"[statement of {purpose.participant} in {purpose.occasion}]", self._words
        )
        self._tell(Asked(self.name, prompt, reply))
        return Completion(reply, model_requested=self.name)


async def dry_run(session: Session, words: int = 0) -> list[Asked]:
    """Every call of a session in order, the first attempt of each, if statements have so many words
    (0: only what they stand for).
    """
    asked: list[Asked] = []
    await hold(session, {name: DryRunModel(name, words, asked.append) for name in session.models})
    return asked


def call_signature(session: Session) -> tuple[str, tuple[str, ...]]:
    """What decides on the calls of a session apart from seeds and from who answers, and its models
    in the order of their seats.

    Sessions alike in the first make the same calls, the models of the one in the place of those of
    the other.
    """
    models = tuple(dict.fromkeys(person.model for person in session.participants))
    seats = [
        (person.id, person.persona, person.role, models.index(person.model))
        for person in session.participants
    ]
    alike = (
        session.topic,
        session.survey,
        session.treatment,
        session.format,
        session.wording,
        session.procedure,
        seats,
    )
    return repr(alike), models


async def render_prompts(session: Session) -> str:
    """Every prompt of a session as text to be read, with the order of speakers; replies are
    placeholders.
    """
    asked = await dry_run(session)
    head = [
        f"session     {session.id}",
        f"models      {', '.join(session.models)}",
        f"calls       {len(asked)}",
        f"prompts     SHA-256 {prompt_hash(session)} (of what all replicates are asked alike)",
        f"speakers    {speakers(asked)}",
    ]
    parts = []
    for number, call in enumerate(asked, 1):
        purpose = call.prompt.purpose
        parts.append(
            f"===== {number} of {len(asked)}: {purpose.participant}, {purpose.occasion}, asked of"
            f" {call.model} ====="
        )
        parts.append(call.prompt.text)
    return "\n".join(head) + "\n\n" + "\n\n".join(parts) + "\n"


def speakers(asked: list[Asked]) -> str:
    """Who speaks, in order, as one line."""
    turns = [
        call.prompt.purpose for call in asked if call.prompt.purpose.occasion not in ("pre", "post")
    ]
    return ", ".join(f"{turn.occasion}: {turn.participant}" for turn in turns) or "nobody speaks"
