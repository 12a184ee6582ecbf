"""The errors a user can mend, and the closest names to what was meant."""

import difflib
from collections.abc import Iterable, Sequence

SHOWN = 30
LIKE, LIKE_IN_PART = 0.5, 0.7
"""How alike a name is, from 0 to 1, that may have been meant: as a whole, in its last part."""


class WrongInput(ValueError):
    """What the user gave cannot be used: the message says what, where, and how to mend it. Commands
    exit with 2.
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
    names: dict[tuple[str, str], dict[str, str]] = {}
    for fault in faults:
        names.setdefault((fault.what, fault.advice), {})[f"'{fault.name}'"] = fault.name
    told = []
    for (what, advice), lacking in names.items():
        *others, last = lacking.values()
        told.append(f"{what} {', '.join(lacking)}; {advice.format('SURVEY' if others else last)}")
    return told


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
    meant = f"; did you mean {' or '.join(close)}?" if close else "."
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    there = f" There are: {', '.join(names[:SHOWN])}{more}" if names else ""
    return WrongInput(
        f"unknown {kind}"
        f" '{name}'{meant}{there}{'.' if there and advice else ''}{' ' + advice if advice else ''}"
    )


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
