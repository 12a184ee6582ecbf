"""What is said of a public name of an earlier version that has another name now."""

import warnings


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller of whoever looked the old name up."""
    warnings.warn(
        f"{old} is now {new}; the old name goes in the next version",
        DeprecationWarning,
        stacklevel=3,
    )
