"""Training a judge by transformers.Trainer: checkpoints, resuming, stopping early.

The settings are those of Zhu et al. (2025), https://arxiv.org/abs/2510.05154.
"""

import math
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.trainer_utils import get_last_checkpoint

from delibsim.domain.errors import WrongInput, phrase
from delibsim.domain.summary import DIMENSIONS, Part, Record
from delibsim.measures.correlations import spearman
from delibsim.measures.summaries.prediction import mean_defined
from delibsim.scorers.judge.checkpoint import InputForm, base_encoder, encode
from delibsim.scorers.judge.network import Judge, padded
from delibsim.scorers.neural import quiet
from delibsim.store.files import append_line, json_text, read_lines, write_atomically

CURVE = "curve.jsonl"
WHOLE = "whole"
"""The file that marks a checkpoint which was written to its end."""
UNDEFINED = -2.0
"""What orders an evaluation without any correlation below all others; never reported."""
KEPT = 3


@dataclass(frozen=True)
class TrainingSettings:
    """The published settings, with what is ours: `patience` evaluations without a gain end the
    training, and bfloat16 is used where the device has it.
    """

    epochs: float = 30
    batch: int = 8
    accumulated: int = 2
    rate: float = 4e-5
    decay: float = 0.01
    warmup: float = 0.15
    clipped: float = 1.0
    patience: int = 5
    every: int = 0
    """Steps between evaluations; 0: once an epoch."""
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class Trained:
    """What came of a training: its network with the best weights, whether it was interrupted, its
    last step, and in how many records the summary was cut.
    """

    judge: Judge
    interrupted: bool
    step: int
    cut: int


class NotWritten(WrongInput):
    """A checkpoint could not be written; those before are whole."""


class LossIsNotFinite(WrongInput):
    """The loss became NaN or infinite; the last good checkpoint is kept."""


def train(
    judge: Judge,
    tokenizer: Any,
    form: InputForm,
    parts: Mapping[Part, Sequence[Record]],
    settings: TrainingSettings,
    folder: Path,
    resume: bool,
    told: Callable[[str], None] = lambda line: None,
) -> Trained:
    """Train a judge, going on from the last whole checkpoint in `folder` where `resume`.

    WrongInput where the loss is no finite number, or the disk is full: the checkpoints before it
    are whole.
    """
    rows, cut = _rows(form, tokenizer, parts["train"])
    checked, also = _rows(form, tokenizer, parts["validation"])
    folder.mkdir(parents=True, exist_ok=True)
    last = _last_whole(folder) if resume else None
    if last:
        told(f"going on from {last.name}")
        _cut_curve(folder, _state_of(last).global_step)
        if _out_of_patience(last, settings.patience):
            return _with_best(judge, last, cut + also)
    trainer = _Trainer(
        model=judge,
        args=_arguments(settings, folder),
        train_dataset=_Rows(rows),
        eval_dataset=_Rows(checked),
        data_collator=_Collator(tokenizer.pad_token_id),
        compute_metrics=_metrics,
    )
    stopping = _Stopping()
    trainer.remove_callback(PrinterCallback)  # the curve holds what it prints
    trainer.add_callback(_Keeping(folder, told))
    trainer.add_callback(stopping)
    trainer.add_callback(EarlyStoppingCallback(settings.patience))
    with quiet(), stopping.listening():
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    return Trained(judge, stopping.asked, trainer.state.global_step, cut + also)


def begun(base: Path, activation: str, seed: int) -> Judge:
    """The network that a training begins with; the seed draws the weights of its head."""
    if activation not in ("sigmoid", "none"):
        raise WrongInput(f"activation is sigmoid or none, not '{activation}'")
    encoder = base_encoder(base)
    torch.manual_seed(seed)
    return Judge(encoder, "none" if activation == "none" else "sigmoid")


