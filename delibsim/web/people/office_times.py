"""Times and occasions in the words of the researcher's pages."""

from datetime import UTC, datetime

from delibsim.web.people.language import Language

KNOWN = ("pre", "post", "position", "critique")


def clock(at: float) -> str:
    """A time in UTC.

    >>> clock(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def span(words: Language, seconds: float) -> str:
    """How long something takes by now, in seconds, minutes, hours or days."""
    whole = max(0, int(seconds))
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if whole >= 2 * size:
            return words(f"office.{unit}", n=whole // size)
    return words("office.seconds", n=whole)


def occasion(words: Language, name: str) -> str:
    """What a person is asked, in words."""
    kind, _, number = name.partition(" ")
    if kind == "turn" and number:
        return words("office.turn_n", n=number)
    return words(f"office.asked_{kind if kind in KNOWN else 'else'}")
