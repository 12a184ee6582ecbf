"""The options and arguments that commands share, each declared once.

Words with `=` are settings: they change the science and are recorded. Words with `--` concern the
command only. STUDY or RUN comes first, always as a word of its own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import quoted

RUNS = Path("runs")
"""The default of `Dir`."""

Dir = Annotated[Path, typer.Option("--dir", metavar="FOLDER", help="Where studies lie.")]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
Sweep = Annotated[
    bool,
    typer.Option("--multirun", "-m", help="Every combination of the values given: a sweep."),
]
EstimateOnly = Annotated[
    bool,
    typer.Option(
        "--estimate", help="Say what it would take (calls, tokens, USD, time), and ask nobody."
    ),
]
"""Of every command that may pay, as is `Yes`."""
Yes = Annotated[
    bool, typer.Option("--yes", help="Do not ask first where it may cost more than 5 USD.")
]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name or folder of the study.")]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Folder of the run, or study/session, or a study that has one session.",
    ),
]
AnyStudy = Annotated[
    str | None,
    typer.Argument(metavar="STUDY", help="Its name; or study=NAME.", show_default=False),
]
"""A study that may be new, before `Settings`; `study_first` parts the two."""
Settings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="key=value",
        help="Settings, such as topic=acp treatment=basic.",
        show_default=False,
    ),
]
OwnSettings = Annotated[
    list[str] | None,
    typer.Argument(metavar="key=value", help="Settings: those named below.", show_default=False),
]
"""Of commands whose settings their epilog names."""


def out_folder(default: str) -> Any:
    """The option `-o` of a command that makes several files; `default` says where they go without
    it.
    """
    return typer.Option("-o", metavar="FOLDER", help=f"The folder to write. Default: {default}.")


def number(what: str, most: int = 1_000) -> Any:
    """The option `--n`: how many of something."""
    return typer.Option("--n", min=1, max=most, help=what)


def draws(what: str = "Resamples of an interval.", most: int = 1_000_000) -> Any:
    """The option `--draws`: how often something is resampled; more than a million need more memory
    than machines have.
    """
    return typer.Option("--draws", min=1, max=most, help=what)


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