def _arguments(settings: TrainingSettings, folder: Path) -> TrainingArguments:
    device = settings.device
    on_gpu = device != "cpu" and torch.cuda.is_available()
    if device == "cuda" and not on_gpu:
        raise WrongInput("device=cuda: torch finds no GPU it can use here; use auto or cpu")
    when = "steps" if settings.every else "epoch"
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulated,
        learning_rate=settings.rate,
        weight_decay=settings.decay,
        lr_scheduler_type="linear",
        warmup_ratio=settings.warmup,
        max_grad_norm=settings.clipped,
        adam_beta1=0.9,
        adam_beta2=0.999,
        adam_epsilon=1e-8,
        optim="adamw_torch",
        eval_strategy=when,
        save_strategy=when,
        eval_steps=settings.every or None,
        save_steps=settings.every or 500,
        save_total_limit=KEPT,
        restore_callback_states_from_checkpoint=True,
        load_best_model_at_end=True,
        metric_for_best_model="selection",
        greater_is_better=True,
        logging_strategy="steps",
        logging_steps=1,
        label_names=["labels"],
        remove_unused_columns=False,
        use_cpu=not on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        seed=settings.seed,
        data_seed=settings.seed,
        dataloader_pin_memory=on_gpu,
        disable_tqdm=True,
        report_to=[],
    )


class _Trainer(Trainer):
    """Trainer, which stops where the loss is no finite number."""

    def compute_loss(self, model: Any, inputs: Any, *given: Any, **options: Any) -> Any:
        """The loss of a batch."""
        found = super().compute_loss(model, inputs, *given, **options)
        loss = found[0] if isinstance(found, tuple) else found
        if model.training and not torch.isfinite(loss):
            step = self.state.global_step + 1
            raise LossIsNotFinite(phrase("loss_not_finite", loss=loss.item(), step=step))
        return found

    def _save_checkpoint(self, *given: Any, **options: Any) -> None:
        """Write a checkpoint of finite weights, or leave nothing of it."""
        step = self.state.global_step
        wrong = [key for key, one in self.model.named_parameters() if not one.isfinite().all()]
        if wrong:
            raise LossIsNotFinite(phrase("weights_not_finite", step=step, wrong=wrong[0]))
        made = Path(str(self.args.output_dir)) / f"checkpoint-{step}"
        try:
            super()._save_checkpoint(*given, **options)
        except (OSError, RuntimeError, SafetensorError) as error:
            shutil.rmtree(made, ignore_errors=True)
            said = " ".join(str(error).split())[:200]
            full = "; the disk is full" if _is_full(error) else ""
            raise NotWritten(
                f"the checkpoint of step {step} could not be written{full} ({said}); the"
                " checkpoints before are whole. Make room, then go on with --resume"
            ) from None


class _Keeping(TrainerCallback):
    """Marks checkpoints that were written whole, and keeps the curve."""

    def __init__(self, folder: Path, told: Callable[[str], None]) -> None:
        self.folder, self.told = folder, told

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Mark the checkpoint that was just written."""
        made = self.folder / f"checkpoint-{state.global_step}"
        for file in made.iterdir():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        write_atomically(made / WHOLE, f"{state.global_step}\n", durable=True)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **_: Any,
    ) -> None:
        """Keep a line of the curve; what is undefined is left out."""
        line = {"step": state.global_step}
        for name, value in (logs or {}).items():
            if math.isfinite(value) and not name.endswith("selection"):
                line[name] = value
        append_line(self.folder / CURVE, line)
        if "eval_loss" in line:
            rho = line.get("eval_spearman")
            said = "undefined" if rho is None else f"{rho:.3f}"
            self.told(f"step {state.global_step}: validation Spearman {said}")


class _Stopping(TrainerCallback):
    """Lets a signal end the training after the step in hand, with a checkpoint."""

    def __init__(self) -> None:
        self.asked = False

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Save and stop where it was asked for."""
        if self.asked:
            control.should_save = True
            control.should_training_stop = True

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """A stop within an epoch is no end of it: an evaluation there would draw random numbers,
        and the training would go on otherwise than it would have.
        """
        if self.asked and state.epoch != round(state.epoch or 0):
            control.should_evaluate = False
            control.should_save = False

    def listening(self) -> "_Signals":
        """Listen to SIGINT and SIGTERM meanwhile."""
        return _Signals(self)


