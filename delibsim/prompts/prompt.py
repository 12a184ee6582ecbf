"""Prompts: messages, the purpose they serve, and the form of reply they ask for."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from delibsim.domain.data import read_data
from delibsim.domain.text import in_short

LONGEST_REPLY = 200_000
"""Characters of a reply that is read, about 30,000 words: a longer one is no answer, whatever was
asked.
"""
SAID: Mapping[str, Any] = read_data("prompts.yaml")["json"]
FEW_VALUES = 3
"""Allowed values of a member that are named in words."""
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
    """A form that servers can enforce, where a model is asked so (`model.structured`); it can be
    hashed.
    """

    def __hash__(self) -> int: ...

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        ...


def text_schema(most: int, least: int = 10) -> dict[str, Any]:
    """The JSON schema of a text of so many characters, which no model can go on with for ever."""
    return {"type": "string", "minLength": least, "maxLength": most}


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


class FormWithoutRanks(Form, Protocol):
    """A form that asks for the ranks alone after a reply of which all else was read.

    `partial` is what the reply is worth without them; None: nothing.
    """

    partial: Any


@runtime_checkable
class FormWithRanks(Protocol):
    """A form of whose reply the ranks alone may be asked for again, where a schema was sent."""

    def rest(self, reply: str) -> FormWithoutRanks | None:
        """The form of the next reply; None where more than the ranks is at fault."""
        ...


SchemaFormat = Literal["", "json_schema", "json_object"]
"""How a schema is sent with a call, as `response_format` names it; "": none is sent."""


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
    """Everything that is asked in one call; `enforced` is the format of the schema of its reply."""

    messages: tuple[Message, ...]
    reply: Form
    purpose: Purpose
    enforced: SchemaFormat = ""

    __repr__ = in_short

    @property
    def text(self) -> str:
        """All messages as one text, each under its role."""
        return "\n\n".join(f"[{message.role}]\n{message.content}" for message in self.messages)

    def in_json(self, enforced: SchemaFormat) -> "Prompt":
        """The same prompt, whose reply is asked for as JSON in words and by its schema; as it is,
        where the reply is free text.
        """
        form: Any = self.reply
        if not enforced or not hasattr(form, "schema"):  # quicker than to look for the protocol
            return self
        *before, last = self.messages
        asked = replace(last, content=f"{last.content}\n\n{json_words(form)}")
        return replace(self, messages=(*before, asked), enforced=enforced)

    def again(self, reply: str, question: str) -> "Prompt":
        """The same prompt once more, with an unreadable reply and what is said to it: `question`,
        or that the ranks alone are asked for.
        """
        form = self.reply.again() if isinstance(self.reply, FormOfReask) else self.reply
        if self.enforced and (rest := without_ranks(form, reply)):
            form, question = rest, rest.describe()
        said = (Message("assistant", head(reply)), Message("user", question))
        purpose = replace(self.purpose, attempt=self.purpose.attempt + 1)
        return Prompt((*self.messages, *said), form, purpose, self.enforced)

    def hash(self, model: str, seed: int) -> str:
        """The hash of the canonical request (see `request_hash`)."""
        return request_hash(self.messages, self.reply.describe(), model, seed)


def without_ranks(form: Form, reply: str) -> FormWithoutRanks | None:
    """The form that asks for the ranks alone; None where more of a reply is at fault."""
    if not isinstance(form, FormWithRanks) or len(reply) > LONGEST_REPLY:
        return None
    try:
        return form.rest(reply)
    except RecursionError:  # it is nested too deeply
        return None


@functools.lru_cache(maxsize=64)  # the same few forms are asked for again and again
def json_words(form: FormWithSchema) -> str:
    """That a reply is to be a JSON object in this form, in words."""
    schema = form.schema()
    members = schema["properties"].items()
    told = [f"{name}: {own['description']}" for name, own in members if "description" in own]
    return "\n".join([SAID["reply"].format(object=_shown(schema)), *told])


def _shown(schema: Mapping[str, Any]) -> str:
    """An object as its schema describes it, with placeholders for values."""
    if "anyOf" in schema:
        return " or ".join(map(_shown, schema["anyOf"]))
    if "properties" in schema:
        members = [f'"{name}": {_shown(own)}' for name, own in schema["properties"].items()]
        return f"{{{', '.join(members)}}}"
    allowed = schema.get("enum", ())
    if schema.get("type") == "string" and 0 < len(allowed) <= FEW_VALUES:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in allowed)
    return SAID[str(schema.get("type"))]


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
