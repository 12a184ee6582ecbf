"""Recording exchanges with language models, and replaying them in their place."""

import dataclasses
import difflib
import itertools
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from delibsim.domain.run import Session
from delibsim.domain.word_differences import AROUND, Piece, marked, passages
from delibsim.models.base import (
    OUTCOMES,
    Announcing,
    Cancelled,
    Capabilities,
    Completion,
    LanguageModel,
    capabilities_of,
    read,
)
from delibsim.models.clients.faults import scrub, secrets
from delibsim.models.counted import InputCounts
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Message, Prompt, Purpose, request_hash
from delibsim.store.reading import adapter
from delibsim.store.sent import NotSent, Sent

LINES, WORDS = 28, 10
"""Lines of a changed prompt that are shown line by line, and word for word."""


@dataclass(frozen=True)
class Exchange:
    """One call, as it was asked and as it was answered.

    `started` is in UTC, `seconds` by a clock that never jumps. Both count from when the call was
    ready to be sent: what it waited for limits and other attempts is in them.
    """

    hash: str
    model: str
    seed: int
    purpose: Purpose
    messages: tuple[Message, ...]
    form: str
    started: str
    seconds: float
    completion: Completion

    @property
    def id(self) -> str:
        """A short name of the exchange, unique within its session."""
        return f"{self.purpose.participant}/{self.purpose.occasion}/{self.purpose.attempt}"

    def record(self) -> dict[str, Any]:
        """The exchange as plain values, in the order of its fields."""
        completion = vars(self.completion) | {
            "usage": vars(self.completion.usage),
            "parameters_dropped": list(self.completion.parameters_dropped),
            "tries": [
                vars(tried) | {"usage": vars(tried.usage)} for tried in self.completion.tries
            ],
        }
        return vars(self) | {
            "purpose": vars(self.purpose),
            "messages": [vars(message) for message in self.messages],
            "completion": completion,
        }


def exchange_of(record: Mapping[str, Any]) -> Exchange:
    """An exchange from its plain JSON values; pydantic.ValidationError if it is none."""
    return adapter(Exchange).validate_python(record)


def exchanges_in(records: Iterable[Mapping[str, Any]]) -> tuple[list[Exchange], int]:
    """The exchanges among plain values, in their order, and how many of these are none."""
    exchanges, damaged = [], 0
    for record in records:
        try:
            exchanges.append(exchange_of(record))
        except ValueError:
            damaged += 1
    return exchanges, damaged


class Diverged(RuntimeError):
    """A replayed session asked something else than the recorded one; the message shows what."""


class Recorder:
    """A language model whose every exchange is handed to `keep` as soon as it has come back, and of
    calls that may cost also to `sending` before they are sent; `counts` knows what the server
    counted of earlier prompts.

    It declares what the model behind it declares.
    """

    def __init__(
        self,
        model: LanguageModel,
        keep: Callable[[Exchange], None],
        sending: Callable[[Sent], None] = lambda sent: None,
        counts: InputCounts | None = None,
    ) -> None:
        self.name = model.name
        self._model, self._keep, self._sending = model, keep, sending
        self._counts = counts or InputCounts()
        self._announcing = model if isinstance(model, Announcing) else None

    @property
    def capabilities(self) -> Capabilities:
        """What the recorded model declares now."""
        return capabilities_of(self._model)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Ask the model and keep the exchange, with the status that reading the reply gives it, or
        "internal" where the model raised.
        """
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        clock = time.monotonic()
        given_up = None
        try:
            answer = await self._asked(prompt, seed, started)
            _, completion = read(prompt, self._counts.judged(prompt, answer))
        except Cancelled as cancelled:
            given_up, completion = cancelled, cancelled.completion
        except NotSent:
            raise
        except Exception as error:  # noqa: BLE001 a plug-in may raise anything, and one call is all that it may spoil
            completion = _internal(self.name, error)
        exchange = Exchange(
            hash=prompt.hash(self.name, seed),
            model=self.name,
            seed=seed,
            purpose=prompt.purpose,
            messages=prompt.messages,
            form=prompt.reply.describe(),
            started=started,
            seconds=round(time.monotonic() - clock, 6),
            completion=completion,
        )
        self._keep(exchange)
        if given_up is not None:
            raise given_up
        return completion

    async def _asked(self, prompt: Prompt, seed: int, started: str) -> Completion:
        if self._announcing is None:
            return await self._model.complete(prompt, seed)

        def announce(usd: float | None, tokens: int) -> None:
            self._sending(Sent(self.name, seed, started, usd, tokens))

        return await self._announcing.complete_announced(prompt, seed, announce)


class Replay:
    """Answers from recorded exchanges; what is not recorded is asked of `then`, or is a Diverged.

    Only outcomes are replayed: a call that failed on the way (a timeout, say) is asked again where
    there is a `then`. A record has nothing to declare: it costs nothing and needs no server.
    """

    capabilities = Capabilities()

    def __init__(
        self, name: str, exchanges: Iterable[Exchange], then: LanguageModel | None = None
    ) -> None:
        self.name = name
        self._then = then
        own = (exchange for exchange in exchanges if exchange.model == name)
        self._by_seed = {
            exchange.seed: exchange
            for exchange in own
            if then is None or exchange.completion.status in OUTCOMES
        }

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The recorded completion of exactly this request; Diverged if another was recorded under
        its seed.
        """
        recorded = self._by_seed.get(seed)
        if recorded is None and self._then is not None:
            return await self._then.complete(prompt, seed)
        if recorded is None:
            raise Diverged(f"{_where(prompt.purpose)}: the record holds no such call")
        if recorded.hash != prompt.hash(self.name, seed):
            changes = _differences(recorded, prompt)
            raise Diverged(f"{_where(prompt.purpose)}: the prompt changed\n{changes}")
        if (recorded.messages, recorded.form) != (prompt.messages, prompt.reply.describe()):
            changes = _differences(recorded, prompt)
            fault = "the record was edited: its prompt is not the one that was asked"
            raise Diverged(f"{_where(prompt.purpose)}: {fault}\n{changes}")
        return dataclasses.replace(recorded.completion)


