"""A dry run of a session: it is really held, by models that call nobody and give placeholders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from delibsim.domain.run import Session
from delibsim.engine.check import prompt_hash
from delibsim.models.base import Completion, LanguageModel
from delibsim.models.capabilities import Capabilities
from delibsim.models.replay import Exchange, branch_voices
from delibsim.prompts.prompt import Prompt


@dataclass(frozen=True)
class Asked:
    """One call of a dry run: the model, the prompt, and the placeholder for the reply."""

    model: str
    prompt: Prompt
    reply: str


class DryRunModel:
    """In the place of a language model: answers every prompt with an example of its form of reply.

    `on_call` is given every call; statements have `words` words (0: only the placeholder).
    """

    capabilities = Capabilities()

    def __init__(self, name: str, words: int, on_call: Callable[[Asked], None]) -> None:
        self.name, self._words, self._on_call = name, words, on_call

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The example; TypeError if the form does not take its own example."""
        purpose = prompt.purpose
        if purpose.attempt:
            raise TypeError(
                f"{type(prompt.reply).__name__}.example gives a reply that its own read refuses"
            )
        placeholder = f"[statement of {purpose.participant} in {purpose.occasion}]"
        reply = prompt.reply.example(placeholder, self._words)
        self._on_call(Asked(self.name, prompt, reply))
        return Completion(reply, model_requested=self.name)


async def dry_run(session: Session, words: int = 0, past: Sequence[Exchange] = ()) -> list[Asked]:
    """Every call of a session in order, the first attempt of each; of a branch those after it, as
    its `past` is on record.

    Statements have so many words; 0: only the placeholder.
    """
    from delibsim.engine.hold import hold  # Mesa takes half a second to import

    asked: list[Asked] = []
    models: dict[str, LanguageModel] = {}
    for name in session.voices:
        models[name] = DryRunModel(name, words, asked.append)
    await hold(session, branch_voices(session, models, past))
    return asked


def call_signature(session: Session) -> tuple[str, tuple[str, ...]]:
    """What decides on the calls of a session, and its models in the order of their seats.

    Sessions alike in the first make the same calls, apart from seeds, the models of the one in the
    place of those of the other.
    """
    models = tuple(dict.fromkeys(person.model for person in session.participants))
    rule, mediator = session.consensus, ()
    if rule is not None:
        models = tuple(dict.fromkeys([*models, session.mediator]))
        mediator = models.index(session.mediator), replace(rule, mediator="", model={})
    seats = []
    for person in session.participants:
        seats.append((person.id, person.persona, person.role, models.index(person.model)))
    signature = (
        session.topic,
        session.survey,
        session.treatment,
        session.format,
        session.wording,
        session.procedure,
        seats,
        mediator,
        None if session.parentage is None else session.cell,
    )
    return repr(signature), models


async def render_prompts(session: Session) -> str:
    """Every prompt of a session as text to be read, with the order of speakers.

    Replies are placeholders.
    """
    asked = await dry_run(session)
    head = [
        f"session     {session.id}",
        f"models      {', '.join(session.models)}",
        f"calls       {len(asked)}",
        f"prompts     SHA-256 {prompt_hash(session)} (of what all replicates are asked alike)",
        f"speakers    {speakers(asked)}",
    ]
    parts = ["\n".join(head)]
    for number, call in enumerate(asked, 1):
        purpose = call.prompt.purpose
        who = f"{purpose.participant}, {purpose.occasion}, asked of {call.model}"
        parts.append(f"===== {number} of {len(asked)}: {who} =====")
        parts.append(call.prompt.text)
    return "\n\n".join(parts) + "\n"


def speakers(asked: list[Asked]) -> str:
    """Who speaks, in order, as one line."""
    turns = []
    for call in asked:
        purpose = call.prompt.purpose
        if purpose.occasion.startswith("turn "):
            turns.append(f"{purpose.occasion}: {purpose.participant}")
    return ", ".join(turns) or "nobody speaks"
