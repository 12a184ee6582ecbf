"""Setting AQuA up: adapters, encoder and translator are found or fetched, checked and recorded."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from delibsim.conduct.study import Notify
from delibsim.conduct.translate import check_translator
from delibsim.domain.errors import WrongInput, refused
from delibsim.models.clients.faults import public_url
from delibsim.planning.compose import plan
from delibsim.scorers.aqua.coder import Marian, signature
from delibsim.scorers.aqua.setup import (
    ADAPTERS,
    BASE,
    TRANSLATOR,
    ModelFiles,
    Setup,
    TranslatingModel,
    adapter_parts,
    commit,
    fetch_adapters,
    fetch_model,
    find,
    keep,
    model_part,
)
from delibsim.scorers.aqua.weights import load, need_extra
from delibsim.scorers.neural import need_device
from delibsim.store.files import read_lines

FOLDER = Path("aqua")
"""Where the record is kept, and the texts that were worked on: beside the user."""


@dataclass(frozen=True)
class Sources:
    """Where the parts come from: a folder, or names on the Hub.

    `path` holds the adapters, perhaps encoder and translator too. `base` is the encoder.
    `translator` is a folder or a name, "model=NAME ..." as for delibsim run, or "none".
    """

    path: str | None = None
    from_hub: bool = False
    base: str | None = None
    translator: str | None = None


@dataclass(frozen=True)
class Options:
    """How texts are coded: the fields of `Setup` of these names."""

    scale: float = 5
    language: Literal["auto", "german", "english", "other"] = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"
    device: Literal["auto", "cpu", "cuda"] = "auto"


def set_up(
    sources: Sources, options: Options, notify: Notify = lambda line: None
) -> tuple[Setup, Path]:
    """Check all parts of AQuA and record their hashes; what was recorded, and the file.

    `notify` is called before something is fetched. Raises WrongInput for a part that is missing or
    cannot be used.
    """
    need_extra()
    _check(sources, options)
    path = sources.path
    if path and sources.from_hub and not Path(path).is_dir():
        notify(f"fetching {path} from the Hub")
        path = str(fetch_model(path))
    adapters, encoders, translators = find(Path(path)) if path else ({}, [], [])
    if not adapters:
        if not sources.from_hub:
            raise WrongInput(f"{path} holds no adapters; with --from-hub the authors' are fetched")
        notify(f"fetching the adapters from {ADAPTERS}")
        adapters = find(fetch_adapters(FOLDER / "adapters"))[0]
    search = _Search(sources.from_hub, notify)
    encoder = search.model("encoder", sources.base, encoders, BASE)
    if encoder is None:
        raise refused("no_encoder_there", path=path)
    translator = _translator(sources.translator, translators, search)
    setup = Setup(
        base=encoder,
        adapters=adapter_parts(adapters),
        translator=translator,
        scale=options.scale,
        language=options.language,
        precision=options.precision,
        device=options.device,
    )
    if translator is None and options.language in ("english", "other"):
        raise refused("no_translator_given", language=options.language)
    load(Path(encoder.path), adapters)
    if isinstance(translator, ModelFiles):
        Marian(translator, "cpu")
    elif translator is not None:
        check_translator(translator)
    return setup, keep(setup, FOLDER)


def described(setup: Setup) -> dict[str, Any]:
    """A setup as plain values, with the number of texts that were worked on."""
    counts = {}
    for name in ("labels", "translations"):
        counts[name] = len(read_lines(FOLDER / f"{name}.jsonl")[0])
    translator = "none: all texts must be German"
    if setup.translator is not None:
        translator = signature(setup.translator)
    if setup.language == "german":
        translator = "not used: language is german"
    folder = Path(setup.adapters["anrede"].path).parent
    return {
        "adapters": f"{len(setup.adapters)}, in {folder}",
        "encoder": setup.base.name,
        "model": setup.model,
        "translator": translator,
        "scale": f"0 to {setup.scale:g}",
        "language": setup.language,
        "precision": setup.precision,
        "device": setup.device,
        "kept": f"{counts['labels']} labelled and {counts['translations']} translated texts",
    }


def _check(sources: Sources, options: Options) -> None:
    """WrongInput for what can be refused before anything is read or fetched."""
    if sources.path is None and not sources.from_hub:
        raise refused("no_adapters_given")
    if options.scale not in (4, 5):
        raise WrongInput(f"scale is 5 or 4, not {options.scale:g}")
    need_device(options.device)


@dataclass(frozen=True)
class _Search:
    """How a model is found: in a folder, or on the Hub where that is allowed."""

    from_hub: bool
    notify: Notify

    def model(
        self, what: str, asked: str | None, found: Sequence[Path], published: str
    ) -> ModelFiles | None:
        """The folder of a model: the one asked for, the one found, or a fetched one; None if there
        is none.
        """
        if asked and Path(asked).is_dir():
            return model_part(Path(asked))
        if asked and not self.from_hub:
            raise WrongInput(f"{asked} is no folder; a name on the Hub needs --from-hub")
        if len(found) > 1 and not asked:
            option = "base=" if what == "encoder" else "translator="
            places = ", ".join(map(str, found))
            raise refused(
                "several_folders_of_model",
                found=len(found),
                what=what,
                places=places,
                option=option,
            )
        if found and not asked:
            return model_part(found[0])
        return self._fetched(asked or published) if self.from_hub else None

    def _fetched(self, name: str) -> ModelFiles:
        """A model of the Hub, named with its commit where that is known."""
        self.notify(f"fetching {name} from the Hub")
        folder = fetch_model(name)
        own = commit(folder)
        return model_part(folder, f"{name}@{own}" if own else name)


def _translator(
    asked: str | None, found: Sequence[Path], search: _Search
) -> ModelFiles | TranslatingModel | None:
    """The translator that is asked for, or found; None if there is none."""
    if asked == "none":
        return None
    if asked and "=" in asked and not Path(asked).is_dir():
        return _translating_model(asked)
    return search.model("translator", asked, found, TRANSLATOR)


def _translating_model(overrides: str) -> TranslatingModel:
    """A language model from settings as delibsim run takes them."""
    planned = plan(shlex.split(overrides))
    models = planned.session.models
    if len(models) != 1:
        raise WrongInput(f"a translator is one model; '{overrides}' names {len(models)}")
    (name,) = models
    address = planned.addresses.get(name, "")
    if address and public_url(address) != address:
        raise refused("key_in_address")
    limits = {key: value for key, value in vars(planned.limits).items() if value is not None}
    reasks = planned.session.procedure.reasks
    return TranslatingModel(dict(models[name]), address, limits, reasks)
