"""Reading the JSON object of a reply: prose and code fences around it are passed over, and nothing
ambiguous is read.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import UnreadableReply

DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: Members(tuple(pairs)), strict=False)
OPENING = re.compile(r"\{(?=\s*(?:[\"}]|\Z))")
"""A brace that may open an object: a name, the other brace or the end of the reply follows."""
STRAY = 100
"""Braces of a reply that may open no JSON object."""
SHOWN = 40
"""Characters of a value that a fault quotes."""


@dataclass(frozen=True)
class Members:
    """The members of a JSON object in their order, repeated names included; `place` is where it
    stands in the reply.
    """

    pairs: tuple[tuple[str, Any], ...]
    place: tuple[int, int] = (0, 0)

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return [name for name, _ in self.pairs]

    def member(self, name: str) -> "Members | None":
        """Its one member, if it is an object of this name."""
        own = self.pairs[0][1] if self.names == [name] else None
        return own if isinstance(own, Members) else None

    def around(self, reply: str) -> str:
        """The reply without it."""
        begun, end = self.place
        return f"{reply[:begun]}\n{reply[end:]}"


def only_object(text: str, names: Sequence[str], inside: str = "") -> Members:
    """The one JSON object of a reply that has a member of these names, or that is the one member,
    called `inside`, of another; UnreadableReply if there is none, one that does not end, or
    several.
    """
    objects = [found.member(inside) or found for found in objects_in(text)]
    answers = [found for found in objects if set(names) & set(found.names)]
    if len(answers) > 1:
        raise UnreadableReply(f"the reply holds {len(answers)} JSON objects; one is asked for")
    if not answers:
        wanted = " and ".join(f'"{name}"' for name in names)
        raise UnreadableReply(
            f"the reply holds no JSON object with {wanted}"
            if text.strip()
            else "the reply is empty"
        )
    return answers[0]


def objects_in(text: str) -> Iterator[Members]:
    """The JSON objects of a text that stand in no other object, in their order.

    UnreadableReply where one does not end, or where more than `STRAY` braces open none: each of
    them costs a reading of the rest, and a long reply of braces would take minutes.
    """
    length = len(text.rstrip())
    stray = 0
    opening = OPENING.search(text)
    while opening:
        at = opening.start()
        end = at + 1
        try:
            found, end = DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if error.pos >= length or error.msg.startswith("Unterminated string"):
                raise UnreadableReply(
                    "the JSON object does not end: the reply was cut off, or a quotation mark or a"
                    " brace is missing"
                ) from None
            stray += 1
        except ValueError:  # a number of thousands of digits
            stray += 1
        else:
            yield replace(found, place=(at, end))
        if stray > STRAY:
            raise UnreadableReply(f"more than {STRAY} braces of the reply open no JSON object")
        opening = OPENING.search(text, end)


def in_order(members: Members, wanted: Sequence[str]) -> dict[str, Any]:
    """The members that are asked for; UnreadableReply where one is missing, repeated, or stands
    before one that is to be written first.
    """
    names = [name for name in members.names if name in wanted]
    for name in wanted:
        if name not in names:
            raise UnreadableReply(f'the JSON object has no "{name}"')
        if names.count(name) > 1:
            raise UnreadableReply(f'the JSON object has "{name}" twice')
    if names != list(wanted):
        early = next(name for name, due in zip(names, wanted, strict=True) if name != due)
        due = wanted[names.index(early)]
        raise UnreadableReply(f'"{early}" stands before "{due}"; write "{due}" first')
    return dict(pair for pair in members.pairs if pair[0] in wanted)


def brief(value: Any) -> str:
    """A value of a reply as a fault quotes it, in one line."""
    if isinstance(value, Members):
        return "a JSON object"
    if isinstance(value, list):
        return "a list"
    said = json.dumps(value, ensure_ascii=False) if not isinstance(value, float) else repr(value)
    said = whole_characters(" ".join(said.split()))
    return said if len(said) <= SHOWN else f"{said[:SHOWN]}..."
