"""Readers of single settings: each gives a checked value, or WrongInput with what was expected."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.secret import refuse_key

Reader = Callable[[str, Any], Any]
"""From the name of a setting and its value to the value that is used."""


def key_of(override: str) -> str:
    """The key of a setting as it is given.

    >>> key_of("+model.place=0.4")
    'model.place'
    """
    return override.partition("=")[0].lstrip("+")


def read_values(given: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The values that are given, each as its reader reads it; WrongInput for the first that cannot
    be.
    """
    return {name: readers[name](name, value) for name, value in given.items()}


def whole(least: int, most: int) -> Reader:
    """A reader of whole numbers between two bounds."""

    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise WrongInput(f"{name}={value}: expected a whole number from {least} to {most:,}")
        return value

    return read


def one_of(names: Sequence[str]) -> Reader:
    """A reader of one of these names."""

    def read(name: str, value: Any) -> str:
        if value not in names:
            raise unknown(f"value of {name}", str(value), names)
        return str(value)

    return read


def temperature(name: str, value: Any) -> float | None:
    """A temperature; None where none is sent."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise WrongInput(f"{name}={value}: expected a number from 0 to 2, or null")
    return float(value)


def yes_or_no(name: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongInput(f"{name}={value}: expected true or false")
    return value


def one_name(name: str, value: Any) -> str:
    """One name, which is no key of a provider."""
    if not isinstance(value, str) or not value:
        raise WrongInput(f"{name}={value}: expected one name")
    refuse_key(name, value)
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """Different names, at least one."""
    listed = value if isinstance(value, list) else [value]
    found = tuple(one_name(name, one) for one in listed)
    if not found or len(set(found)) < len(found):
        raise WrongInput(f"{name}={value}: expected different names, such as {name}=[A,B]")
    return found
