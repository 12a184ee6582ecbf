"""The errors a user can mend, and the closest names to what was meant."""

import difflib
from collections.abc import Iterable

SHOWN = 30


class WrongInput(ValueError):
    """What the user gave cannot be used: the message says what, where, and how to mend it. Commands exit with 2."""


def unknown(kind: str, name: str, known: Iterable[str], advice: str = "") -> WrongInput:
    """The error for a name that does not exist, with the closest names that do.

    >>> str(unknown("treatment", "normativ", ["basic", "none", "normative"]))
    "unknown treatment 'normativ'; did you mean normative? There are: basic, none, normative"
    """
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    meant = f"; did you mean {' or '.join(close)}?" if close else "."
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    there = f" There are: {', '.join(names[:SHOWN])}{more}" if names else ""
    return WrongInput(f"unknown {kind} '{name}'{meant}{there}{'.' if there and advice else ''}{' ' + advice if advice else ''}")
