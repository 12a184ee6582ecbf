"""Adapters, heads and encoder from files: whole or not at all, without running their code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.scorers.neural import (
    missing_files,
    need_packages,
    plain_json,
    quiet,
    readable,
    refuse_not_finite,
    refuse_partial,
    tokeniser,
)

ADAPTER_FILES = {
    "adapter_config.json": (),
    "head_config.json": (),
    "adapter": ("adapter.safetensors", "pytorch_adapter.bin"),
    "head": ("model_head.safetensors", "pytorch_model_head.bin"),
}
"""What the folder of an adapter holds.

Of weights the first that is there is read: safetensors, or the older pickle with weights_only.
"""
MODEL_FILES = {"config.json": (), "weights": ("model.safetensors", "pytorch_model.bin")}
"""What the folder of an encoder or of a MarianMT model holds."""

_PUBLISHED = read_data("aqua.yaml")
ADAPTER = {**_PUBLISHED["adapter"], "leave_out": []}
"""The form of the published adapters, which is what the encoder computes."""
HEAD: Mapping[str, Any] = _PUBLISHED["head"]
LABEL2ID = {f"LABEL_{n}": n for n in range(4)}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
BASE = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}

EXTRA = ("adapters", "sentencepiece", "torch", "transformers")


def need_extra() -> None:
    """WrongInput that says what to install, unless everything the extra holds is there."""
    need_packages("the scorer aqua", "aqua", EXTRA)


def load(base: Path, adapters: Mapping[str, Path]) -> tuple[Any, Any]:
    """Tokeniser and adapters.BertAdapterModel with an adapter and a head for each name; WrongInput
    naming what is missing or other.

    `base` and the folders are local; nothing is fetched.
    """
    need_extra()
    from adapters import BertAdapterModel
    from transformers import AutoTokenizer

    config = base / "config.json"
    defaults = {"hidden_act": "gelu", "position_embedding_type": "absolute"}
    check_form(config, plain_json(config), BASE, defaults)
    if lacking := missing_files(base, {"vocabulary": ("vocab.txt", "tokenizer.json")}):
        raise WrongInput(f"{base} lacks {', '.join(lacking)}: the words the encoder knows")
    with quiet(), readable(base):
        tokenizer = tokeniser(AutoTokenizer.from_pretrained(base, local_files_only=True))
        model, info = BertAdapterModel.from_pretrained(
            base, local_files_only=True, output_loading_info=True
        )
    # The pooler and the heads of pre-training are not used; all else must come from the file.
    needed = [key for key in info["missing_keys"] if not key.startswith("heads.")]
    missing = [key for key in needed if ".pooler." not in key]
    refuse_partial(base, missing, [str(key) for key in info["mismatched_keys"]])
    _check_vocabulary(base, tokenizer, model.config.vocab_size)
    refuse_not_finite(base, model.state_dict())
    for name, folder in adapters.items():
        _load_adapter(model, name, folder)
    return tokenizer, model.eval()


def _load_adapter(model: Any, name: str, folder: Path) -> None:
    adapter_config, head_config = folder / "adapter_config.json", folder / "head_config.json"
    adapter = plain_json(adapter_config)
    check_form(adapter_config, adapter.get("config") or {}, ADAPTER)
    options = plain_json(head_config).get("config") or {}
    check_form(head_config, options, HEAD)
    if options.get("label2id") not in (None, LABEL2ID):
        raise WrongInput(
            f"{head_config}: label2id is {options['label2id']}, not {LABEL2ID}; labels would mean"
            " other values"
        )
    info: dict[str, list[str]] = {}
    with quiet(), readable(folder):
        model.load_adapter(
            str(folder), load_as=name, with_head=True, loading_info=info, use_safetensors=True
        )
    own, theirs = f".{name}.", f".{adapter.get('name', name)}."
    missing = [key.replace(own, theirs) for key in info.get("missing_keys", [])]
    refuse_partial(folder, missing, info.get("unexpected_keys", []))
    weights = {key: tensor for key, tensor in model.state_dict().items() if own in key}
    refuse_not_finite(folder, weights)


def _check_vocabulary(base: Path, tokenizer: Any, size: int) -> None:
    """WrongInput unless the tokeniser has a word for each row of the encoder, the special ones
    among them.

    The library adds special words that are missing behind the others, under numbers the encoder
    never learnt.
    """
    own = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    lacking = [word for word in SPECIAL if word not in own]
    fault = f"has {len(tokenizer)} entries, the encoder {size}"
    if lacking:
        fault = f"lacks {', '.join(lacking)}"
    if lacking or len(tokenizer) != size:
        raise refused("encoder_vocabulary_broken", base=base, fault=fault)


def check_form(
    file: Path,
    found: Mapping[str, Any],
    form: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
) -> None:
    """WrongInput naming every option of a configuration that is not as the form says; `defaults`
    are those of options left out.
    """
    given = {**(defaults or {}), **found}
    wrong = []
    for key, value in form.items():
        if given.get(key) != value:
            wrong.append(f"{key} is {given.get(key)!r}, not {value!r}")
    if wrong:
        raise WrongInput(
            f"{file}: {'; '.join(wrong)}. Only models of the published form can be used"
        )
