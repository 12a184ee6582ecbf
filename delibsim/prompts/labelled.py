"""Reading labelled numbers out of a reply: what is unambiguous is read, everything else is a named
fault.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from delibsim.domain.survey import LABEL

LINE = re.compile(rf"""[\s>*+\-•"'`,|]*({LABEL.pattern})["'`*|]*\s*[:=|]""", re.ASCII)
AROUND = " \t*\"'`|,;}"  # marks of Markdown, tables and JSON that may stand around a value
WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.ASCII)
NUMBER = re.compile(r"[+-]?[0-9]", re.ASCII)
MEMBER = re.compile(rf'"({LABEL.pattern})" *: *"?([+-]?[0-9]{{1,9}})"?', re.ASCII)
FLAT = re.compile(r"\{[^{}]*\}")
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\ufeff": ""})


def whole_characters(text: str) -> str:
    """Text that can be written as UTF-8: halves of characters, as broken escapes leave them, become
    replacement characters.
    """
    return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")


@functools.lru_cache(maxsize=64)  # a reply is read when it is recorded, and again by who asked
def labelled_values(text: str, labels: tuple[str, ...]) -> tuple[Mapping[str, int], Sequence[str]]:
    r"""Whole numbers by label, and the faults of labels that have none, two, or one that is no
    whole number.

    >>> labelled_values("Here you are:\nC1: 5\nP1 = 2", ("C1", "P1"))
    (mappingproxy({'C1': 5, 'P1': 2}), ())
    >>> labelled_values("C1: 5\nC1: 6", ("C1", "P1"))[1]
    ('C1 is given twice with different values (5, 6)', 'P1 is missing')
    """
    text = whole_characters(text).translate(QUOTES)
    known = set(labels)
    pairs, rest = _in_json(text, known)
    # Beside an object, labelled lines that begin like a number are answers too, and may contradict
    # it; the others are prose around it.
    pairs += [
        (label, value) for label, value in _in_lines(rest) if not pairs or NUMBER.match(value)
    ]
    given: dict[str, list[str]] = {}
    for label, value in pairs:
        raw = (
            value.strip().removesuffix(".")
            if isinstance(value, str)
            else json.dumps(value, ensure_ascii=False)
        )
        seen = given.setdefault(label, [])
        if raw not in seen:
            seen.append(raw)
    values: dict[str, int] = {}
    faults: list[str] = []
    for label in labels:
        raws = given.pop(label, [])
        if not raws:
            faults.append(f"{label} is missing")
        elif len(raws) > 1:
            faults.append(
                f"{label} is given twice with different values ({', '.join(map(_brief, raws))})"
            )
        elif not WHOLE.match(raws[0]):
            faults.append(
                f"{label} has '{_brief(raws[0])}', which is not a whole number in plain digits"
            )
        else:
            values[label] = int(raws[0])
    faults += [f"{_brief(label)} is not a label of this survey" for label in given]
    return MappingProxyType(values), tuple(faults)


def _in_lines(text: str) -> list[tuple[str, Any]]:
    """Labels at the beginning of lines, each with what stands after it."""
    found = ((LINE.match(line), line) for line in text.splitlines())
    return [
        (match[1], line[match.end() :].strip(AROUND))
        for match, line in found
        if match and line[match.end() :].lstrip()[:1] != "{"
    ]


def _in_json(text: str, known: set[str]) -> tuple[list[tuple[str, Any]], str]:
    """The members of every flat JSON object that speaks of a known label, repeated names included;
    and the text without them.
    """
    for candidate in (text, text.replace("'", '"')):
        found: list[tuple[str, Any]] = []
        rest = text
        for match in FLAT.finditer(candidate):
            try:
                pairs = json.loads(match[0], object_pairs_hook=list)
            except ValueError:
                continue
            if any(name in known for name, _ in pairs):
                found += pairs
                rest = rest.replace(text[match.start() : match.end()], "\n")
        if found:
            # An object around the flat ones may speak of the labels too.
            found += [
                (label, value)
                for label, value in MEMBER.findall(rest.replace("'", '"'))
                if label in known
            ]
            return found, MEMBER.sub("", rest)
    return [], text


def _brief(text: str) -> str:
    """Foreign text fit to be quoted in a fault: one line, 40 characters."""
    return " ".join(whole_characters(text).split())[:40]
