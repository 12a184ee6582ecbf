"""Checkpoints of a trained judge: a folder with encoder, tokeniser, weights and judge.json."""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import DIMENSIONS
from delibsim.domain.text import quoted
from delibsim.scorers.judge.form import InputForm
from delibsim.scorers.neural import (
    missing_files,
    need_packages,
    plain_json,
    quiet,
    readable,
    refuse_empty,
    refuse_not_finite,
    refuse_partial,
    tokeniser,
    weight_files,
)
from delibsim.store.files import json_text, write_atomically

RECORD = "judge.json"
SCHEMA = 1
EXTRA = ("accelerate", "sentencepiece", "torch", "transformers")
FILES = {"config.json": (), "weights": ("model.safetensors", "pytorch_model.bin")}
TOKENISER = ("tokenizer.json", "spm.model", "vocab.txt", "sentencepiece.bpe.model")
SCALE = "(r + 1) / 8"
"""The scale of scores: normalised labels."""
LABELS = "r"
"""The scale of a checkpoint made elsewhere that answers in labels, from -1 to 7."""
SCALES = {"unit": SCALE, "labels": LABELS}
"""The scales that a checkpoint may have, by the words that state them."""
OF_BASE = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")


@dataclass(frozen=True)
class CheckpointRecord:
    """What is known of a checkpoint: how it reads and answers, and what it was trained on.

    `questions` were in its training; it is outside its domain elsewhere. `files` are the hashes of
    its files, `data` that of its records, `base` that of the encoder it began with. `metrics`,
    `baseline` and `calibration` are of the test part, `left_out` of each question that was left
    out. Empty where the checkpoint was made elsewhere.
    """

    name: str
    activation: str
    scale: str = SCALE
    form: InputForm = InputForm()
    questions: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    data: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    baseline: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """Twelve characters that change with any file, or with how the checkpoint is read."""
        parts = [f"{name} {digest}" for name, digest in sorted(self.files.items())]
        parts += [self.activation, self.scale, repr(self.form)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


ADAPTER = TypeAdapter(CheckpointRecord)


def need_extra() -> None:
    """WrongInput that says what to install, unless everything the extra holds is there."""
    need_packages("the trained judge", "judge", EXTRA)


def base_tokenizer(folder: Path) -> Any:
    """The tokeniser in a folder; WrongInput naming what is missing. Nothing is fetched."""
    need_extra()
    from transformers import AutoTokenizer

    _need_base(folder)
    if not any((folder / name).is_file() for name in TOKENISER):
        raise WrongInput(f"{folder} lacks {' or '.join(TOKENISER)}: the words the encoder knows")
    with quiet(), readable(folder):
        # Without tokenizer.json the quick one would be made by packages that need not be here.
        quick = (folder / "tokenizer.json").is_file()
        made = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, use_fast=quick
        )
        found = tokeniser(made)
    rows = plain_json(folder / "config.json").get("vocab_size", 0)
    if len(found) > rows:
        raise WrongInput(
            f"{folder}: its tokeniser has {len(found):,} words, the encoder {rows:,}; they are not"
            " of one model"
        )
    if found.cls_token_id is None or found.sep_token_id is None or found.pad_token_id is None:
        raise WrongInput(f"{folder}: its tokeniser has no token for begin, separator or padding")
    return found


def base_encoder(folder: Path) -> Any:
    """The encoder in a folder with its weights; WrongInput for a partial or foreign one."""
    need_extra()
    from transformers import AutoModel

    _need_base(folder)
    if lacking := missing_files(folder, FILES):
        raise WrongInput(f"{folder} lacks {', '.join(lacking)}: it is no encoder with weights")
    refuse_empty(weight_files(folder, FILES))
    with quiet(), readable(folder):
        model, info = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            dtype="float32",
        )
    missing = [key for key in info["missing_keys"] if "pooler" not in key]
    refuse_partial(folder, missing, [str(key) for key in info["mismatched_keys"]])
    refuse_not_finite(folder, model.state_dict())
    return model


def load_judge(folder: Path, record: CheckpointRecord) -> Any:
    """The network of a checkpoint, ready to score; WrongInput naming the weights that are missing,
    foreign, of another size, or no finite numbers.
    """
    need_extra()
    from transformers import AutoConfig, AutoModel

    from delibsim.scorers.judge.network import Judge

    if lacking := missing_files(folder, FILES):
        raise WrongInput(f"{folder} lacks {', '.join(lacking)}: it is no checkpoint of a judge")
    refuse_empty(weight_files(folder, FILES))
    with quiet(), readable(folder):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        encoder = AutoModel.from_config(config, trust_remote_code=False)
        weights = _named(_weights(folder))
    judge = Judge(encoder, "none" if record.activation == "none" else "sigmoid")
    own = judge.state_dict()
    refuse_partial(folder, sorted(own.keys() - weights), sorted(weights.keys() - own))
    sizes = [key for key, tensor in weights.items() if tensor.shape != own[key].shape]
    if sizes:
        first = sizes[0]
        raise WrongInput(
            f"{folder}: {first} has the size {list(weights[first].shape)}, its config.json asks for"
            f" {list(own[first].shape)}; the files are not of one model"
        )
    refuse_not_finite(folder, weights)
    judge.load_state_dict(weights)
    return judge.eval()


