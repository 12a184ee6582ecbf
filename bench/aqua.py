"""Measure how fast AQuA is computed, beside the reference way: make bench-aqua

Run it by hand where the extra aqua is installed, never in CI. Random weights of the real size
(bert-base-multilingual-cased, twenty adapters with heads). 100 statements of 60 to 150 words, at
1.6 tokens a German word. The reference way: all twenty adapters in Parallel, padded to 512 tokens.
It is slow, so it and the other ways of the library are timed on FEW statements, of the same mean
length. Every way runs in a process of its own, which also loads the weights.
"""

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua import encoder as own
from delibsim.scorers.aqua.setup import FOLDERS
from delibsim.scorers.aqua.weights import load
from delibsim.scorers.neural import quiet

STATEMENTS, FEW, PADDED, TOGETHER, VOCABULARY = 100, 8, 512, 4, 119_547
WAYS = {
    "reference": "library, Parallel, padded to 512",
    "dynamic": "library, Parallel, padded to the longest of four",
    "sorted": "library, the same, sorted by length",
    "plain": "ours without the convolution",
    "ours": "ours (float32)",
    "bfloat16": "ours (bfloat16, near ties again in float32)",
}


def statements() -> list[list[int]]:
    """Token ids of the statements, in no order."""
    draw = random.Random(1)
    found = []
    for _ in range(STATEMENTS):
        length = round(draw.uniform(60, 150) * 1.6) + 2
        found.append([draw.randrange(1000, 100_000) for _ in range(length)])
    return found


def spread(n: int) -> list[int]:
    """Which n of the statements, spread evenly over the lengths, in no order."""
    lengths = [len(ids) for ids in statements()]
    ranked = sorted(range(STATEMENTS), key=lambda i: lengths[i])
    chosen = [ranked[(2 * i + 1) * STATEMENTS // (2 * n)] for i in range(n)]
    random.Random(2).shuffle(chosen)
    return chosen


def make(folder: Path) -> None:
    """Save encoder and adapters with random weights, in the published layout."""
    from adapters import BertAdapterModel, SeqBnConfig
    from transformers import BertConfig, BertTokenizerFast

    torch.manual_seed(0)
    base = folder / "base"
    base.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += [f"[unused{i}]" for i in range(VOCABULARY - len(words))]
    (base / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(base / "vocab.txt")).save_pretrained(base)
    model = BertAdapterModel(BertConfig(vocab_size=VOCABULARY))
    model.save_pretrained(base)
    for name in INDICATORS:
        model.add_adapter(name, config=SeqBnConfig())
        model.add_classification_head(name, num_labels=4)
    for key, parameter in model.named_parameters():
        if ".adapters." in key or key.startswith("heads."):
            # As large as trained ones, so that adapters distinguish texts.
            torch.nn.init.normal_(parameter, std=0.05)
    for name in INDICATORS:
        (folder / FOLDERS[name]).mkdir()
        model.save_adapter(str(folder / FOLDERS[name]), name, with_head=True)


def library(model, texts, width):
    """Logits by adapters' own Parallel composition, `TOGETHER` texts at a time, padded to `width`
    or to the longest of them.
    """
    from adapters.composition import Parallel

    model.active_adapters, model.active_head = Parallel(*INDICATORS), list(INDICATORS)
    found = []
    for begin in range(0, len(texts), TOGETHER):
        batch = texts[begin : begin + TOGETHER]
        ids = torch.zeros(len(batch), width or max(map(len, batch)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for i, text in enumerate(batch):
            ids[i, : len(text)], mask[i, : len(text)] = torch.tensor(text), 1
        with torch.inference_mode():
            outputs = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device))
        found.append(torch.stack([output.logits for output in outputs], 1).cpu())
    return torch.cat(found)


def measure(way: str, folder: Path, device: str, n: int) -> None:
    """Run one way; its time, memory and labels as JSON."""
    with quiet():
        _, model = load(folder / "base", {name: folder / FOLDERS[name] for name in INDICATORS})
    texts = statements()
    which = spread(n if way in ("ours", "bfloat16") else FEW)
    if way == "sorted":
        which = sorted(which, key=lambda i: len(texts[i]))
    chosen = [texts[i] for i in which]
    if way in ("reference", "dynamic", "sorted"):
        model.to(device)

        def run():
            return library(model, chosen, PADDED if way == "reference" else 0)

    else:
        own._Dense.convolve = way != "plain"
        coder = own.Encoder(
            model, INDICATORS, device, "bfloat16" if way == "bfloat16" else "float32"
        )

        def run():
            logits = torch.empty(len(chosen), len(INDICATORS), 4)
            for batch, found in coder.logits(chosen):
                logits[batch] = found
            return logits

    if device == "cuda":
        run()
    start, used = time.perf_counter(), time.process_time()
    logits = run()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    labels = {str(i): row for i, row in zip(which, logits.argmax(-1).tolist(), strict=True)}
    print(
        json.dumps(
            {"n": len(which), "seconds": seconds, "cpu": used, "memory": memory, "labels": labels}
        )
    )


def main() -> None:
    """Print the table."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--way", choices=WAYS)
    reader.add_argument("--folder", type=Path)
    reader.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    reader.add_argument(
        "--statements", type=int, default=STATEMENTS, help="how many of them ours are timed on"
    )
    asked = reader.parse_args()
    if asked.way:
        measure(asked.way, asked.folder, asked.device, asked.statements)
        return
    with tempfile.TemporaryDirectory() as folder:
        with quiet():
            make(Path(folder))
        command = [sys.executable, __file__, "--folder", folder, "--device", asked.device]
        command += ["--statements", str(asked.statements), "--way"]
        rows = {}
        for way in WAYS:
            # Threads that wait do not spin, so that seconds of the processor count work, whatever
            # else the machine does.
            environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
            done = subprocess.run(
                [*command, way], stdout=subprocess.PIPE, text=True, check=True, env=environment
            )
            rows[way] = json.loads(done.stdout.splitlines()[-1])
            figures = {name: value for name, value in rows[way].items() if name != "labels"}
            print(way, figures, file=sys.stderr)
    print(
        f"python bench/aqua.py    {platform.machine()}, {os.cpu_count()} cores, {asked.device},"
        f" torch {torch.__version__}"
    )
    print(
        f"{'':50}{'texts':>6}{'texts/s':>9}{'times':>7}{'CPU s/text':>12}{'times':>7}{'GB':>6}"
        f"{'same labels':>13}"
    )
    first = rows["reference"]
    for way, row in rows.items():
        speed = row["n"] / row["seconds"]
        shared = [i for i in row["labels"] if i in rows["ours"]["labels"]]
        labels = np.array([row["labels"][i] for i in shared])
        same = np.mean(labels == np.array([rows["ours"]["labels"][i] for i in shared]))
        work = row["cpu"] / row["n"]
        times = speed * first["seconds"] / first["n"], first["cpu"] / first["n"] / work
        counts = f"{row['n']:6}{speed:9.3f}{times[0]:7.1f}{work:12.1f}{times[1]:7.1f}"
        print(f"{WAYS[way]:50}{counts}{row['memory']:6.1f}{same:13.2%}")


if __name__ == "__main__":
    main()