class _Signals:
    """SIGINT and SIGTERM, which a training obeys while it runs."""

    def __init__(self, stopping: _Stopping) -> None:
        self.stopping = stopping
        self.before: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.before[number] = signal.signal(number, self._ask)

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: Any) -> None:
        if self.stopping.asked:  # asked twice: at once
            raise KeyboardInterrupt
        self.stopping.asked = True


class _Rows(torch.utils.data.Dataset):
    """Records as tokens and labels."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]


@dataclass(frozen=True)
class _Collator:
    """Rows as one batch."""

    padding: int

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        batch = padded([row["tokens"] for row in rows], self.padding)
        return batch | {"labels": torch.tensor([row["labels"] for row in rows])}


def _rows(
    form: InputForm, tokenizer: Any, records: Sequence[Record]
) -> tuple[list[dict[str, Any]], int]:
    tokens, cut = encode(form, tokenizer, [one.triple for one in records])
    rows = []
    for own, record in zip(tokens, records, strict=True):
        labels = [record.scores.get(name, math.nan) for name in DIMENSIONS]
        rows.append({"tokens": own, "labels": labels})
    return rows, cut


def _metrics(given: Any) -> dict[str, float]:
    """The mean Spearman over the dimensions in which it is defined."""
    said, predicted = np.asarray(given.label_ids), np.asarray(given.predictions)
    values = []
    for column in range(len(DIMENSIONS)):
        there = ~np.isnan(said[:, column])
        values.append(spearman(said[there, column], predicted[there, column]).value)
    mean, undefined = mean_defined(values)
    selection = UNDEFINED if math.isnan(mean) else mean
    return {"spearman": mean, "undefined": undefined, "selection": selection}


def _last_whole(folder: Path) -> Path | None:
    """The last checkpoint that was written to its end; others are removed."""
    for place in folder.glob("checkpoint-*"):
        if not (place / WHOLE).is_file():
            shutil.rmtree(place)
    last = get_last_checkpoint(str(folder))
    return Path(last) if last else None


def _out_of_patience(checkpoint: Path, patience: int) -> bool:
    """Whether a training had ended early at a checkpoint, and was killed before it said so."""
    kept = _state_of(checkpoint).stateful_callbacks.get("EarlyStoppingCallback", {})
    return kept.get("attributes", {}).get("early_stopping_patience_counter", 0) >= patience


def _with_best(judge: Judge, last: Path, cut: int) -> Trained:
    """What came of a training that had ended at this checkpoint: the best weights."""
    state = _state_of(last)
    best = last.parent / f"checkpoint-{state.best_global_step or state.global_step}"
    judge.load_state_dict(load_file(best / "model.safetensors"))
    return Trained(judge, False, state.global_step, cut)


def _state_of(checkpoint: Path) -> TrainerState:
    return TrainerState.load_from_json(str(checkpoint / "trainer_state.json"))


def _cut_curve(folder: Path, step: int) -> None:
    """Leave out of the curve what came after the checkpoint that training goes on from."""
    lines, _ = read_lines(folder / CURVE)
    kept = [json_text(line) + "\n" for line in lines if line["step"] <= step]
    write_atomically(folder / CURVE, "".join(kept))


def _is_full(error: BaseException) -> bool:
    said = str(error)
    full = ("No space left", "File too large", "file write failed", "errno 28", "os error 28")
    return any(one in said for one in full)


def plain_settings(settings: TrainingSettings) -> dict[str, Any]:
    """The settings as plain values, for the record."""
    return asdict(settings) | {"dimensions": list(DIMENSIONS)}
