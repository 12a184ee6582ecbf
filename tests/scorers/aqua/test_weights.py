"""Missing, partial, foreign and malicious weights: an error that names the keys, never random
weights, and no code of theirs is run.
"""

import json
import os
import pickle
import shutil

import pytest

pytest.importorskip(
    "torch", reason="the extra aqua is not installed; make test-aqua installs it and runs this"
)
pytest.importorskip("adapters")

import torch
from safetensors.torch import load_file, save_file

from delibsim.domain.errors import WrongInput
from delibsim.scorers.aqua.coder import Marian
from delibsim.scorers.aqua.setup import find, model_part, part_of
from delibsim.scorers.aqua.weights import ADAPTER_FILES, load

pytestmark = pytest.mark.heavy


@pytest.fixture
def mine(models, tmp_path):
    """A copy of the tiny models: encoder, and the adapter of one indicator."""
    base = shutil.copytree(models / "bert-base-multilingual-cased", tmp_path / "base")
    place = shutil.copytree(models / "trained adapters" / "fact", tmp_path / "fact")
    return base, place


def without(file, ending, also=()):
    """Take the weights out of a file whose keys end so."""
    weights = torch.load(file, weights_only=True)
    gone = [key for key in weights if key.endswith(ending)]
    assert gone
    torch.save({key: value for key, value in weights.items() if key not in gone} | dict(also), file)


def test_whole_weights_are_loaded(mine):
    base, place = mine
    _, model = load(base, {"tatsache": place})
    assert list(model.heads) == ["tatsache"]


@pytest.mark.parametrize(
    ("file", "ending", "named"),
    [
        (
            "pytorch_adapter.bin",
            "layer.1.output.adapters.tatsache.adapter_up.bias",
            "bert.encoder.layer.1.output.adapters.tatsache.adapter_up.bias",
        ),
        ("pytorch_model_head.bin", "4.weight", "heads.tatsache.4.weight"),
    ],
)
def test_partial_weights_are_refused_and_named(mine, file, ending, named):
    base, place = mine
    without(place / file, ending)
    with pytest.raises(WrongInput, match=f"fact has no weights for {named}. Nothing was scored"):
        load(base, {"tatsache": place})


def test_weights_of_no_place_are_refused_and_named(mine):
    base, place = mine
    without(
        place / "pytorch_adapter.bin",
        "layer.1.output.adapters.tatsache.adapter_up.bias",
        {"bert.extra.weight": torch.zeros(1)},
    )
    with pytest.raises(WrongInput, match="has no weights for"):
        load(base, {"tatsache": place})
    shutil.copy(place.parents[0] / "fact" / "pytorch_model_head.bin", place / "pytorch_adapter.bin")
    with pytest.raises(WrongInput, match="fact has no weights for"):
        load(base, {"tatsache": place})


def test_weights_of_another_width_are_refused(mine):
    base, place = mine
    weights = torch.load(place / "pytorch_adapter.bin", weights_only=True)
    torch.save(
        {key: value[..., :4] for key, value in weights.items()}, place / "pytorch_adapter.bin"
    )
    with pytest.raises(WrongInput, match="fact cannot be read: .*size mismatch"):
        load(base, {"tatsache": place})


def test_a_partial_encoder_is_refused_and_named(mine):
    base, place = mine
    weights = load_file(base / "model.safetensors")
    key = next(key for key in weights if key.endswith("layer.0.attention.self.query.weight"))
    del weights[key]
    save_file(weights, base / "model.safetensors", {"format": "pt"})
    with pytest.raises(WrongInput, match=f"base has no weights for {key}"):
        load(base, {"tatsache": place})


def test_an_encoder_without_pooler_and_with_the_heads_of_pretraining_is_whole(mine):
    base, place = mine
    weights = {
        key: value
        for key, value in load_file(base / "model.safetensors").items()
        if ".pooler." not in key
    }
    save_file(
        weights | {"cls.predictions.bias": torch.zeros(3)},
        base / "model.safetensors",
        {"format": "pt"},
    )
    _, model = load(base, {"tatsache": place})
    assert list(model.heads) == ["tatsache"]


