"""Texts that others wrote (a model, a provider, a file), made safe to print."""

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sized
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from typing import Any

HIDDEN = ("Cc", "Cf", "Cs", "Co")
"""The categories of characters by which a text could command a terminal."""
NO_CHARACTERS = "\ufffe\uffff"
"""Code points that are no characters, which no XML document can hold."""
LONGEST = 6_000
"""Characters of one text that are printed; about a thousand words."""
BARS = re.compile(r"(?<![^ ])\|+(?![^ ])")
"""Bars that stand alone between blanks, as between names that are joined."""


def safe(text: str) -> str:
    r"""Text made inert for a terminal: no control, escape or direction-changing characters, and
    none that XML cannot hold; line ends and tabs stay.

    >>> safe("a\x1b[31mb")
    'a[31mb'
    """
    line = text.replace("\n", "").replace("\t", "")
    if line.isprintable():  # which no hidden character is; most texts end here, much sooner
        return text
    kept = text.translate(dict.fromkeys(map(ord, NO_CHARACTERS)))
    return "".join(c for c in kept if c in "\n\t" or unicodedata.category(c) not in HIDDEN)


def brief(text: str, longest: int = LONGEST) -> tuple[str, str]:
    """Safe text, cut at `longest` characters, and a note of how much is not shown, or ""."""
    clean = safe(text[: 4 * longest])
    if len(clean) <= longest and len(text) <= 4 * longest:
        return clean, ""
    return clean[:longest].rstrip(), f"({len(text):,} characters in all)"


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number and what it counts; the plural ends in s, or -ies, unless it is given.

    >>> counted(1, "session"), counted(1980, "session"), counted(0, "reply", "replies")
    ('1 session', '1,980 sessions', '0 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or plural_of(noun)}"


def one_name(*names: str) -> str:
    """Several names as one, with a bar between them, which no other names give: bars that stand
    alone in a name get one more.

    >>> one_name("t1", "t2"), one_name("a|b", "c")
    ('t1 | t2', 'a|b | c')
    >>> one_name("a | b", "c"), one_name("a", "b | c")
    ('a || b | c', 'a | b || c')
    """
    joined = " | ".join(names)
    if joined.count("|") == len(names) - 1:  # as for nearly all, of which there may be millions
        return joined
    return " | ".join(BARS.sub(r"\g<0>|", name) for name in names)


def plural_of(noun: str) -> str:
    """The plural of a regular noun.

    >>> plural_of("summary"), plural_of("day"), plural_of("vote")
    ('summaries', 'days', 'votes')
    """
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if ends_in_y else f"{noun}s"


def study_named(name: str) -> str:
    """A study as messages name it: quoted where a shell would not take the name as one word.

    >>> study_named("first"), study_named("my study")
    ('study first', "study 'my study'")
    """
    return f"study {quoted(name)}"


def quoted(word: object) -> str:
    """A name or a place in a command that is proposed, as a shell takes it for one word.

    >>> quoted("first"), quoted("my study")
    ('first', "'my study'")
    """
    return shlex.quote(safe(str(word)))


SHOWN, SAID = 180, 40
"""Characters of a noun that is shown in short, and of one text within it."""


def in_short(noun: Any) -> str:
    """A dataclass as a reader of a notebook sees it, in under 200 characters: what it is called,
    how many things it holds, the beginnings of its texts. What is as by default is left out.
    """
    told, left = [], SHOWN - len(type(noun).__name__)
    for own in fields(noun):
        value = getattr(noun, own.name)
        usual = own.default is not MISSING and value == own.default
        if not own.repr or usual or (isinstance(value, Sized) and not len(value)):
            continue
        part = f"{own.name}={_in_short(value)}"
        left -= len(part) + 2
        if left < 0:
            told.append("...")
            break
        told.append(part)
    return f"{type(noun).__name__}({', '.join(told)})"


def _in_short(value: Any) -> str:
    """A value within a noun: a text by its beginning, another noun by its name, many by number."""
    if isinstance(value, str):
        return repr(value if len(value) <= SAID else f"{value[: SAID - 3]}...")
    if is_dataclass(value):
        name = getattr(value, "id", None) or getattr(value, "name", "")
        whole = repr(value)
        if not name and len(whole) <= 2 * SAID:
            return whole
        return f"{type(value).__name__}({_in_short(name) if name else '...'})"
    return f"<{len(value)}>" if isinstance(value, Sized) else repr(value)[:SAID]


def as_card(title: str, facts: Mapping[str, object], told: Iterable[str] = ()) -> str:
    """What a notebook shows of a noun: a title, facts by name, a row each, and sentences, as HTML
    in which no text of others is markup.
    """
    cell = "<td style='text-align:left'>"
    known = {name: value for name, value in facts.items() if str(value)}
    rows = [f"<tr>{cell}{_inert(k)}</td>{cell}{_inert(v)}</td></tr>" for k, v in known.items()]
    head = f"<p><b>{_inert(title)}</b></p>" if title else ""
    table = f"<table>{''.join(rows)}</table>" if rows else ""
    lines = "".join(f"<p>{_inert(line)}</p>" for line in told if line)
    return f"<div>{head}{table}{lines}</div>"


def _inert(text: object) -> str:
    return escape(safe(str(text)))
