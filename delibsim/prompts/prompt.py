"""Prompts: messages, the purpose they serve, and the form of reply they ask for."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from delibsim.domain.text import in_short

LONGEST_REPLY = 200_000
"""Characters of a reply that is read, about 30,000 words: a longer one is no answer, whatever was
asked.
"""
HEAD = 2_000
"""Characters of a longer reply that its model is shown when it is asked again."""


class UnreadableReply(ValueError):
    """The reply does not meet the form that was asked for; the message names the concrete fault."""


class Form(Protocol):
    """A form of reply: it describes itself in words, reads a reply, and gives an example of one.

    A form may also have the method of `FormWithSchema` and that of `FormOfReask`.
    """

    def describe(self) -> str:
        """The form in words, as the prompt states it."""
        ...

    def read(self, text: str) -> Any:
        """The value in a reply; raises UnreadableReply with the concrete fault."""
        ...

    def example(self, label: str, words: int = 0) -> str:
        """A reply that `read` accepts, for a dry run that calls no model.

        Speech is `label`, which says what the text stands for, padded to `words` words; any other
        reply has the length of a real one.
        """
        ...


@runtime_checkable
class FormWithSchema(Protocol):
    """A form that servers can enforce, where a model is set to `structured=true`."""

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        ...


def schema_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these members, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@runtime_checkable
class FormOfReask(Protocol):
    """A form that changes when a reply is asked for again; any other stays as it is."""

    def again(self) -> Form:
        """The form of the next reply, after an unreadable one."""
        ...


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str

    __repr__ = in_short


@dataclass(frozen=True)
class Purpose:
    """Which participant is asked, on which occasion ("pre", "post", "turn 3"), at which attempt.

    `attempt` counts re-asks, from 0.
    """

    participant: str
    occasion: str
    attempt: int = 0


@dataclass(frozen=True)
class Prompt:
    """Everything that is asked in one call."""

    messages: tuple[Message, ...]
    reply: Form
    purpose: Purpose

    __repr__ = in_short

    @property
    def text(self) -> str:
        """All messages as one text, each under its role."""
        return "\n\n".join(f"[{message.role}]\n{message.content}" for message in self.messages)

    def again(self, reply: str, question: str) -> "Prompt":
        """The same prompt once more, with an unreadable reply and what is said to it."""
        said = (Message("assistant", head(reply)), Message("user", question))
        form = self.reply.again() if isinstance(self.reply, FormOfReask) else self.reply
        purpose = replace(self.purpose, attempt=self.purpose.attempt + 1)
        return Prompt((*self.messages, *said), form, purpose)

    def hash(self, model: str, seed: int) -> str:
        """The hash of the canonical request (see `request_hash`)."""
        return request_hash(self.messages, self.reply.describe(), model, seed)


def request_hash(messages: Sequence[Message], form: str, model: str, seed: int) -> str:
    """SHA-256 of a canonical request.

    It is made of roles and contents, form of reply, model and seed, each after its length in
    bytes.
    """
    parts = [part for message in messages for part in (message.role, message.content)]
    digest = hashlib.sha256()
    for part in [*parts, form, model, str(seed)]:
        text = part.encode(errors="surrogatepass")
        digest.update(b"%d:" % len(text))  # lengths keep the parts apart
        digest.update(text)
    return digest.hexdigest()


def head(reply: str) -> str:
    """A reply as its model is shown it when it is asked again: whole, if it is one that is read."""
    return reply if len(reply) <= LONGEST_REPLY else f"{reply[:HEAD]} [...]"
