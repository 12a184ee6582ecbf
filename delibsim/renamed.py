"""Warnings about what an earlier version called or took otherwise."""

import warnings


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller of whoever looked the old name up."""
    warnings.warn(
        f"{old} is now {new}; the old name goes in the next version",
        DeprecationWarning,
        stacklevel=3,
    )


def warn_text(field: str, type_: str) -> None:
    """Warn the caller of a dataclass whose field was a text and is now of another type."""
    warnings.warn(
        f"{field} is a {type_}; texts are accepted until the next version",
        DeprecationWarning,
        stacklevel=4,
    )
