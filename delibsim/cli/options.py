"""The words of commands: what each takes is its signature, what its words mean stands in
data/commands.

Words with `=` are settings: they change the science and are recorded. Words with `--` concern the
command only. STUDY or RUN comes first, always as a word of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
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
