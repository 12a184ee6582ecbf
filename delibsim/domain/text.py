"""Texts that others wrote (a model, a provider, a file), made safe to print."""

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Co")
"""The categories of characters by which a text could command a terminal."""
LONGEST = 6_000
"""Characters of one text that are printed; about a thousand words."""


def safe(text: str) -> str:
    r"""Text made inert for a terminal: no control, escape or direction-changing characters; line
    ends and tabs stay.

    >>> safe("a\x1b[31mb")
    'a[31mb'
    """
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in HIDDEN)


def brief(text: str, longest: int = LONGEST) -> tuple[str, str]:
    """Safe text, cut at `longest` characters, and a note of how much is not shown, or ""."""
    clean = safe(text[: 4 * longest])
    if len(clean) <= longest and len(text) <= 4 * longest:
        return clean, ""
    return clean[:longest].rstrip(), f"({len(text):,} characters in all)"
