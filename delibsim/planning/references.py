"""References between settings, ${NAME}: what they may name, how far they may go, and filled in."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from delibsim.domain.errors import WrongInput, refused
from delibsim.models.clients.faults import SECRET_NAME

Path = tuple[str, ...]
"""The keys under which a setting lies, the outermost first."""

OPERATIONAL = (("base_url",), ("model", "base_url"), ("limits",), ("runs",))
"""Settings that say how a study is carried out, and are no part of what models are sent: they alone
may read variables of the environment.
"""
BEGIN = re.compile(r"(\\*)\$\{")
REFERENCE = re.compile(r"\$\{\s*(\.*)([\w/@-]+(?:(?:\.|\[)[\w/@-]+\]?)*)\s*\}")
VARIABLE = re.compile(r"\$\{\s*oc\.env\s*:\s*(\w+)\s*(?:,[^${}]*)?\}")
STEPS = 20
"""References may lead to references, so often at most."""
FILLED_IN = 5_000
"""References of a configuration, those counted anew that a reference leads to."""
CHARACTERS = 2**22
"""Of all texts with references, filled in."""


def resolved(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration with every ${...} in it filled in; WrongInput where that cannot be done."""
    if "${" not in json.dumps(config, default=str):
        return config
    from omegaconf import OmegaConf  # slow to import
    from omegaconf.errors import OmegaConfBaseException

    concerned = _References(config).checked()
    part = OmegaConf.create({key: config[key] for key in concerned})
    try:
        plain: Any = OmegaConf.to_container(part, resolve=True)
    except OmegaConfBaseException as error:
        raise WrongInput(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    return {**config, **plain}


def begins(text: str) -> Iterator[int]:
    r"""Where the references of a text begin; one behind a backslash is plain text.

    >>> list(begins("${a} costs ${b}")), list(begins(r"\${a}"))
    ([0, 11], [])
    """
    for found in BEGIN.finditer(text):
        if len(found[1]) % 2 == 0:
            yield found.end() - 2


def escaped(value: Any) -> Any:
    r"""A value in which every ${ stands for itself, once its references are filled in.

    >>> escaped({"text": "it costs ${5}"})
    {'text': 'it costs \\${5}'}
    """
    if isinstance(value, dict):
        return {key: escaped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [escaped(inner) for inner in value]
    if isinstance(value, str):
        return BEGIN.sub(lambda found: found[1] * 2 + "\\${", value)
    return value


class _References:
    """The references of one configuration, looked at before any is filled in."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._sizes: dict[Path, tuple[int, int, int]] = {}
        self._concerned: set[str] = set()

    def checked(self) -> list[str]:
        """The settings that hold references or are named by one, without which none can be filled
        in; WrongInput for a reference to what it must not name, and for too many.
        """
        filled_in, characters = 0, 0
        for path, text in _texts(self._config):
            if "${" in text:
                self._concerned.add(path[0])
                _, more, longer = self._size(path, ())
                filled_in, characters = filled_in + more, characters + longer
        if filled_in > FILLED_IN or characters > CHARACTERS:
            raise refused(
                "references_too_long",
                filled_in=filled_in,
                characters=characters,
                most=FILLED_IN,
                longest=CHARACTERS,
            )
        return [key for key in self._config if key in self._concerned]

    def _size(self, path: Path, within: tuple[Path, ...]) -> tuple[int, int, int]:
        """What lies under a path, filled in: the longest chain of references, how many are filled
        in, and how many characters there are.
        """
        if path in within or len(within) > STEPS:
            raise refused("references_too_deep", path=_dotted(path), steps=STEPS)
        if path not in self._sizes:
            steps, filled_in, characters = 0, 0, 0
            for inner, text in _texts(self._at(path), path):
                characters += len(text)
                for named in self._named(inner, text):
                    self._concerned.add(named[0])
                    further, more, longer = self._size(named, (*within, path))
                    steps = max(steps, further + 1)
                    filled_in, characters = filled_in + more + 1, characters + longer
            self._sizes[path] = steps, filled_in, characters
        if len(within) + self._sizes[path][0] > STEPS:
            raise WrongInput(f"'{_dotted(path)}' leads over more than {STEPS} references")
        return self._sizes[path]

    def _named(self, path: Path, text: str) -> Iterator[Path]:
        """The settings that a text refers to; WrongInput for what it must not refer to."""
        free = _operational(path)
        for place in begins(text):
            if found := REFERENCE.match(text, place):
                named = _absolute(path, found)
                if not free and _holds_operational(named):
                    raise _refusal(path, f"refers to '{_dotted(named)}'")
                if named:
                    yield named
            elif (found := VARIABLE.match(text, place)) and free:
                if SECRET_NAME.search(found[1]):
                    raise refused("reads_a_secret", path=_dotted(path), found=found[1])
            else:
                raise _refusal(path, "holds a ${...} that is not the name of a setting")

    def _at(self, path: Path) -> Any:
        """What lies under a path; None where there is nothing."""
        value: Any = self._config
        for key in path:
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                return None
        return value


def _refusal(path: Path, what: str) -> WrongInput:
    return refused("no_reference_there", path=_dotted(path), what=what)


def _absolute(path: Path, reference: re.Match[str]) -> Path:
    """The path that a reference names; dots before it count from where it stands."""
    dots, steps = reference[1], tuple(re.split(r"[.\[\]]+", reference[2].rstrip("]")))
    return steps if not dots else (*path[: max(0, len(path) - len(dots))], *steps)


def _operational(path: Path) -> bool:
    return any(path[: len(free)] == free for free in OPERATIONAL)


def _holds_operational(path: Path) -> bool:
    """Whether an operational setting lies at a path, below it or above it."""
    return any(path[: len(free)] == free[: len(path)] for free in OPERATIONAL)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a value with its path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, str(index)))
    elif isinstance(value, str):
        yield path, value


def _dotted(path: Path) -> str:
    return ".".join(path)
