"""Adapters, heads and encoder from files: whole or not at all, without running their code."""

import contextlib
import importlib.util
import logging
import sys
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.store.reading import json_value

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

ADAPTER = {
    "mh_adapter": False,
    "output_adapter": True,
    "non_linearity": "relu",
    "ln_before": False,
    "ln_after": False,
    "original_ln_before": True,
    "original_ln_after": True,
    "residual_before_ln": True,
    "adapter_residual_before_ln": False,
    "inv_adapter": None,
    "cross_adapter": False,
    "is_parallel": False,
    "phm_layer": False,
    "use_gating": False,
    "scaling": 1.0,
    "leave_out": [],
}
"""The form of the published adapters (adapters.SeqBnConfig), which is what the encoder computes."""
HEAD = {
    "head_type": "classification",
    "layers": 2,
    "activation_function": "tanh",
    "num_labels": 4,
    "use_pooler": False,
    "bias": True,
}
LABEL2ID = {f"LABEL_{n}": n for n in range(4)}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
BASE = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}

POINTER = b"version https://git-lfs.github.com/spec/"
EXTRA = ("adapters", "sentencepiece", "torch", "transformers")
INSTALL = (
    "the scorer aqua needs the extra 'aqua', of which {missing} cannot be found: pip install"
    " 'delibsim[aqua]'.\nOn Linux that takes a build of torch with CUDA (gigabytes). For the"
    " processor alone, install torch 2.13.0 from its CPU index first."
)


def need_extra() -> None:
    """WrongInput that says what to install, unless everything the extra holds is there.

    Nothing is imported: that takes seconds.
    """
    not_loaded = [name for name in EXTRA if name not in sys.modules]
    missing = [name for name in not_loaded if importlib.util.find_spec(name) is None]
    if missing:
        raise WrongInput(INSTALL.format(missing=", ".join(missing)))


def need_device(device: str) -> None:
    """WrongInput if "cuda" is asked for and torch finds none."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise WrongInput(
                "--device cuda: torch finds no GPU it can use here (its build may be for the"
                " processor alone); use auto or cpu"
            )


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Without the warnings and progress bars of the libraries; what matters is checked here."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def missing_files(folder: Path, files: Mapping[str, tuple[str, ...]]) -> list[str]:
    """What a folder lacks of `files`, in words."""
    lacking = []
    for name, either in files.items():
        if not any((folder / one).is_file() for one in either or (name,)):
            lacking.append(" or ".join(either) or name)
    return lacking


def weight_files(folder: Path, files: Mapping[str, tuple[str, ...]]) -> list[Path]:
    """The files of a folder that decide what is computed: configurations, and of each kind of
    weights the one that is read.
    """
    found = []
    for name, either in files.items():
        there = [folder / one for one in either or (name,) if (folder / one).is_file()]
        found += there[:1]
    return found


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
        tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
        model, info = BertAdapterModel.from_pretrained(
            base, local_files_only=True, output_loading_info=True
        )
    # The pooler and the heads of pre-training are not used; all else must come from the file.
    needed = [key for key in info["missing_keys"] if not key.startswith("heads.")]
    missing = [key for key in needed if ".pooler." not in key]
    _refuse_partial(base, missing, [str(key) for key in info["mismatched_keys"]])
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
    _refuse_partial(folder, missing, info.get("unexpected_keys", []))
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
        raise WrongInput(
            f"{base}: the vocabulary (tokenizer.json, else vocab.txt) {fault}; get the whole file"
            " from its authors"
        )


def refuse_not_finite(place: Path, weights: Mapping[str, Any]) -> None:
    """WrongInput naming the weights that hold NaN or infinity."""
    numbers = {key: tensor for key, tensor in weights.items() if tensor.is_floating_point()}
    keys = [key for key, tensor in numbers.items() if not tensor.isfinite().all()]
    if keys:
        raise WrongInput(
            f"{place} holds weights that are no finite numbers: {_few(keys)}. Nothing was scored;"
            " get the files from their authors"
        )


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


def _refuse_partial(place: Path, missing: list[str], unexpected: list[str]) -> None:
    """WrongInput where weights are missing, or are there and have no place in the model."""
    problems = {
        "has no weights for": missing,
        "holds weights that have no place in the model:": unexpected,
    }
    for problem, keys in problems.items():
        if keys:
            raise WrongInput(
                f"{place} {problem} {_few(keys)}. Nothing was scored; get the whole files from"
                " their authors"
            )


def _few(keys: Sequence[str]) -> str:
    """The first eight names, and how many more there are."""
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return ", ".join(keys[:8]) + more


def refuse_empty(files: Iterable[Path]) -> None:
    """WrongInput naming a file that is empty, or only the pointer that Git LFS leaves where the
    file itself was not fetched.
    """
    for file in files:
        with file.open("rb") as opened:
            begin = opened.read(len(POINTER))
        if not begin:
            raise WrongInput(f"{file} is empty; get the whole file from its authors")
        if begin == POINTER:
            raise WrongInput(
                f"{file} is a pointer of Git LFS, not the file itself; fetch it where it was"
                " cloned: git lfs pull"
            )


_UNREADABLE = (
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    EOFError,
    UnpicklingError,
)
"""What the libraries raise about a file that they cannot read, besides errors of their own."""


@contextlib.contextmanager
def readable(place: Path) -> Generator[None]:
    """Turn what the libraries raise about a file into the error a user can mend."""
    from safetensors import SafetensorError

    try:
        yield
    except (*_UNREADABLE, ImportError, SafetensorError) as error:
        weights = [file for file in place.glob("*") if file.suffix in (".bin", ".safetensors")]
        damaged = [file for file in sorted(weights) if not _opens(file)]
        if damaged:
            fault = "it is damaged, or holds code, which is not run; get it again from its authors"
            raise WrongInput(f"{damaged[0]} cannot be read: {fault}") from None
        if isinstance(error, ImportError):
            # transformers takes a file it cannot read for one of another format.
            raise WrongInput(
                f"{place} cannot be read: a file of its tokeniser is damaged; get it from its"
                " authors"
            ) from None
        cause = error.__context__ if isinstance(error.__context__, Exception) else error
        raise WrongInput(f"{place} cannot be read: {' '.join(str(cause).split())[:600]}") from None


def _opens(file: Path) -> bool:
    """Whether a file of weights can be read whole.

    Asked only after loading failed, since what is raised then names no file.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        if file.suffix == ".safetensors":
            with safe_open(file, framework="pt"):
                return True
        torch.load(file, map_location="cpu", weights_only=True)
    except (*_UNREADABLE, SafetensorError):
        return False
    return True


def plain_json(file: Path) -> dict[str, Any]:
    """The JSON object in a file; WrongInput if there is none."""
    try:
        plain = json_value(file.read_bytes())
    except (OSError, ValueError) as error:
        raise WrongInput(f"{file} cannot be read: {error}") from None
    if not isinstance(plain, dict):
        raise WrongInput(f"{file} holds no JSON object")
    return plain
