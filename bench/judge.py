"""Measure the trained judge: make bench-aqua, or python bench/judge.py [--texts N]

Inference on random weights of a two-layer model of width 384, triples with the lengths that were
published (mean 450 tokens), one thread: sorted and batched by tokens, beside padding to 1,024 and
to 512 (which cuts a third of the texts) and batches of eight as they come. Training: steps of
transformers.Trainer beside a plain loop over the same batches of the same model, with the losses
of both. Needs the extra judge.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from record import record
from transformers import DebertaV2Config, DebertaV2Model, get_linear_schedule_with_warmup

from delibsim.domain.summary import DIMENSIONS, Record, Triple
from delibsim.scorers.judge.checkpoint import TOKENS
from delibsim.scorers.judge.network import Judge, padded
from delibsim.scorers.neural import batches, quiet

VOCABULARY, PAIRS = 2_000, 696_600


def model(width: int = 384, layers: int = 2) -> Judge:
    """A network of the published form, smaller."""
    torch.manual_seed(1)
    config = DebertaV2Config(
        vocab_size=VOCABULARY, hidden_size=width, num_hidden_layers=layers, num_attention_heads=6,
        intermediate_size=4 * width, relative_attention=True, position_buckets=256,
        max_relative_positions=-1, pos_att_type=["p2c", "c2p"], position_biased_input=False,
        norm_rel_ebd="layer_norm", share_att_key=True, type_vocab_size=0,
    )  # fmt: skip
    return Judge(DebertaV2Model(config))


def triples(n: int) -> list[list[int]]:
    """Token ids with the published spread of lengths."""
    draw = random.Random(3)
    found = []
    for _ in range(n):
        length = min(1024, max(180, round(draw.lognormvariate(6.03, 0.38))))
        found.append([draw.randrange(4, VOCABULARY) for _ in range(length)])
    return found


def seconds(judge: Judge, tokens: list[list[int]], groups: list[list[int]], length: int) -> float:
    """Processor seconds a text of one way; `length` 0 pads to the longest of a batch."""
    started = time.process_time()
    with torch.inference_mode():
        for group in groups:
            own = [tokens[place][: length or None] for place in group]
            if length:
                own = [[*one, *[0] * (length - len(one))] for one in own]
            judge(**padded(own, 0))
    return (time.process_time() - started) / len(tokens)


def inference(n: int) -> list[dict[str, str | float | None]]:
    """The ways of scoring side by side."""
    judge, tokens = model().eval(), triples(n)
    eights = [list(range(start, min(start + 8, n))) for start in range(0, n, 8)]
    by_tokens = list(batches([len(one) for one in tokens], TOKENS["cpu"]))
    ways = {
        "padded to 1,024, eight": (eights, 1024),
        "padded to 512, eight (cuts)": (eights, 512),
        "eight as they come": (eights, 0),
        "sorted, 1,024 tokens (ours)": (by_tokens, 0),
    }
    found = {name: seconds(judge, tokens, *way) for name, way in ways.items()}
    ours = found["sorted, 1,024 tokens (ours)"]
    rows: list[dict[str, str | float | None]] = []
    for name, taken in found.items():
        row: dict[str, str | float | None] = {"way": name, "processor s a text": round(taken, 4)}
        row |= {"times ours": round(taken / ours, 2)}
        rows.append(row | {"hours for 696,600": round(taken * PAIRS / 3600, 1)})
    return rows


def training() -> list[dict[str, str | float | None]]:
    """Trainer beside a plain loop: seconds a step, and the largest difference of their losses."""
    from delibsim.scorers.judge import training as own

    draw = random.Random(5)
    records = []
    for place in range(64):
        values = {name: draw.uniform(0.25, 0.75) for name in DIMENSIONS}
        records.append(Record(Triple("q", f"{place}", "s"), f"r{place}", "i", values))
    tokens = [[draw.randrange(4, VOCABULARY) for _ in range(120)] for _ in records]
    labels = [[one.scores[name] for name in DIMENSIONS] for one in records]
    every = [{"tokens": a, "labels": b} for a, b in zip(tokens, labels, strict=True)]
    settings = own.TrainingSettings(
        epochs=2, accumulated=1, rate=1e-4, decay=0.0, device="cpu", patience=9
    )
    order: list[list[int]] = []

    class Noting(own._Collator):
        """Batches, whose places are noted."""

        def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
            order.append([every.index(one) for one in rows])
            return super().__call__(rows)

    with tempfile.TemporaryDirectory() as folder, quiet():
        arguments = own._arguments(settings, Path(folder))
        arguments.eval_strategy = arguments.save_strategy = "no"
        arguments.load_best_model_at_end = False
        judge = model().train()
        _without_dropout(judge)
        trainer = own._Trainer(
            model=judge, args=arguments, train_dataset=own._Rows(every), data_collator=Noting(0)
        )
        started = time.process_time()
        trainer.train()
        with_trainer = time.process_time() - started
        taught = {name: one.detach().clone() for name, one in judge.named_parameters()}
        steps = trainer.state.global_step
    judge = model().train()
    _without_dropout(judge)
    optimizer = torch.optim.AdamW(judge.parameters(), lr=1e-4, weight_decay=0.0)
    schedule = get_linear_schedule_with_warmup(optimizer, -(-steps * 15 // 100), steps)
    started = time.process_time()
    for group in order[:steps]:
        batch = padded([tokens[place] for place in group], 0)
        loss = judge(**batch, labels=torch.tensor([labels[place] for place in group]))["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    alone = time.process_time() - started
    off = max((one - taught[name]).abs().max().item() for name, one in judge.named_parameters())
    rows_of = {"plain loop": alone, "Trainer (ours)": with_trainer}
    found: list[dict[str, str | float | None]] = []
    for name, taken in rows_of.items():
        row: dict[str, str | float | None] = {"way": name, "processor s a step": taken / steps}
        row |= {"times plain": round(taken / alone, 3)}
        found.append(row | {"weights off by at most": off if taken is not alone else 0.0})
    return found


def _without_dropout(judge: Judge) -> None:
    for module in judge.modules():
        if "Dropout" in type(module).__name__:
            for name in ("p", "drop_prob"):
                if hasattr(module, name):
                    setattr(module, name, 0.0)


def main() -> None:
    """Print both tables as one, and keep it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--texts", type=int, default=48)
    n = asked.parse_args().texts
    torch.set_num_threads(1)
    rows: list[dict[str, str | float | None]] = []
    for row in inference(n):
        known = {"what": f"a text, {row['way']}", "processor s": row["processor s a text"]}
        known |= {"times": row["times ours"], "hours for 696,600": row["hours for 696,600"]}
        rows.append({**known, "weights off by at most": None})
    for row in training():
        known = {"what": f"a step, {row['way']}", "processor s": row["processor s a step"]}
        known |= {"times": row["times plain"], "hours for 696,600": None}
        rows.append({**known, "weights off by at most": row["weights off by at most"]})
    about = (
        f"The trained judge on one thread, random weights of two layers and width 384, {n} triples:"
        " scoring beside ours, and training beside a plain loop over the same batches."
    )
    record("judge", about, rows, ["torch", "transformers"])
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