class Malice:
    """What a pickle would run when it is read."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (self.file,)


@pytest.mark.parametrize("file", ["pytorch_adapter.bin", "pytorch_model_head.bin"])
def test_code_in_a_weight_file_is_not_run(mine, file, tmp_path):
    base, place = mine
    torch.save({"weights": Malice(str(tmp_path / "proof"))}, place / file)
    with pytest.raises(
        WrongInput,
        match=f"fact/{file} cannot be read: it is damaged, or holds code, which is not run",
    ):
        load(base, {"tatsache": place})
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("file", ["pytorch_adapter.bin", "pytorch_model_head.bin"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_torn_weights_are_refused_and_named(mine, file, share):
    base, place = mine
    whole = (place / file).read_bytes()
    (place / file).write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(
        WrongInput,
        match=f"fact/{file} cannot be read: it is damaged.* get it again from its authors",
    ):
        load(base, {"tatsache": place})


def test_torn_files_are_refused(mine):
    base, place = mine
    (place / "head_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WrongInput, match="head_config.json cannot be read"):
        load(base, {"tatsache": place})
    (base / "model.safetensors").write_bytes(b"none")
    with pytest.raises(WrongInput, match="base/model.safetensors cannot be read: it is damaged"):
        load(base, {"tatsache": place})


def test_a_pickle_is_refused_in_our_own_words(mine):
    base, place = mine
    (place / "pytorch_adapter.bin").write_bytes(pickle.dumps({"weights": Malice("x")}))
    with pytest.raises(
        WrongInput, match="fact/pytorch_adapter.bin cannot be read: it is damaged, or holds code"
    ) as error:
        load(base, {"tatsache": place})
    assert "weights_only" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer of Git LFS"),
    ],
)
@pytest.mark.parametrize("file", ["adapter_config.json", "pytorch_adapter.bin"])
def test_empty_files_and_pointers_are_refused_and_named(mine, file, content, fault):
    _, place = mine
    (place / file).write_bytes(content)
    with pytest.raises(WrongInput, match=f"fact/{file} {fault}"):
        part_of(place, ADAPTER_FILES)


@pytest.mark.parametrize(
    "labels",
    [{f"LABEL_{n}": 3 - n for n in range(4)}, {str(n): n for n in range(4)}, {"LABEL_0": 0}],
)
def test_a_head_whose_labels_mean_other_values_is_refused(mine, labels):
    base, place = mine
    file = place / "head_config.json"
    plain = json.loads(file.read_text(encoding="utf-8"))
    plain["config"]["label2id"] = labels
    file.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(
        WrongInput, match="fact/head_config.json: label2id is .*, not .*'LABEL_3': 3"
    ):
        load(base, {"tatsache": place})


def test_an_encoder_without_vocabulary_is_refused(mine):
    base, place = mine
    for file in ("vocab.txt", "tokenizer.json"):
        (base / file).unlink(missing_ok=True)
    with pytest.raises(WrongInput, match="base lacks vocab.txt or tokenizer.json"):
        load(base, {"tatsache": place})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda words: words[: len(words) // 2], "has 83 entries, the encoder 167"),
        (lambda words: [*words, "Fremd", "##wort"], "has 169 entries, the encoder 167"),
        (lambda words: [word.replace("[UNK]", "[NIX]") for word in words], "lacks \\[UNK\\]"),
        (lambda words: words[4:], "lacks \\[PAD\\], \\[UNK\\], \\[CLS\\], \\[SEP\\]"),
    ],
)
def test_a_vocabulary_that_is_not_that_of_the_encoder_is_refused(mine, change, fault):
    base, place = mine
    (base / "tokenizer.json").unlink()
    words = (base / "vocab.txt").read_text(encoding="utf-8").splitlines()
    load(base, {"tatsache": place})
    (base / "vocab.txt").write_text("\n".join(change(words)) + "\n", encoding="utf-8")
    with pytest.raises(WrongInput, match=f"base: the vocabulary .* {fault}; get the whole file"):
        load(base, {"tatsache": place})


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_weights_that_are_no_finite_numbers_are_refused_and_named(mine, models, tmp_path, value):
    base, place = mine
    for file, ending in (
        ("pytorch_adapter.bin", "layer.0.output.adapters.tatsache.adapter_up.bias"),
        ("pytorch_model_head.bin", "4.bias"),
    ):
        other = shutil.copytree(place, tmp_path / file)
        weights = torch.load(other / file, weights_only=True)
        next(tensor for key, tensor in weights.items() if key.endswith(ending))[0] = value
        torch.save(weights, other / file)
        with pytest.raises(
            WrongInput,
            match=(
                f"{file} holds weights that are no finite numbers: .*{ending}. Nothing was scored"
            ),
        ):
            load(base, {"tatsache": other})
    marian = shutil.copytree(models / "opus-mt-en-de", tmp_path / "marian")
    for folder, ending in (
        (base, "layer.1.output.dense.weight"),
        (marian, "decoder.layers.0.fc1.weight"),
    ):
        weights = load_file(folder / "model.safetensors")
        next(tensor for key, tensor in weights.items() if key.endswith(ending))[0, 0] = value
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        WrongInput,
        match="base holds weights that are no finite numbers: .*layer.1.output.dense.weight",
    ):
        load(base, {"tatsache": place})
    with pytest.raises(
        WrongInput, match="marian holds weights that are no finite numbers: .*fc1.weight"
    ):
        Marian(model_part(marian), "cpu")


@pytest.mark.parametrize(
    ("file", "content", "fault"),
    [
        ("source.spm", None, "lacks source.spm"),
        ("source.spm", b"", "cannot be read|is empty"),
        ("source.spm", b"none", "cannot be read"),
        ("vocab.json", b"{}", "vocab.json lacks </s>, <unk>, <pad>"),
        ("vocab.json", b"{", "vocab.json cannot be read"),
    ],
)
def test_a_damaged_translator_is_refused(models, tmp_path, file, content, fault):
    folder = shutil.copytree(models / "opus-mt-en-de", tmp_path / "marian")
    (folder / file).unlink() if content is None else (folder / file).write_bytes(content)
    with pytest.raises(WrongInput, match=fault):
        Marian(model_part(folder), "cpu")


def test_an_encoder_of_another_kind_is_refused(mine, models):
    base, place = mine
    with pytest.raises(WrongInput, match="config.json: model_type is 'marian', not 'bert'"):
        load(models / "opus-mt-en-de", {"tatsache": place})
    plain = json.loads((base / "config.json").read_text(encoding="utf-8"))
    (base / "config.json").write_text(json.dumps(plain | {"hidden_act": "relu"}), encoding="utf-8")
    with pytest.raises(WrongInput, match="hidden_act is 'relu', not 'gelu'"):
        load(base, {"tatsache": place})


def test_a_file_cut_to_other_indicators_is_no_set(models, tmp_path):
    shutil.copytree(models / "trained adapters", tmp_path / "some")
    shutil.rmtree(tmp_path / "some" / "fact")
    with pytest.raises(WrongInput, match="no adapter for tatsache"):
        find(tmp_path / "some")
