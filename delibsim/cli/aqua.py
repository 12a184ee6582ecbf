"""`delibsim aqua`: say which adapters, encoder and translator discourse quality is scored with, and
see what was said.
"""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.terminal import echo_json, shown
from delibsim.domain.errors import WrongInput
from delibsim.models.clients.faults import public_url
from delibsim.planning.compose import plan
from delibsim.scorers.aqua import hub
from delibsim.scorers.aqua.setup import (
    Part,
    Setup,
    Voice,
    adapter_parts,
    find,
    keep,
    model_part,
    read,
    unchanged,
)
from delibsim.scorers.aqua.translation import signature, translator_of
from delibsim.scorers.aqua.weights import load, need_device, need_extra
from delibsim.store.files import read_lines

app = typer.Typer(add_completion=False)
FOLDER = Path("aqua")
"""Where the record is kept, and the texts that were worked on: beside the user."""


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
    path: Annotated[
        str | None,
        typer.Argument(
            help=(
                "A folder that holds the adapters, perhaps encoder and translator too; with"
                " --from-hub also a name."
            )
        ),
    ] = None,
    from_hub: Annotated[
        bool, typer.Option("--from-hub", help="Fetch what the folder does not hold.")
    ] = False,
    base: Annotated[
        str | None,
        typer.Option(help="The encoder: a folder, or with --from-hub a name on the Hub."),
    ] = None,
    translator: Annotated[
        str | None,
        typer.Option(
            help=(
                "Into German: a folder, with --from-hub a name, 'model=NAME ...' as for delibsim"
                " run, or none."
            )
        ),
    ] = None,
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
    need_extra()
    if path is None and not from_hub:
        raise WrongInput(
            "give the folder that holds the adapters, or --from-hub to fetch what is published:"
            " delibsim aqua setup FOLDER"
        )
    if scale not in (4, 5):
        raise WrongInput(f"--scale is 5 or 4, not {scale:g}")
    need_device(device.value)
    if path and from_hub and not Path(path).is_dir():
        typer.echo(f"fetching {path} from the Hub", err=True)
        path = str(hub.fetch_model(path))
    adapters, encoders, translators = find(Path(path)) if path else ({}, [], [])
    if not adapters:
        if not from_hub:
            raise WrongInput(f"{path} holds no adapters; with --from-hub the authors' are fetched")
        typer.echo(f"fetching the adapters from {hub.ADAPTERS}", err=True)
        adapters = find(hub.fetch_adapters(FOLDER / "adapters"))[0]
    encoder = _model("encoder", base, encoders, from_hub, hub.BASE)
    if encoder is None:
        raise WrongInput(
            f"{path} holds no encoder (a folder with a config.json of model type bert): give it"
            " with --base, or use --from-hub"
        )
    made = Setup(
        encoder,
        adapter_parts(adapters),
        _translator(translator, translators, from_hub),
        scale,
        language.value,
        precision.value,
        device.value,
    )
    if made.translator is None and made.language in ("english", "other"):
        raise WrongInput(
            f"--language {made.language} has every text translated, and there is no translator:"
            " give one with --translator"
        )
    load(Path(encoder.path), adapters)
    if made.translator:
        translator_of(made.translator, "cpu")
    _print(made, False)
    typer.echo(f"written: {shown(keep(made, FOLDER))}\nnext: delibsim score STUDY --scorer aqua")


@app.command()
def show(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Show what is set up here, after checking that no file has changed, and how many texts were
    worked on.
    """
    made = read(FOLDER)
    unchanged(made)
    _print(made, as_json)


def _model(
    what: str, asked: str | None, found: list[Path], from_hub: bool, published: str
) -> Part | None:
    """The folder of a model: the one asked for, the one found, or a fetched one; None if there is
    none.
    """
    if asked and Path(asked).is_dir():
        return model_part(Path(asked))
    if asked and not from_hub:
        raise WrongInput(f"{asked} is no folder; a name on the Hub needs --from-hub")
    if len(found) > 1 and not asked:
        option = "--base" if what == "encoder" else "--translator"
        raise WrongInput(
            f"there are {len(found)} folders with a model for the {what}:"
            f" {', '.join(map(str, found))}; name one with {option}"
        )
    if found and not asked:
        return model_part(found[0])
    if not from_hub:
        return None
    name = asked or published
    typer.echo(f"fetching {name} from the Hub", err=True)
    folder = hub.fetch_model(name)
    return model_part(folder, "@".join(filter(None, (name, hub.commit(folder)))))


def _translator(asked: str | None, found: list[Path], from_hub: bool) -> Part | Voice | None:
    if asked == "none":
        return None
    return (
        _voice(asked)
        if asked and "=" in asked and not Path(asked).is_dir()
        else _model("translator", asked, found, from_hub, hub.TRANSLATOR)
    )


def _voice(overrides: str) -> Voice:
    """A language model from settings as delibsim run takes them."""
    planned = plan(shlex.split(overrides))
    models = planned.session.models
    if len(models) != 1:
        raise WrongInput(f"a translator is one model; '{overrides}' names {len(models)}")
    (name,) = models
    address = planned.addresses.get(name, "")
    if address and public_url(address) != address:
        raise WrongInput(
            "the address of the translator holds what may be a key, and would be written to"
            " aqua/setup.json; use one without"
        )
    limits = {key: value for key, value in vars(planned.limits).items() if value is not None}
    return Voice(dict(models[name]), address, limits, planned.session.procedure.reasks)


def _print(made: Setup, as_json: bool) -> None:
    counts = {
        name: len(read_lines(FOLDER / f"{name}.jsonl")[0]) for name in ("labels", "translations")
    }
    translator = signature(made.translator) if made.translator else "none: all texts must be German"
    if made.language == "german":
        translator = "not used: language is german"
    said: dict[str, Any] = {
        "adapters": f"{len(made.adapters)}, in {Path(made.adapters['anrede'].path).parent}",
        "encoder": made.base.name,
        "model": made.model,
        "translator": translator,
        "scale": f"0 to {made.scale:g}",
        "language": made.language,
        "precision": made.precision,
        "device": made.device,
        "kept": f"{counts['labels']} labelled and {counts['translations']} translated texts",
    }
    if as_json:
        echo_json(said)
        return
    for name, value in said.items():
        typer.echo(f"{name:11} {value}")
