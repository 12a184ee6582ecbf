"""Finding plug-ins (scorers, language models) by entry point."""

import difflib
import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

CLIENTS = "delibsim.models.clients."
"""The modules of models over HTTP: they declare nothing and take seconds to import."""


class NoPlugin(LookupError):
    """There is no plug-in of that name; the message gives the closest names."""


def names(group: str) -> list[str]:
    """The names of all installed plug-ins of a group, such as "delibsim.scorers"."""
    return sorted(_installed(group))


def load(group: str, name: str, /, **options: Any) -> Any:
    """Import a plug-in and make one with these options; NoPlugin if it is not installed."""
    found = _installed(group)
    if name not in found:
        close = difflib.get_close_matches(name, found, n=3, cutoff=0.5)
        meant = f"; did you mean {' or '.join(close)}?" if close else "."
        raise NoPlugin(
            f"no plug-in '{name}' in {group}{meant} There are: {', '.join(sorted(found))}"
        )
    return found[name].load()(**options)


@functools.cache
def without_effect(kind: str, where: str = "") -> frozenset[str]:
    """The settings that language models of a kind declare to have no effect on them, by name.

    `where`: a circumstance of the session (domain/effect.py); "" for settings that never have one.
    Empty for hosted models, whose record says what was dropped, and for kinds not installed here.
    """
    installed = _installed("delibsim.models")
    if kind not in installed or installed[kind].module.startswith(CLIENTS):
        return frozenset()
    model = installed[kind].load()
    if where:
        return frozenset(getattr(model, "without_effect_where", {}).get(where, ()))
    return frozenset(getattr(model, "without_effect", ()))


@functools.cache
def declared(scorer: str) -> tuple[int, tuple[Any, ...]]:
    """The version of an installed scorer and the measures that its class declares.

    (0, ()) where no scorer of that name is installed; no measures where it declares none.
    """
    installed = _installed("delibsim.scorers")
    if scorer not in installed:
        return 0, ()
    made = installed[scorer].load()
    return getattr(made, "version", 0), tuple(getattr(made, "measures", ()))


# looking through all installed packages takes milliseconds, and a session asks for every model it
# has
@functools.cache
def _installed(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}
