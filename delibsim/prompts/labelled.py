"""Reading labelled numbers, or a JSON object, out of a reply: what is ambiguous is a named fault;
prose and code fences around an object are passed over.
"""

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from delibsim.domain.errors import phrase
from delibsim.domain.survey import LABEL
from delibsim.prompts.prompt import UnreadableReply

LINE = re.compile(rf"""[\s>*+\-•"'`,|]*({LABEL.pattern})["'`*|]*\s*[:=|]""", re.ASCII)
AROUND = " \t*\"'`|,;}"  # marks of Markdown, tables and JSON that may stand around a value
WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.ASCII)
NUMBER = re.compile(r"[+-]?[0-9]", re.ASCII)
MEMBER = re.compile(rf'"({LABEL.pattern})" *: *"?([+-]?[0-9]{{1,9}})"?', re.ASCII)
FLAT = re.compile(r"\{[^{}]*\}")
SHOWN = 8
"""How many faults of one reply a message names."""
VALUES = 100
"""How many values of one label a message names."""
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\ufeff": ""})


def whole_characters(text: str) -> str:
    """Text that can be written as UTF-8; halves of characters become replacement characters.

    Broken escapes in JSON leave such halves.
    """
    try:
        text.encode()  # quick, and most texts have whole characters alone
    except UnicodeEncodeError:
        return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return text


@functools.lru_cache(maxsize=64)  # a reply is read when it is recorded, and again by who asked
def labelled_values(text: str, labels: tuple[str, ...]) -> tuple[Mapping[str, int], Sequence[str]]:
    r"""Whole numbers by label, and the faults of labels that have none, two, or no whole number.

    >>> labelled_values("Here you are:\nC1: 5\nP1 = 2", ("C1", "P1"))
    (mappingproxy({'C1': 5, 'P1': 2}), ())
    >>> labelled_values("C1: 5\nC1: 6", ("C1", "P1"))[1]
    ('C1 is given twice with different values (5, 6)', 'P1 is missing')
    """
    given = _given(whole_characters(text).translate(QUOTES), set(labels))
    values: dict[str, int] = {}
    faults: list[str] = []
    for label in labels:
        found = given.pop(label, [])
        fault = _fault(label, found)
        if fault:
            faults.append(fault)
        else:
            values[label] = int(found[0])
    faults += [f"{_brief(label)} is not a label of this survey" for label in given]
    return MappingProxyType(values), tuple(faults)


def padded(words: str, count: int) -> str:
    """So many words: those given, again and again.

    >>> padded("one two", 3)
    'one two one'
    """
    return " ".join(itertools.islice(itertools.cycle(words.split()), count))


def in_one_line(faults: Sequence[str]) -> str:
    """The first faults of a reply in one line, and how many more there are."""
    shown = "; ".join(faults[:SHOWN])
    more = len(faults) - SHOWN
    return f"{shown}; and {more} more faults" if more > 0 else shown


def _given(text: str, known: set[str]) -> dict[str, list[str]]:
    """The different values of every label, as texts, in their order."""
    pairs, rest = _in_json(text, known)
    in_json = bool(pairs)
    for label, value in _in_lines(rest):
        # Beside an object, labelled lines that begin like a number are answers too, and may
        # contradict it; the others are prose around it.
        if not in_json or NUMBER.match(value):
            pairs.append((label, value))
    given: dict[str, dict[str, None]] = {}
    for label, value in pairs:
        if isinstance(value, str):
            raw = value.strip().removesuffix(".")
        else:
            raw = json.dumps(value, ensure_ascii=False)
        given.setdefault(label, {})[raw] = None
    return {label: list(values) for label, values in given.items()}


def _fault(label: str, values: Sequence[str]) -> str:
    """What is wrong with the values given for a label; "" if there is one whole number."""
    if not values:
        return f"{label} is missing"
    if len(values) > 1:
        listed = ", ".join(map(_brief, values[:VALUES]))
        more = f" and {len(values) - VALUES:,} more" if len(values) > VALUES else ""
        return f"{label} is given twice with different values ({listed}{more})"
    if not WHOLE.match(values[0]):
        return f"{label} has '{_brief(values[0])}', which is not a whole number in plain digits"
    return ""


def _in_lines(text: str) -> list[tuple[str, Any]]:
    """Labels at the beginning of lines, each with what stands after it."""
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            after = line[match.end() :]
            if not after.lstrip().startswith("{"):
                found.append((match[1], after.strip(AROUND)))
    return found


def _in_json(text: str, known: set[str]) -> tuple[list[tuple[str, Any]], str]:
    """The members of every flat JSON object that has a known label, and the text without them.

    Repeated names are included.
    """
    for candidate in (text, text.replace("'", '"')):
        found: list[tuple[str, Any]] = []
        kept, end = [], 0
        for match in FLAT.finditer(candidate):
            try:
                pairs = json.loads(match[0], object_pairs_hook=list)
            except ValueError:
                continue
            if any(name in known for name, _ in pairs):
                found += pairs
                kept += [text[end : match.start()], "\n"]
                end = match.end()
        if found:
            rest = "".join((*kept, text[end:]))
            # An object around the flat ones may have known labels too.
            members = MEMBER.findall(rest.replace("'", '"'))
            found += [(label, value) for label, value in members if label in known]
            return found, MEMBER.sub("", rest)
    return [], text


def _brief(text: str) -> str:
    """Foreign text fit to be quoted in a fault: one line, 40 characters."""
    return " ".join(whole_characters(text).split())[:40]


DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: Members(tuple(pairs)), strict=False)
OPENING = re.compile(r"\{(?=\s*(?:[\"}]|\Z))")
"""A brace that may open an object: a name, the other brace or the end of the reply follows."""
STRAY = 100
"""Braces of a reply that may open no JSON object."""
QUOTED = 40
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
                raise UnreadableReply(phrase("object_cut_off")) from None
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
    return said if len(said) <= QUOTED else f"{said[:SHOWN]}..."
