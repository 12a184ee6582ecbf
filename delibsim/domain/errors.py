"""The errors that a user can mend, and the closest names to what was meant."""

import difflib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence

SHOWN = 30
"""How many known names a message lists."""
LIKE, LIKE_IN_PART = 0.5, 0.7
"""How alike a name is, from 0 to 1, that may have been meant: as a whole, in its last part."""
FURTHER = 0.2
"""How much less alike than the closest name another may be to be suggested beside it."""
FORM = 0.9
"""How alike a plain name is, from 0 to 1, that may have been meant beside the same dotted one."""
LONGEST_NAME = 200
"""A longer name is like no other."""
LONGEST_VALUE, LONGEST_KEPT = 240, 4_000
"""Characters of a quoted value that a command tells, and that an error keeps: no secret is longer,
which is found only whole.
"""
QUOTED = re.compile(r"(?<!\w)(['\"])((?:(?!\1)[^\\]|\\.|\1(?=\w))*+)\1(?!\w)", re.DOTALL)
"""A value in quotes; an apostrophe within a word ends none."""


class WrongInput(ValueError):
    """What the user gave cannot be used; the message says what, where, and how to mend it.

    Commands exit with 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(told(str(message), LONGEST_KEPT))


@functools.cache
def _phrases() -> Mapping[str, str]:
    from delibsim.domain.data import read_data  # YAML takes long to import

    return read_data("phrases.yaml")


def phrase(name: str, **facts: object) -> str:
    """The text of this name in data/phrases.yaml, with facts in the place of its fields.

    >>> phrase("holds_imported_texts", study="study 'first'")[:38]
    "study 'first' holds imported texts, an"
    """
    return _phrases()[name].format(**facts)


def refused(name: str, **facts: object) -> WrongInput:
    """The error that such a text tells."""
    return WrongInput(phrase(name, **facts))


class NotImported(WrongInput):
    """Data of real people that must be imported first: what is lacking, under which name.

    `advice` says how to mend it; a pair of braces in it stands for the name.
    """

    def __init__(self, what: str, name: str, advice: str) -> None:
        super().__init__(f"{what} '{name}'; {advice.format(name)}")
        self.what, self.name, self.advice = what, name, advice


class Several(WrongInput):
    """Several things that cannot be used, each of which is told; no message is told twice."""

    def __init__(self, faults: Sequence[WrongInput]) -> None:
        self.faults = {str(fault): fault for fault in faults}
        super().__init__("\n".join(self.faults))

    @classmethod
    def of(cls, faults: Sequence[WrongInput]) -> WrongInput:
        """These faults as one error, which is the fault itself where there is one only."""
        found = cls(faults)
        return next(iter(found.faults.values())) if len(found.faults) == 1 else found


def told(message: str, longest: int = LONGEST_VALUE) -> str:
    r"""A message for a reader: each value that it quotes on one line, of at most `longest`
    characters, and lines of at most 16 times as many.

    >>> len(told(f"text '{'a' * 10**6}' and '{'b' * 10**6}'"))
    494
    >>> told("the survey's item 'two\nlines' is none")
    "the survey's item 'two lines' is none"
    """
    if "\n" not in message and len(message) <= longest:
        return message

    def short(match: re.Match[str]) -> str:
        value = shortened(" ".join(match[2].split("\n")), longest)
        return f"{match[1]}{value}{match[1]}"

    quoted = QUOTED.sub(short, message)
    return "\n".join(shortened(line, 16 * longest) for line in quoted.split("\n"))


def shortened(text: str, longest: int = LONGEST_VALUE) -> str:
    """A text of at most `longest` characters: of a longer one its beginning and its end."""
    if len(text) <= longest:
        return text
    end = (longest - 5) // 3
    return f"{text[: longest - 5 - end]} ... {text[-end:]}"


def each_of(fault: WrongInput) -> list[WrongInput]:
    """The faults that an error tells."""
    return list(fault.faults.values()) if isinstance(fault, Several) else [fault]


def told_once(faults: Sequence[NotImported]) -> list[str]:
    """One message for each thing that is lacking, with every name under which it is.

    >>> told_once([NotImported("no answers to", name, "import answers to {}") for name in "aba"])
    ["no answers to 'a', 'b'; import answers to SURVEY"]
    """
    names: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        lacking = names.setdefault((fault.what, fault.advice), [])
        if fault.name not in lacking:
            lacking.append(fault.name)
    messages = []
    for (what, advice), lacking in names.items():
        listed = ", ".join(f"'{name}'" for name in lacking)
        name = lacking[0] if len(lacking) == 1 else "SURVEY"
        messages.append(f"{what} {listed}; {advice.format(name)}")
    return messages


def unknown(
    kind: str, name: str, known: Iterable[str], advice: str = "", unlisted: Iterable[str] = ()
) -> WrongInput:
    """The error for a name that does not exist, with the closest names that do.

    `known` are listed and suggested, `unlisted` only suggested.

    >>> str(unknown("treatment", "normativ", ["basic", "none", "normative"]))
    "unknown treatment 'normativ'; did you mean normative? There are: basic, none, normative"
    """
    names = sorted(set(known))
    close = _closest(name, {*names, *unlisted})
    message = f"unknown {kind} '{name}'"
    message += f"; did you mean {' or '.join(close)}?" if close else "."
    if names:
        message += f" There are: {', '.join(map(shortened, names[:SHOWN]))}"
        if len(names) > SHOWN:
            message += f" and {len(names) - SHOWN} more"
        if advice:
            message += "."
    if advice:
        message += f" {advice}"
    return WrongInput(message)


def _closest(name: str, names: Iterable[str]) -> list[str]:
    """At most three names that are spelt like this one, or dotted names whose last part is, the
    closest first; where one is the same, no others but the plain name that it is a form of.

    >>> names = ["group.size", "seed", "model", "group.models"]
    >>> _closest("size", names), _closest("group_size", names), _closest("sead", names)
    (['group.size'], ['group.size'], ['seed'])
    >>> _closest("models", names)
    ['group.models', 'model']
    """
    found = []
    if len(name) > LONGEST_NAME:
        return []
    for known in names:
        if len(known) > LONGEST_NAME:
            continue
        likeness = _likeness(name, known)
        if likeness >= (LIKE_IN_PART if "." in known and "." not in name else LIKE):
            found.append((likeness, known))
    best = max((likeness for likeness, _ in found), default=0.0)
    close = [one for one in found if one[0] >= best - FURTHER]
    if best == 1:
        close = [one for one in found if one[0] == 1 or (one[0] >= FORM and "." not in one[1])]
    close.sort(key=lambda one: (-one[0], one[1].count("."), one[1]))
    return [known for _, known in close[:3]]


def _likeness(name: str, known: str) -> float:
    """How alike two names are, from 0 to 1; of a dotted one its last part or, where the other
    holds "_", the whole with "_" for ".".
    """
    texts = [known]
    if "." in known and "." not in name:
        texts = [known.rpartition(".")[2]]
        texts += [known.replace(".", "_")] if "_" in name else []
    return max(difflib.SequenceMatcher(None, text, name).ratio() for text in texts)
