"""Tiny models in the published layout, made once with the libraries that made the real ones."""

import warnings
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model():
    """The library's model with twenty adapters, as it was before anything was saved."""
    from aqua_models import encoder, with_adapters

    with warnings.catch_warnings(action="ignore"):
        return lambda folder: with_adapters(encoder(folder))


@pytest.fixture(scope="session")
def models(tmp_path_factory, model) -> Path:
    """A folder with an encoder, twenty adapters and a translator."""
    from aqua_models import save, translator

    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings(action="ignore"):
        save(model(folder / "bert-base-multilingual-cased"), folder / "trained adapters")
        translator(folder / "opus-mt-en-de")
    return folder


@pytest.fixture
def set_up(models, tmp_path):
    """Set AQuA up in a folder with the tiny models; parts of the setup can be given otherwise."""
    from delibsim.scorers.aqua.setup import Setup, adapter_parts, find, keep, model_part

    def make(folder=tmp_path / "aqua", **parts):
        adapters, (encoder,), (translator,) = find(models)
        keep(
            Setup(
                **{
                    "base": model_part(encoder),
                    "adapters": adapter_parts(adapters),
                    "translator": model_part(translator),
                    **parts,
                }
            ),
            folder,
        )
        return folder

    return make
