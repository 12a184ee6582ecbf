"""Seeds that come from names, never from the order of work."""

import hashlib
import json

ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def seed_of(*names: str | int) -> int:
    """A seed of 63 bits that depends on the names alone, whatever else is drawn before or after.

    >>> seed_of("study", "session") == seed_of("study", "session") != seed_of("session", "study")
    True
    """
    digest = hashlib.sha256(ENCODE(names).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
