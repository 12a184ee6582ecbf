"""The settings (key=value) of commands that plan no session: what each may be, and how it is read.

Those of sessions and of language models are Hydra's, and are read in `planning`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.domain.errors import WrongInput, unknown

QUOTES = "'\""
"""In which Hydra takes a value with blanks; here they may stand around one as well."""
YES, NO = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True)
class Setting:
    """What a setting may be: its default, how its text is read (ValueError with what is wanted),
    how both are shown, and whether it may be given several times (its value is a tuple then).
    """

    default: Any = ""
    read: Callable[[str], Any] = str
    shown: str = ""
    several: bool = False


TEXT = Setting()
SEVERAL = Setting(default=(), several=True)


def whole(default: int | None = None, low: int = 0, high: int = 1_000_000) -> Setting:
    """A whole number."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ValueError(f"a whole number from {low:,} to {high:,}")
        return int(text)

    return Setting(default, read, "" if default is None else str(default))


def decimal(default: float | None, low: float, high: float) -> Setting:
    """A number."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise ValueError(f"a number from {low:g} to {high:,g}")
        return number

    return Setting(default, read, "" if default is None else f"{default:g}")


def choice(*values: str, default: str = "") -> Setting:
    """One of some words, the first unless told otherwise."""

    def read(text: str) -> str:
        if text not in values:
            raise LookupError
        return text

    return Setting(default or values[0], read, "|".join(values))


def flag(default: bool = False) -> Setting:
    """Whether something is so."""

    def read(text: str) -> bool:
        if text.lower() not in (*YES, *NO):
            raise ValueError("true or false")
        return text.lower() in YES

    return Setting(default, read, str(default).lower())


def told(known: Mapping[str, Setting]) -> str:
    """Settings as a help names them, with their defaults or their words.

    >>> told({"scheme": TEXT, "bound": decimal(0.1, 0, 2), "scale": choice("z", "unit")})
    'scheme, bound (0.1), scale=z|unit'
    """
    named = []
    for key, one in known.items():
        if "|" in one.shown:
            named.append(f"{key}={one.shown}")
        else:
            named.append(f"{key} ({one.shown})" if one.shown else key)
    return ", ".join(named)


def settings_of(words: Sequence[str] | None, known: Mapping[str, Setting]) -> dict[str, Any]:
    """The values of settings by key, the default for those not given; WrongInput for words that are
    none of these settings, for a value that one cannot have, and for two of one key.

    >>> settings_of(["scheme=dqi3"], {"scheme": TEXT, "draws": whole(0)})
    {'scheme': 'dqi3', 'draws': 0}
    """
    found: dict[str, Any] = {}
    for word in words or []:
        key, sign, text = word.partition("=")
        if not sign:
            raise WrongInput(f"'{word}' is no setting; write it as key=value ({told(known)})")
        if key not in known:
            raise unknown("setting", key, known)
        value = _value(key, unquoted(text), known[key])
        if known[key].several:
            found[key] = (*found.get(key, ()), value)
        elif key in found:
            raise WrongInput(f"{key} is set twice")
        else:
            found[key] = value
    return {key: found.get(key, one.default) for key, one in known.items()}


def _value(key: str, text: str, one: Setting) -> Any:
    """The value of a setting; its default where nothing stands behind the sign."""
    if not text:
        return one.default
    try:
        return one.read(text)
    except LookupError:
        raise unknown(f"value of {key}", text, one.shown.split("|")) from None
    except ValueError as error:
        raise WrongInput(f"{key}={text}: give {error}") from None


def unquoted(text: str) -> str:
    """A value without the quotes around it."""
    quoted = len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]
    return text[1:-1].replace(f"\\{text[0]}", text[0]) if quoted else text


def parted(words: Sequence[str], keys: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The words that are settings among these keys, and the others.

    >>> parted(["each=3", "name=hands", "other"], {"each": TEXT})
    (['each=3'], ['name=hands', 'other'])
    """
    own, others = [], []
    for word in words:
        key, sign, _ = word.partition("=")
        (own if sign and key in keys else others).append(word)
    return own, others
