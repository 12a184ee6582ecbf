"""A dry run of a session: it is really held, by models that call nobody and give placeholders; and
its prompts as files.
"""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from delibsim.domain.data import read_data
from delibsim.domain.errors import refused
from delibsim.domain.run import Session
from delibsim.engine.check import prompt_hash
from delibsim.models.ask import wait
from delibsim.models.base import Capabilities, Completion, LanguageModel
from delibsim.models.replay import Exchange, branch_voices
from delibsim.prompts.prompt import Prompt


@dataclass(frozen=True)
class DryRunCall:
    """One call of a dry run: the model, the prompt, and the placeholder for the reply."""

    model: str
    prompt: Prompt
    reply: str


class DryRunModel:
    """In the place of a language model: answers every prompt with an example of its form of reply.

    `on_call` is given every call; statements have `words` words (0: only the placeholder).
    """

    capabilities = Capabilities()

    def __init__(self, name: str, words: int, on_call: Callable[[DryRunCall], None]) -> None:
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
        self._on_call(DryRunCall(self.name, prompt, reply))
        return Completion(reply, model_requested=self.name)


async def dry_run(
    session: Session, words: int = 0, past: Sequence[Exchange] = ()
) -> list[DryRunCall]:
    """Every call of a session in order, the first attempt of each; of a branch those after it, as
    its `past` is on record.

    Statements have so many words; 0: only the placeholder.
    """
    from delibsim.engine.forum import hold  # Mesa takes half a second to import

    asked: list[DryRunCall] = []
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
    models = tuple(dict.fromkeys([*models, *(one.model for one in session.invited)]))
    told = []
    for one in (session.facilitator, *session.witnesses):
        told.append(None if one is None else replace(one, model="", settings={}))
    seats = []
    for person in (*session.participants, *session.invited):
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
        told,
        session.briefing and (session.briefing, session.briefing_order),
        None if session.parentage is None else session.cell,
    )
    return json.dumps(signature, default=asdict), models


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


def speakers(asked: list[DryRunCall]) -> str:
    """Who speaks, in order, as one line."""
    turns = []
    for call in asked:
        purpose = call.prompt.purpose
        if purpose.occasion.startswith("turn "):
            turns.append(f"{purpose.occasion}: {purpose.participant}")
    return ", ".join(turns) or "nobody speaks"


INDEX = "index.csv"
_TOLD = read_data("messages.yaml")


def render(sessions: Sequence[Session], folder: Path, every: bool) -> tuple[int, int]:
    """Write a text file for each cell of the design, or for each session.

    Returns how many files there are, and how many that differ but in models. A file whose prompts
    are those of another, asked of other models, says so in their place. index.csv names the file of
    every session. WrongInput if the folder holds anything already: what was rendered from another
    plan would be taken for this one's.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise refused("prompts_folder_not_empty", folder=folder)
    groups: dict[str, list[Session]] = {}
    for session in sessions:
        name = session.id if every else session.cell
        groups.setdefault(name, []).append(session)
    folder.mkdir(parents=True, exist_ok=True)
    originals: dict[tuple[object, ...], str] = {}
    for name, group in groups.items():
        file = f"{name}.txt"
        replicates = [session.replicate for session in group]
        key = (call_signature(group[0])[0], group[0].seed, *replicates)
        text = wait(_text(group, originals.setdefault(key, file), file))
        (folder / file).write_text(text, encoding="utf-8", errors="replace")
    _write_index(groups, folder / INDEX)
    return len(groups), len(originals)


def _write_index(groups: Mapping[str, Sequence[Session]], path: Path) -> None:
    """Write the file and the models of every session."""
    with path.open("w", encoding="utf-8", newline="") as index:
        rows = csv.writer(index)
        rows.writerow(["session", "file", "models"])
        for name, group in groups.items():
            for session in group:
                rows.writerow([session.id, f"{name}.txt", " ".join(session.models)])


async def _text(group: Sequence[Session], original: str, file: str) -> str:
    """The text of a file: the first session whole, and what differs in its replicates."""
    first, others = group[0], group[1:]
    if original != file:
        models = ", ".join(first.models)
        names = "\n".join(f"  {session.id}" for session in group)
        return f"Word for word the prompts of {original}, asked of {models}:\n{names}\n"
    text = _TOLD["prompts_head"] + await render_prompts(first)
    if others:
        text += _TOLD["prompts_replicates"]
    for session in others:
        text += f"{session.id}: {speakers(await dry_run(session))}\n"
    return text
