"""`delibsim aqua`: set up what discourse quality is scored with, and see what was set up."""

from enum import StrEnum
from typing import Annotated

import typer

from delibsim.cli.options import Json
from delibsim.cli.terminal import echo_json, say, shown
from delibsim.conduct.aqua import FOLDER, Options, Sources, described, set_up
from delibsim.scorers.aqua.setup import Setup, read, unchanged

app = typer.Typer(add_completion=False)
FOLDER_OF_ADAPTERS = Annotated[
    str | None,
    typer.Argument(
        metavar="PATH",
        help=(
            "A folder that holds the adapters, perhaps encoder and translator too; with"
            " --from-hub also a name."
        ),
    ),
]
FROM_HUB = Annotated[bool, typer.Option("--from-hub", help="Fetch what the folder does not hold.")]
BASE = Annotated[
    str | None, typer.Option(help="The encoder: a folder, or with --from-hub a name on the Hub.")
]
TRANSLATOR = Annotated[
    str | None,
    typer.Option(
        help=(
            "Into German: a folder, with --from-hub a name, 'model=NAME ...' as for delibsim run,"
            " or none."
        )
    ),
]


class Language(StrEnum):
    """The language of the texts: found for each, or known."""

    auto = "auto"
    german = "german"
    english = "english"
    other = "other"


class Precision(StrEnum):
    """The numbers the encoder computes with; labels are those of float32 either way."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class Device(StrEnum):
    """What computes; auto takes a GPU where torch finds one."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


@app.callback()
def _group() -> None:
    """Discourse quality (AQuA): what it is scored with."""


@app.command()
def setup(
    path: FOLDER_OF_ADAPTERS = None,
    from_hub: FROM_HUB = False,
    base: BASE = None,
    translator: TRANSLATOR = None,
    scale: Annotated[float, typer.Option(help="The upper end of the score: 5, or 4.")] = 5,
    language: Annotated[Language, typer.Option(help="The language of the texts.")] = Language.auto,
    precision: Annotated[
        Precision, typer.Option(help="Numbers to compute with.")
    ] = Precision.float32,
    device: Annotated[Device, typer.Option(help="What computes.")] = Device.auto,
) -> None:
    """Check adapters, encoder and translator, and record their hashes in aqua/setup.json, where
    delibsim score finds them.
    """
    sources = Sources(path, from_hub, base, translator)
    options = Options(scale, language.value, precision.value, device.value)
    made, file = set_up(sources, options, lambda line: say(line, err=True))
    _print(made)
    say(f"written: {shown(file)}\nnext: delibsim score STUDY --scorer aqua")


@app.command()
def show(as_json: Json = False) -> None:
    """Show what is set up here, after checking that no file has changed, and how many texts were
    worked on.
    """
    made = read(FOLDER)
    unchanged(made)
    if as_json:
        echo_json(described(made))
    else:
        _print(made)


def _print(made: Setup) -> None:
    for name, value in described(made).items():
        say(f"{name:11}  {value}")