class Branched:
    """In a branch of a run: answers of its past come from the parent's record, and nobody is asked
    for them; all else is asked of `then`, None where the model has no part in the branch.

    `is_past` says of a purpose whether it lies before the branch.
    """

    capabilities = Capabilities()

    def __init__(
        self, past: Replay, then: LanguageModel | None, is_past: Callable[[Purpose], bool]
    ) -> None:
        self.name = past.name
        self._past, self._then, self._is_past = past, then, is_past

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The recorded completion, or that of the model; Diverged where the record of the past
        does not hold exactly this request.
        """
        if self._then is None or self._is_past(prompt.purpose):
            return await self._past.complete(prompt, seed)
        return await self._then.complete(prompt, seed)


def branch_voices(
    session: Session,
    voices: Mapping[str, LanguageModel],
    past: Iterable[Exchange],
    recorded: Callable[[str, list[Exchange]], "Replay"] | None = None,
) -> Mapping[str, LanguageModel]:
    """The voices with which a session is held: of a branch, the record of its `past` before them,
    which `recorded` gives a voice (by default `Replay`).

    `voices` are those of the models of the session; models of which only the past knows have no
    other voice than the record.
    """
    if session.before is None:
        return voices
    exchanges = list(past)

    def is_past(purpose: Purpose) -> bool:
        return session.in_force(purpose.participant, purpose.occasion) is not session

    names, plan = dict.fromkeys(voices), session.before
    while plan is not None:
        names |= dict.fromkeys(plan.voices)
        plan = plan.before
    found: dict[str, LanguageModel] = {}
    for name in names:
        found[name] = Branched((recorded or Replay)(name, exchanges), voices.get(name), is_past)
    return found


def _differences(recorded: Exchange, prompt: Prompt) -> str:
    """The first lines in which a prompt differs from the recorded one, as a unified diff, and the
    first passages word for word.
    """
    before, now = both_texts(recorded, prompt)
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), "recorded", "asked now", lineterm="", n=1
    )
    words = "\n".join(marked(passage, AROUND) for passage in passages(before, now))
    told = words.splitlines()[:WORDS]
    return "\n".join([*itertools.islice(lines, LINES), "word for word:", *told])


def both_texts(recorded: Exchange, prompt: Prompt) -> tuple[str, str]:
    """The recorded and the present prompt, each as one text with the form of its reply."""
    before = Prompt(recorded.messages, prompt.reply, recorded.purpose).text
    return (
        f"{before}\n\n[form]\n{recorded.form}",
        f"{prompt.text}\n\n[form]\n{prompt.reply.describe()}",
    )


def _internal(model: str, error: Exception) -> Completion:
    """What is recorded of a model that raised: the error and where it was raised, no secrets."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{PurePath(place.filename).name}, line {place.lineno}"
    said = scrub(str(error), secrets())[:500]
    detail = whole_characters(f"{type(error).__name__}: {said} ({where})")
    return Completion("", "internal", detail, model_requested=model, possibly_billed=True)


def _where(purpose: Purpose) -> str:
    return f"{purpose.participant}, {purpose.occasion}, attempt {purpose.attempt}"


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
        asked = recorded.messages, recorded.form, recorded.model, recorded.seed
        if recorded.hash != request_hash(*asked):
            raise Diverged(
                f"{recorded.id}: the record was edited: its hash is that of another call"
            )
        if (recorded.messages, recorded.form) != (prompt.messages, prompt.reply.describe()):
            differing = passages(*both_texts(recorded, prompt))
            self.reworded.append(Reworded(recorded.id, tuple(differing)))
        return dataclasses.replace(recorded.completion)