def complete_from_base(folder: Path, base: Path) -> list[str]:
    """Copy the configuration and the tokeniser of an encoder into the folder of a checkpoint that
    has weights alone; the names of the files. What the folder has is left as it is.
    """
    _need_base(base)
    names = (*OF_BASE, *TOKENISER)
    own_tokeniser = any((folder / name).is_file() for name in TOKENISER)
    copied = []
    for name in names if not own_tokeniser else ("config.json",):
        if (base / name).is_file() and not (folder / name).exists():
            shutil.copyfile(base / name, folder / name)
            copied.append(name)
    return copied


def save_judge(judge: Any, tokenizer: Any, base: Path, folder: Path) -> None:
    """Write the files of a checkpoint: weights, the configuration of its encoder, its tokeniser."""
    from safetensors.torch import save_file

    weights = {name: tensor.contiguous().cpu() for name, tensor in judge.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    shutil.copyfile(base / "config.json", folder / "config.json")
    tokenizer.save_pretrained(folder)


def _named(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights under our names; the published script calls the layers of the head `hidden` and
    `head`, and wrappers put `module.` before all.
    """
    found = {name.removeprefix("module."): tensor for name, tensor in weights.items()}
    if "hidden.weight" not in found:
        return found
    names = {"hidden.": "head.1.", "head.": "head.4."}
    renamed = {}
    for name, tensor in found.items():
        own = [(old, new) for old, new in names.items() if name.startswith(old)]
        renamed[own[0][1] + name.removeprefix(own[0][0]) if own else name] = tensor
    return renamed


def _weights(folder: Path) -> dict[str, Any]:
    """The weights of a checkpoint by key; pickles are read without running what is in them."""
    import torch
    from safetensors.torch import load_file

    file = weight_files(folder, {"weights": FILES["weights"]})[0]
    if file.suffix == ".safetensors":
        return load_file(file)
    found = torch.load(file, map_location="cpu", weights_only=True)
    if not isinstance(found, dict):
        raise WrongInput(f"{file} holds no weights by name")
    return found


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a checkpoint that decides what it computes."""
    chosen = set(weight_files(folder, FILES))
    for ending in ("json", "txt", "model"):
        chosen |= set(folder.glob(f"*.{ending}"))
    found = {}
    for path in sorted(chosen):
        if path.name not in (RECORD, "training.json"):
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def write_record(folder: Path, record: CheckpointRecord) -> Path:
    """Write the record of a checkpoint; the file."""
    plain = {"schema": SCHEMA, **ADAPTER.dump_python(record, mode="json")}
    write_atomically(folder / RECORD, json_text(plain, indent=1) + "\n")
    return folder / RECORD


def read_record(folder: Path) -> CheckpointRecord:
    """The record of a checkpoint; WrongInput where there is none, or it is of another kind."""
    file = folder / RECORD
    if not file.is_file():
        raise WrongInput(
            f"there is no {file}: a checkpoint that was made elsewhere needs delibsim setup judge"
            f" {folder} activation=sigmoid|none first"
        )
    plain = plain_json(file)
    if plain.pop("schema", None) != SCHEMA:
        raise WrongInput(f"{file} was written under another schema; set it up again")
    try:
        record = ADAPTER.validate_python(plain)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise WrongInput(f"{file}: {place}: {fault['msg']}") from None
    _check(file, record)
    return record


def unchanged(folder: Path, record: CheckpointRecord) -> None:
    """WrongInput naming the first file that is not what it was when the checkpoint was set up."""
    now = hashes(folder)
    for name, digest in record.files.items():
        if name not in now:
            raise WrongInput(f"{folder / name} is gone since the judge was set up")
        if now[name] != digest:
            raise WrongInput(
                f"{folder / name} is not the file it was when the judge was set up; to use the new"
                f" one: delibsim setup judge {quoted(folder)}"
            )
    if new := sorted(now.keys() - record.files.keys()):
        raise WrongInput(f"{folder / new[0]} was not there when the judge was set up")


def _check(file: Path, record: CheckpointRecord) -> None:
    if record.activation not in ("sigmoid", "none"):
        raise WrongInput(f"{file}: activation is sigmoid or none, not {record.activation!r}")
    if record.scale not in SCALES.values():
        known = " or ".join(map(repr, SCALES.values()))
        raise WrongInput(f"{file}: the scale of scores is {record.scale!r}, not {known}")
    dimensions = record.settings.get("dimensions", list(DIMENSIONS))
    if tuple(dimensions) != DIMENSIONS:
        raise WrongInput(f"{file}: its dimensions are {dimensions}, not {list(DIMENSIONS)}")


def _need_base(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise WrongInput(
            f"{folder} holds no config.json; base= names the folder of an encoder, such as a copy"
            " of microsoft/deberta-v3-base"
        )
    plain_json(folder / "config.json")
