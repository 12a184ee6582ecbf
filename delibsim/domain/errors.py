"""The errors that a user can mend, and the closest names to what was meant."""

import difflib
from collections.abc import Iterable, Sequence

SHOWN = 30
"""How many known names a message lists."""
LIKE, LIKE_IN_PART = 0.5, 0.7
"""How alike a name is, from 0 to 1, that may have been meant: as a whole, in its last part."""


class WrongInput(ValueError):
    """What the user gave cannot be used; the message says what, where, and how to mend it.

    Commands exit with 2.
    """


class NotImported(WrongInput):
    """Data of real people that must be imported first: what is lacking, under which name.

    `advice` says how to mend it; a pair of braces in it stands for the name.
    """

    def __init__(self, what: str, name: str, advice: str) -> None:
        super().__init__(f"{what} '{name}'; {advice.format(name)}")
        self.what, self.name, self.advice = what, name, advice


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
        message += f" There are: {', '.join(names[:SHOWN])}"
        if len(names) > SHOWN:
            message += f" and {len(names) - SHOWN} more"
        if advice:
            message += "."
    if advice:
        message += f" {advice}"
    return WrongInput(message)


def _closest(name: str, names: Iterable[str]) -> list[str]:
    """At most three names that are spelt like this one, or dotted names whose last part is; where
    one is the same, no others.

    >>> names = ["group.size", "seed"]
    >>> _closest("size", names), _closest("sise", names), _closest("sead", names)
    (['group.size'], ['group.size', 'seed'], ['seed'])
    """
    found = []
    for known in names:
        in_part = "." in known and "." not in name
        text = known.rpartition(".")[2] if in_part else known
        likeness = difflib.SequenceMatcher(None, text, name).ratio()
        if likeness >= (LIKE_IN_PART if in_part else LIKE):
            found.append((likeness, known))
    best = sorted(found, reverse=True)[:3]
    same = [known for likeness, known in best if likeness == 1]
    return same or [known for _, known in best]
