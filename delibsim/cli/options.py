"""The words of commands: what each takes is its signature, what its words mean stands in
data/commands.

Words with `=` are settings: they change the science and are recorded. Words with `--` concern the
command only. STUDY or RUN comes first, always as a word of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import quoted

RUNS = Path("runs")
"""Where studies lie unless `--dir` says otherwise."""
Words = list[str] | None
"""Words of which there may be any number."""
Function = Callable[..., None]


def declared(
    app: typer.Typer, page: str, name: str, **filled: str
) -> Callable[[Function], Function]:
    """Makes a function a command of an app, with what data/commands says of its words; `filled`
    stands in the braces of these texts.
    """
    about = words_of_page(page)[name]

    def command(function: Function) -> Function:
        explain(function, about.get("words", {}), **filled)
        epilog = about.get("epilog")
        app.command(name, epilog=epilog.format(**filled) if epilog and filled else epilog)(function)
        return function

    return command


@cache
def words_of_page(page: str) -> Mapping[str, Any]:
    """What a file of data/commands says."""
    return read_data(f"commands/{page}.yaml")


def explain(function: Any, words: Mapping[str, Any], **filled: str) -> None:
    """Let the parameters of a function, or of a partial one, be arguments and options.

    A word of `words` has its help, or its help and how it is otherwise than usual: `argument`; `as`
    an option is written (--NAME); metavar, min, max; `both`, that it can be denied; and `like`
    another word, which commands share. What is not among them is a shared word itself.
    """
    shared, known = words_of_page("shared"), get_type_hints(getattr(function, "func", function))
    taken, hints = signature(function), {}
    for name in taken.parameters:
        kind = known[name]
        found = words.get(name, {"like": name})
        if isinstance(found, str):
            found = {"help": found}
        if "like" in found:
            found = {**shared[found["like"]], **found}
        word = _parameter(name, kind, found, filled)
        hints[name] = Annotated[kind, word]  # ty: ignore[invalid-type-form]
    parameters = [one.replace(annotation=hints[name]) for name, one in taken.parameters.items()]
    function.__annotations__, function.__signature__ = hints, taken.replace(parameters=parameters)


def _parameter(name: str, kind: Any, about: Mapping[str, Any], filled: Mapping[str, str]) -> Any:
    """An argument or an option as typer takes it."""
    told = about["help"]
    given = {"help": told.format(**filled) if filled else told}
    given |= {key: about[key] for key in PARTS if key in about}
    if about.get("argument"):
        return typer.Argument(**given)
    usual = (f"--{name.replace('_', '-')}",) if kind is bool and not about.get("both") else ()
    return typer.Option(*about.get("as", usual), **given)


PARTS = ("metavar", "min", "max", "hidden", "show_default")
"""What typer calls as data/commands does."""


def setting(name: str, value: str) -> str:
    """A setting as Hydra reads it, whatever characters its value has."""
    escaped = value.replace("'", "\\'")
    return f"{name}='{escaped}'"


def study_first(first: str | None, settings: Sequence[str] | None) -> tuple[str, list[str]]:
    """The study that was named by the first word, "" where that is a setting; and the settings.

    >>> study_first("pilot", ["topic=acp"]), study_first("topic=acp", ["seed=1"])
    (('pilot', ['topic=acp']), ('', ['topic=acp', 'seed=1']))
    """
    words = list(settings or [])
    if first is not None and "=" in first:
        words.insert(0, first)
        first = None
    for word in words:
        if "=" not in word and not first and not word.startswith(("+", "~")):
            rest = " ".join(quoted(other) for other in words if other != word)
            raise WrongInput(f"STUDY comes first: write {quoted(word)} {rest}")
        if "=" not in word:
            raise WrongInput(f"'{word}' is no setting, which is key=value, such as topic=ccps")
    return first or "", words


def with_runs(settings: Sequence[str], root: Path, study: str = "") -> list[str]:
    """The settings of a plan, with the name of the study if one was named, and with the folder of
    studies where it is not the default.
    """
    words = [*settings, setting("study", study)] if study else list(settings)
    return words if root == RUNS else [*words, setting("runs", str(root))]


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


@cache
def settings_of_kind(name: str) -> Mapping[str, Setting]:
    """The settings that data/commands/settings.yaml declares under a name."""
    return {key: _declared(one) for key, one in words_of_page("settings")[name].items()}


def _declared(one: Any) -> Setting:
    """A setting as it is declared."""
    if isinstance(one, bool):
        return flag(one)
    if isinstance(one, Mapping):
        (kind, usual), *others = one.items()
        if kind == "choice":
            return choice(*usual.split("|"), **dict(others))
        return {"whole": whole, "decimal": decimal}[kind](usual, **dict(others))
    if one.startswith("|"):
        return Setting("", choice(*one[1:].split("|")).read, one[1:])
    if "|" in one:
        return choice(*one.split("|"))
    return {"text": TEXT, "several": SEVERAL}.get(one) or Setting(one, shown=one)


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
