"""Our pass over twenty adapters against the compositions of the library itself: Parallel, and one
after another.
"""

import warnings

import pytest

pytest.importorskip(
    "torch", reason="the extra aqua is not installed; make test-aqua installs it and runs this"
)
pytest.importorskip("adapters")

import torch
from adapters.composition import Parallel
from aqua_models import encoder, save, with_adapters

from delibsim.domain.errors import WrongInput
from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua.encoder import Encoder
from delibsim.scorers.aqua.setup import find
from delibsim.scorers.aqua.weights import load

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("default")]
LENGTHS = [3, 40, 7, 7, 128, 19, 64, 5]


@pytest.fixture(scope="module")
def texts():
    draw = torch.Generator().manual_seed(3)
    return [torch.randint(5, 150, (n,), generator=draw).tolist() for n in LENGTHS]


def by_library(model, text, setup):
    """Logits (adapters by labels) of one text, without padding, by a composition of the library."""
    with torch.inference_mode():
        if setup is Parallel:
            model.active_adapters, model.active_head = Parallel(*INDICATORS), list(INDICATORS)
            return torch.cat(
                [out.logits for out in model(torch.tensor([text]), torch.ones(1, len(text)))]
            )
        found = []
        for name in INDICATORS:
            model.active_adapters, model.active_head = name, name
            found.append(model(torch.tensor([text]), torch.ones(1, len(text))).logits)
        return torch.cat(found)


def by_ours(model, texts, tokens, precision="float32"):
    logits = torch.full((len(texts), 20, 4), torch.nan)
    for batch, found in Encoder(model, INDICATORS, precision=precision).logits(texts, tokens):
        logits[batch] = found
    return logits


@pytest.fixture(scope="module", params=["now", "older", "safetensors"])
def loaded(request, tmp_path_factory):
    """A model as it was saved, and as it is loaded again, in the formats there are."""
    folder = tmp_path_factory.mktemp(request.param)
    with warnings.catch_warnings(action="ignore"):
        made = with_adapters(encoder(folder / "base"))
        save(
            made,
            folder / "adapters",
            older=request.param == "older",
            safetensors=request.param == "safetensors",
        )
    return made, load(folder / "base", find(folder / "adapters")[0])[1]


def test_what_is_loaded_is_what_was_saved(loaded, texts):
    made, again = loaded
    for text in texts:
        assert torch.equal(by_library(made, text, Parallel), by_library(again, text, Parallel))


def test_parallel_one_after_another_and_ours_agree(loaded, texts):
    _, model = loaded
    parallel, alone = (
        torch.stack([by_library(model, text, setup) for text in texts])
        for setup in (Parallel, None)
    )
    assert len(parallel.argmax(-1).unique()) == 4
    assert (parallel.argmax(-1) != parallel.argmax(-1)[0]).any(), (
        "labels that are the same for all texts would show nothing"
    )
    for tokens in (1, 64, 10_000):
        ours = by_ours(model, texts, tokens)
        assert torch.equal(ours.argmax(-1), parallel.argmax(-1))
        assert torch.equal(ours.argmax(-1), alone.argmax(-1))
        torch.testing.assert_close(ours, parallel, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(alone, parallel, atol=1e-5, rtol=1e-5)


def test_without_the_convolution_the_same(loaded, texts, monkeypatch):
    _, model = loaded
    ours = by_ours(model, texts, 64)
    monkeypatch.setattr("delibsim.scorers.aqua.encoder._Dense.convolve", False)
    torch.testing.assert_close(by_ours(model, texts, 64), ours, atol=1e-5, rtol=1e-5)


def test_in_bfloat16_near_ties_are_computed_again_so_that_labels_stay(loaded, texts):
    _, model = loaded
    exact, fast = by_ours(model, texts, 64), by_ours(model, texts, 64, "bfloat16")
    assert torch.equal(exact.argmax(-1), fast.argmax(-1))
    assert not torch.equal(exact, fast)
    best = exact.topk(2).values
    near = best[..., 0] - best[..., 1] < 0.1
    assert near.any(), "without a near tie there is nothing to show"
    torch.testing.assert_close(fast[near], exact[near], atol=1e-5, rtol=1e-5)


def test_in_bfloat16_a_model_that_errs_too_much_is_computed_exactly(loaded, texts, monkeypatch):
    _, model = loaded
    monkeypatch.setattr("delibsim.scorers.aqua.encoder.DOUBT", 1e-4)
    exact, fast = by_ours(model, texts, 10_000), by_ours(model, texts, 10_000, "bfloat16")
    torch.testing.assert_close(fast, exact, atol=1e-5, rtol=1e-5)


def test_adapters_of_another_form_are_refused(tmp_path, model, models):
    from adapters import DoubleSeqBnConfig

    with warnings.catch_warnings(action="ignore"):
        other = encoder(tmp_path / "base")
        other.add_adapter("anrede", config=DoubleSeqBnConfig())
        other.add_classification_head("anrede", num_labels=4)
        (tmp_path / "anrede").mkdir()
        other.save_adapter(str(tmp_path / "anrede"), "anrede", with_head=True)
    with pytest.raises(
        WrongInput, match=r"anrede/adapter_config.json: mh_adapter is True, not False"
    ):
        load(tmp_path / "base", {"anrede": tmp_path / "anrede"})
