"""Adapters, heads and encoder from files: loaded by the libraries that wrote them, whole or not at
all, without running code of theirs.
"""

import contextlib
import importlib.util
import logging
import sys
import warnings
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.store.reading import json_value

ADAPTER_FILES = {"adapter_config.json": (), "head_config.json": (), "adapter": ("adapter.safetensors", "pytorch_adapter.bin"),
                 "head": ("model_head.safetensors", "pytorch_model_head.bin")}  # fmt: skip
"""What the folder of an adapter holds; of weights the first that is there, safetensors or the older
pickle, read with weights_only.
"""
MODEL_FILES = {"config.json": (), "weights": ("model.safetensors", "pytorch_model.bin")}

ADAPTER = {
    "mh_adapter": False, "output_adapter": True, "non_linearity": "relu", "ln_before": False, "ln_after": False, "original_ln_before": True,
    "original_ln_after": True, "residual_before_ln": True, "adapter_residual_before_ln": False, "inv_adapter": None, "cross_adapter": False,
    "is_parallel": False, "phm_layer": False, "use_gating": False, "scaling": 1.0, "leave_out": [],
}  # fmt: skip
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
INSTALL = """the scorer aqua needs the extra 'aqua', of which {missing} cannot be found: pip install 'delibsim[aqua]'.
On Linux that takes a build of torch with CUDA (gigabytes). For the processor alone, install torch 2.13.0 from its CPU index first."""


def need_extra() -> None:
    """WrongInput that says what to install, unless everything the extra holds is there. Nothing is
    imported: that takes seconds.
    """
    missing = [
        name for name in EXTRA if name not in sys.modules and importlib.util.find_spec(name) is None
    ]
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
    """Without the warnings and the progress bars of the libraries: what matters of them is checked
    here, and is an error.
    """
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
    found = [
        next((folder / one for one in either or (name,) if (folder / one).is_file()), None)
        for name, either in files.items()
    ]
    return [path for path in found if path is not None]


def load(base: Path, adapters: Mapping[str, Path]) -> tuple[Any, Any]:
    """Tokeniser and adapters.BertAdapterModel with an adapter and a head for each name; WrongInput
    naming what is missing or other.

    `base` and the folders are local; nothing is fetched.
    """
    need_extra()
    from adapters import BertAdapterModel
    from transformers import AutoTokenizer

    check_form(
        base / "config.json",
        plain_json(base / "config.json"),
        BASE,
        {"hidden_act": "gelu", "position_embedding_type": "absolute"},
    )
    if lacking := missing_files(base, {"vocabulary": ("vocab.txt", "tokenizer.json")}):
        raise WrongInput(f"{base} lacks {', '.join(lacking)}: the words the encoder knows")
    with quiet(), readable(base):
        tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
        model, info = BertAdapterModel.from_pretrained(
            base, local_files_only=True, output_loading_info=True
        )
    # The pooler and the heads of pre-training are not used; all else must come from the file.
    missing = [
        key
        for key in info["missing_keys"]
        if ".pooler." not in key and not key.startswith("heads.")
    ]
    _refuse_partial(base, missing, [str(key) for key in info["mismatched_keys"]])
    _check_vocabulary(base, tokenizer, model.config.vocab_size)
    refuse_not_finite(base, model.state_dict())
    for name, folder in adapters.items():
        _load_adapter(model, name, folder)
    return tokenizer, model.eval()


def _load_adapter(model: Any, name: str, folder: Path) -> None:
    adapter, head = (
        plain_json(folder / file) for file in ("adapter_config.json", "head_config.json")
    )
    check_form(folder / "adapter_config.json", adapter.get("config") or {}, ADAPTER)
    options = head.get("config") or {}
    check_form(folder / "head_config.json", options, HEAD)
    if options.get("label2id") not in (None, LABEL2ID):
        raise WrongInput(
            f"{folder / 'head_config.json'}: label2id is {options['label2id']}, not {LABEL2ID};"
            " labels would mean other values"
        )
    info: dict[str, list[str]] = {}
    with quiet(), readable(folder):
        model.load_adapter(
            str(folder), load_as=name, with_head=True, loading_info=info, use_safetensors=True
        )
    missing = [
        key.replace(f".{name}.", f".{adapter.get('name', name)}.")
        for key in info.get("missing_keys", [])
    ]
    _refuse_partial(folder, missing, info.get("unexpected_keys", []))
    refuse_not_finite(
        folder, {key: tensor for key, tensor in model.state_dict().items() if f".{name}." in key}
    )


