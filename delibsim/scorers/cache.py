"""What has been translated and labelled once, by the hash of the text and of what worked on it."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from delibsim.store.files import append_line, read_lines


class Cache:
    """A file of JSON lines, one result a line, found again by its key.

    Lines that a crash tore, and those that are not `whole`, are left alone and made again.
    """

    def __init__(self, file: Path, whole: Callable[[Mapping[str, Any]], bool]) -> None:
        self._file = file
        kept = (
            record
            for record in read_lines(file)[0]
            if isinstance(record.get("key"), str) and whole(record)
        )
        self._found: dict[str, Mapping[str, Any]] = {record["key"]: record for record in kept}

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The result under a key, or None."""
        return self._found.get(key)

    def keep(self, key: str, **result: Any) -> None:
        """Append a result; it is on disk when this returns."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        record = {"key": key, **result}
        append_line(self._file, record)
        self._found[key] = record


def key_of(*names: str) -> str:
    """The hash of a text and of all that its result depends on.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    digest = hashlib.sha256()
    for name in names:
        encoded = name.encode(errors="surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()
