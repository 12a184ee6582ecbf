"""Seeds that come from names, never from the order of work."""

import hashlib
import json

ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def seed_of(*names: str | int) -> int:
    """A seed of 63 bits that depends on the names alone, whatever else is drawn before or after.

    >>> seed_of("study", "session") == seed_of("study", "session") != seed_of("session", "study")
    True
    """
    listed = ", ".join([_written(name) for name in names])
    digest = hashlib.sha256(f"[{listed}]".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _written(name: str | int) -> str:
    """A name in JSON; most numbers need no encoder, which takes long to begin."""
    return repr(name) if type(name) is int else ENCODE(name)