def _check_vocabulary(base: Path, tokenizer: Any, size: int) -> None:
    """WrongInput unless the tokeniser has a word for each row of the encoder, the special ones
    among them.

    What it lacks of the special ones the library adds behind the others, under numbers the encoder
    never learnt.
    """
    own = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    lacking = [word for word in SPECIAL if word not in own]
    fault = (
        f"lacks {', '.join(lacking)}"
        if lacking
        else f"has {len(tokenizer)} entries, the encoder {size}"
    )
    if lacking or len(tokenizer) != size:
        raise WrongInput(
            f"{base}: the vocabulary (tokenizer.json, else vocab.txt) {fault}; get the whole file"
            " from its authors"
        )


def refuse_not_finite(place: Path, weights: Mapping[str, Any]) -> None:
    """WrongInput naming the weights that hold NaN or infinity."""
    keys = [
        key
        for key, tensor in weights.items()
        if tensor.is_floating_point() and not tensor.isfinite().all()
    ]
    if keys:
        shown = ", ".join(keys[:8]) + (f" and {len(keys) - 8} more" if len(keys) > 8 else "")
        raise WrongInput(
            f"{place} holds weights that are no finite numbers: {shown}. Nothing was scored; get"
            " the files from their authors"
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
    other = {key: found.get(key, (defaults or {}).get(key)) for key in form}
    wrong = [
        f"{key} is {value!r}, not {form[key]!r}"
        for key, value in other.items()
        if value != form[key]
    ]
    if wrong:
        raise WrongInput(
            f"{file}: {'; '.join(wrong)}. Only models of the published form can be used"
        )


def _refuse_partial(place: Path, missing: list[str], unexpected: list[str]) -> None:
    for problem, keys in (
        ("has no weights for", missing),
        ("holds weights that have no place in the model:", unexpected),
    ):
        if keys:
            shown = ", ".join(keys[:8]) + (f" and {len(keys) - 8} more" if len(keys) > 8 else "")
            raise WrongInput(
                f"{place} {problem} {shown}. Nothing was scored; get the whole files from their"
                " authors"
            )


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


@contextlib.contextmanager
def readable(place: Path) -> Generator[None]:
    """Turn what the libraries raise about a file into the error a user can mend."""
    from safetensors import SafetensorError

    try:
        yield
    except (
        OSError,
        RuntimeError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        EOFError,
        ImportError,
        UnpicklingError,
        SafetensorError,
    ) as error:
        cause = error.__context__ if isinstance(error.__context__, Exception) else error
        if damaged := [
            file
            for file in sorted(place.glob("*"))
            if file.suffix in (".bin", ".safetensors") and not _opens(file)
        ]:
            fault = "it is damaged, or holds code, which is not run; get it again from its authors"
            raise WrongInput(f"{damaged[0]} cannot be read: {fault}") from None
        if isinstance(
            error, ImportError
        ):  # transformers takes a file it cannot read for one of another format
            raise WrongInput(
                f"{place} cannot be read: a file of its tokeniser is damaged; get it from its"
                " authors"
            ) from None
        raise WrongInput(f"{place} cannot be read: {' '.join(str(cause).split())[:600]}") from None


def _opens(file: Path) -> bool:
    """Whether a file of weights can be read whole. Asked only after loading failed, since what is
    raised then names no file.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        if file.suffix == ".safetensors":
            with safe_open(file, framework="pt"):
                return True
        torch.load(file, map_location="cpu", weights_only=True)
    except (
        OSError,
        RuntimeError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        EOFError,
        UnpicklingError,
        SafetensorError,
    ):
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
