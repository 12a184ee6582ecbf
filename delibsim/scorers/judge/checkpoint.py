"""Checkpoints of a trained judge: a folder with encoder, tokeniser, weights and judge.json; how
question, opinion and summary are put before the network, as one sequence of tokens; and its scores:
each triple once, in batches of like length, kept as they come.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import DIMENSIONS, Triple
from delibsim.domain.text import quoted
from delibsim.measures.summaries.prediction import normalised
from delibsim.scorers.neural import (
    batches,
    key_of,
    missing_files,
    need_device,
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


@dataclass(frozen=True)
class InputForm:
    """The labels before the parts, in their order, and the most tokens that are read.

    It belongs to a checkpoint: a network reads only what it was trained to read.
    """

    labels: tuple[tuple[str, str], ...] = (
        ("question", "Question: "),
        ("opinion", "Opinion: "),
        ("summary", "Summary: "),
    )
    longest: int = 4096

    def __post_init__(self) -> None:
        """Refuse a form in which a part is missing, or there twice."""
        if sorted(name for name, _ in self.labels) != ["opinion", "question", "summary"]:
            raise WrongInput("the input form names question, opinion and summary once each")


def encode(
    form: InputForm, tokenizer: Any, triples: Sequence[Triple]
) -> tuple[list[list[int]], int]:
    """The tokens of triples, and in how many the summary was cut at its end to fit.

    The parts are joined by the separator of the tokeniser. Texts are quoted data: a special token
    that is written in one is an unknown word. WrongInput where question and opinion alone are too
    long.
    """
    begin, separator = tokenizer.cls_token_id, tokenizer.sep_token_id
    found, cut = [], 0
    for triple in triples:
        parts = {}
        for name, label in form.labels:
            parts[name] = _quoted(tokenizer, f"{label}{getattr(triple, name)}")
        room = form.longest - 1 - sum(len(tokens) + 1 for tokens in parts.values())
        if room < 0:
            left = len(parts["summary"]) + room
            if left < 1:
                raise refused("opinion_too_long", longest=form.longest, opinion=triple.opinion[:60])
            parts["summary"] = parts["summary"][:left]
            cut += 1
        tokens = [begin]
        for name, _ in form.labels:
            tokens += [*parts[name], separator]
        found.append(tokens)
    return found, cut


def _quoted(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text, none of which is special."""
    found = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    unknown = tokenizer.unk_token_id
    special = set(tokenizer.all_special_ids) - {unknown}
    return [unknown if token in special else token for token in found]


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
        raise refused("tokeniser_of_another_model", folder=folder, n=len(found), rows=rows)
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
        raise refused("no_record_of_a_judge", file=file, folder=folder)
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
            raise refused("file_of_judge_changed", path=folder / name, folder=quoted(folder))
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
        raise refused("no_config_of_an_encoder", folder=folder)
    plain_json(folder / "config.json")


TOKENS = {"cpu": 1_024, "cuda": 16_384}
"""Tokens of a batch, with its padding, by what computes: a processor gains nothing by more."""
CHUNK = 2_000
"""Triples that are encoded, and sorted by length, at once."""
Values = tuple[float, ...]


class Predictor:
    """A network that scores triples: y from 0 to 1 by dimension, as it gives them; y = (r + 1) / 8
    where it gives labels r.

    Without an activation they may leave 0..1; they are not cut. `cut` counts summaries that were
    cut at their end to fit. A batch has at most `tokens` tokens, with its padding.
    """

    def __init__(
        self, judge: Any, tokenizer: Any, record: CheckpointRecord, tokens: int | None = None
    ) -> None:
        self.record, self.cut = record, 0
        self._judge, self._tokenizer = judge.eval(), tokenizer
        self._device = next(judge.parameters()).device
        self._tokens = tokens or TOKENS.get(self._device.type, TOKENS["cpu"])

    def key(self, triple: Triple) -> str:
        """The name of a score: it changes with the triple and with the checkpoint."""
        return key_of(self.record.hash, triple.question, triple.opinion, triple.summary)

    def scores(self, triples: Sequence[Triple]) -> Iterator[tuple[int, Values]]:
        """The place of each triple and its scores, as they come: the shortest first, by chunks."""
        for begin in range(0, len(triples), CHUNK):
            own = triples[begin : begin + CHUNK]
            tokens, cut = encode(self.record.form, self._tokenizer, own)
            self.cut += cut
            for batch in batches([len(one) for one in tokens], self._tokens):
                found = self._computed([tokens[place] for place in batch])
                if self.record.scale == LABELS:
                    found = normalised(found).tolist()
                for place, values in zip(batch, found, strict=True):
                    yield begin + place, tuple(values)

    def _computed(self, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        import torch

        from delibsim.scorers.judge.network import padded

        batch = padded(tokens, self._tokenizer.pad_token_id)
        on_device = {name: tensor.to(self._device) for name, tensor in batch.items()}
        half = self._device.type == "cuda" and torch.cuda.is_bf16_supported()
        with (
            torch.inference_mode(),
            torch.autocast("cuda", dtype=torch.bfloat16, enabled=half),
        ):
            scores = self._judge(**on_device)["scores"]
        return scores.float().cpu().tolist()


def trained_judge(folder: Path, device: str = "auto", tokens: int | None = None) -> Predictor:
    """The checkpoint in a folder, ready to score; WrongInput where it is not what was set up."""
    record = read_record(folder)
    unchanged(folder, record)
    need_device(device)
    tokenizer = base_tokenizer(folder)
    judge = load_judge(folder, record).to(_device(device))
    return Predictor(judge, tokenizer, record, tokens)


def outside(values: Values) -> bool:
    """Whether a score leaves 0..1, which a network without an activation may do."""
    return any(not 0 <= value <= 1 for value in values)


def named(values: Values) -> dict[str, float]:
    """Scores by dimension."""
    return dict(zip(DIMENSIONS, values, strict=True))


def _device(asked: str) -> str:
    import torch

    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return asked
