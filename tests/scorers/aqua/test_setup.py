"""Finding adapters in a folder, naming what is missing, and noticing what has changed: without a
weight and without the extra.
"""

import json
import unicodedata

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua.setup import (
    FOLDERS,
    ModelFiles,
    Setup,
    TranslatingModel,
    adapter_parts,
    find,
    keep,
    model_part,
    read,
    unchanged,
)

FILES = ("head_config.json", "pytorch_adapter.bin", "pytorch_model_head.bin")


def adapter(folder, name):
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"name": name}), encoding="utf-8")
    for file in FILES:
        (folder / file).write_text(f"{name} {file}", encoding="utf-8")


def model(folder, kind="bert"):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": kind}), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "vocab.txt").write_text("[PAD]\n", encoding="utf-8")


@pytest.fixture
def published(tmp_path):
    """The layout of the authors' repository as it is now, with an encoder and a translator beside
    the adapters.
    """
    for name in INDICATORS:
        adapter(tmp_path / "AQuA" / "trained adapters" / FOLDERS[name], name)
    model(tmp_path / "AQuA" / "bert-base-multilingual-cased")
    model(tmp_path / "AQuA" / "opus-mt-en-de", "marian")
    return tmp_path / "AQuA"


def setup_of(folder):
    adapters, (encoder,), (translator,) = find(folder)
    return Setup(model_part(encoder), adapter_parts(adapters), model_part(translator))


def test_everything_is_found_however_deep_it_lies(published):
    adapters, encoders, translators = find(published)
    assert {name: folder.name for name, folder in adapters.items()} == dict(FOLDERS)
    assert [folder.name for folder in encoders + translators] == [
        "bert-base-multilingual-cased",
        "opus-mt-en-de",
    ]
    assert find(published / "trained adapters")[1:] == ([], [])


def test_the_older_layout_is_found_and_checkpoints_are_left_out(tmp_path):
    for name in INDICATORS:
        adapter(tmp_path / "trained_adapters_de" / unicodedata.normalize("NFD", name), name)
        adapter(
            tmp_path
            / "trained_adapters_de"
            / unicodedata.normalize("NFD", name)
            / "checkpoint-531"
            / name,
            name,
        )
    assert set(find(tmp_path)[0]) == set(INDICATORS)


def test_what_is_missing_is_named_all_at_once(published):
    place = published / "trained adapters"
    (place / "fact" / "pytorch_model_head.bin").unlink()
    (place / "insult" / "adapter_config.json").unlink()
    for file in (place / "question").iterdir():
        file.unlink()
    with pytest.raises(WrongInput) as error:
        find(published)
    lines = str(error.value).splitlines()
    assert lines[0].endswith("cannot be used:")
    assert f"  {place / 'fact'} lacks model_head.safetensors or pytorch_model_head.bin" in lines
    assert f"  {place / 'insult'} lacks adapter_config.json" in lines
    assert "  no adapter for frage (a folder frage or question)" in lines
    assert len(lines) == 4


def test_two_sets_are_not_mixed(published):
    adapter(published / "regression" / "anrede", "anrede")
    with pytest.raises(
        WrongInput, match="anrede is there twice: .*regression/anrede and .*address"
    ):
        find(published)


def test_an_adapter_in_the_folder_of_another_is_refused(published):
    place = published / "trained adapters" / "fact" / "adapter_config.json"
    place.write_text(json.dumps({"name": "meinung"}), encoding="utf-8")
    with pytest.raises(
        WrongInput, match="fact holds the adapter meinung, which is another indicator"
    ):
        find(published)


@pytest.mark.parametrize(
    ("folder", "fault"), [("nowhere", "is no folder"), ("empty", "no adapters \\(20 folders")]
)
def test_a_folder_without_adapters_is_refused(tmp_path, folder, fault):
    (tmp_path / "empty").mkdir()
    with pytest.raises(WrongInput, match=fault):
        find(tmp_path / folder)


def test_the_record_reads_back_equal(published, tmp_path):
    made = setup_of(published)
    keep(made, tmp_path / "aqua")
    assert read(tmp_path / "aqua") == made
    voiced = Setup(
        made.base,
        made.adapters,
        TranslatingModel(
            {"name": "m", "kind": "k", "temperature": 0}, "http://localhost/v1", {"tries": 2}
        ),
        4.0,
        "other",
    )
    keep(voiced, tmp_path / "aqua")
    assert read(tmp_path / "aqua") == voiced


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', '{"schema": 1}'])
def test_a_damaged_record_is_refused(tmp_path, text):
    with pytest.raises(WrongInput, match="AQuA is not set up here"):
        read(tmp_path)
    (tmp_path / "setup.json").write_text(text, encoding="utf-8")
    with pytest.raises(WrongInput, match="cannot be read .*; set AQuA up again"):
        read(tmp_path)


def test_hashes_know_the_files_and_not_their_places(published, tmp_path):
    made = setup_of(published)
    moved = published.rename(tmp_path / "elsewhere")
    assert setup_of(moved).model == made.model
    (moved / "trained adapters" / "fact" / "pytorch_adapter.bin").write_text(
        "other", encoding="utf-8"
    )
    assert setup_of(moved).model != made.model


def test_a_changed_or_missing_file_is_noticed(published):
    made = setup_of(published)
    unchanged(made)
    file = published / "trained adapters" / "fact" / "pytorch_adapter.bin"
    text = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    unchanged(made)  # touched, and still the same
    file.write_text(text.replace("a", "b"), encoding="utf-8")
    with pytest.raises(WrongInput, match="pytorch_adapter.bin is not the file it was"):
        unchanged(made)
    file.unlink()
    with pytest.raises(WrongInput, match="pytorch_adapter.bin is gone"):
        unchanged(made)


@pytest.mark.parametrize(
    ("place", "file"),
    [
        ("trained adapters/fact", "adapter.safetensors"),
        ("trained adapters/fact", "model_head.safetensors"),
        ("bert-base-multilingual-cased", "tokenizer.json"),
        ("bert-base-multilingual-cased", "model.safetensors.index.json"),
        ("opus-mt-en-de", "added_tokens.json"),
    ],
)
def test_a_file_that_is_new_and_would_be_read_is_noticed(published, place, file):
    made = setup_of(published)
    for other in ("README.md", "pytorch_adapter.bin.part", "rust_model.ot"):
        (published / place / other).write_text("not read", encoding="utf-8")
    unchanged(made)
    (published / place / file).write_text("new", encoding="utf-8")
    with pytest.raises(WrongInput, match=f"{place}/{file} was not there when AQuA was set up"):
        unchanged(made)


def test_weights_in_several_files_are_refused(published):
    """The library would read those, of which the hashes are not taken, instead of the one whole
    file.
    """
    (published / "opus-mt-en-de" / "model.safetensors.index.json").write_text(
        "{}", encoding="utf-8"
    )
    with pytest.raises(WrongInput, match="opus-mt-en-de holds weights in several files"):
        setup_of(published)


def test_every_file_that_matters_is_hashed_and_readmes_are_not(published):
    (published / "opus-mt-en-de" / "README.md").write_text("read me", encoding="utf-8")
    (published / "opus-mt-en-de" / "source.spm").write_bytes(b"pieces")
    (published / "opus-mt-en-de" / "pytorch_model.bin").write_bytes(b"the same in another format")
    made = setup_of(published)
    assert isinstance(made.translator, ModelFiles)
    assert set(made.translator.files) == {
        "config.json",
        "model.safetensors",
        "vocab.txt",
        "source.spm",
    }
    assert set(made.adapters["frage"].files) == {"adapter_config.json", *FILES}
