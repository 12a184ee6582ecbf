"""A tiny DeBERTa-v2 with a tokeniser of its own, and records to train on, for the tests and to try
things by hand: python tests/judge_models.py FOLDER.
"""

import argparse
import csv
import io
import random
from pathlib import Path

import sentencepiece
import torch
from transformers import DebertaV2Config, DebertaV2Model, DebertaV2Tokenizer

torch.set_num_threads(1)  # so small, they are slower in two
WORDS = (
    "the tram is late we want money for schools roads are loud people pay less more yes no".split()
)
QUESTIONS = (
    "Should the tram run at night?",
    "Should schools begin later?",
    "Should roads be narrower?",
)


def text(rng: random.Random, words: int) -> str:
    """Some words."""
    return " ".join(rng.choices(WORDS, k=words))


def base(folder: Path, seed: int = 1, width: int = 32) -> Path:
    """A tiny encoder with its tokeniser, saved in a folder as models are on the Hub."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    lines = [
        f"Question: {text(rng, 8)} Opinion: {text(rng, 9)} Summary: {text(rng, 7)}"
        for _ in range(200)
    ]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=44, model_type="unigram",
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]", minloglevel=2,
    )  # fmt: skip
    (folder / "spm.model").write_bytes(model.getvalue())
    tokenizer = DebertaV2Tokenizer(str(folder / "spm.model"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = DebertaV2Config(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=2 * width, relative_attention=True, position_buckets=16, max_relative_positions=-1,
        pos_att_type=["p2c", "c2p"], position_biased_input=False, norm_rel_ebd="layer_norm", share_att_key=True,
        type_vocab_size=0, initializer_range=0.2,
    )  # fmt: skip
    DebertaV2Model(config).save_pretrained(folder)
    return folder


def rows(n: int = 60, seed: int = 2, raters: int = 12) -> list[dict[str, object]]:
    """Rows of judgments: how far a summary carries an opinion is how many of its words it has."""
    rng = random.Random(seed)
    found = []
    for place in range(n):
        opinion = text(rng, 6)
        for _ in range(2):
            summary = text(rng, rng.randint(5, 20))
            shared = len(set(opinion.split()) & set(summary.split())) / len(set(opinion.split()))
            label = round(1 + 4 * shared)
            found.append(
                {"question": QUESTIONS[place % 3], "opinion": opinion, "summary": summary,
                 "rater": f"r{place % raters}", "instance": f"i{place}", "rep": label,
                 "inf": min(5, 1 + len(summary.split()) // 4), "neu": rng.randint(1, 5),
                 "pol": "" if place % 7 == 0 else label}
            )  # fmt: skip
    return found


def records_file(path: Path, n: int = 60) -> Path:
    """These rows as a CSV file."""
    made = rows(n)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)
    return path


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    place = asked.parse_args().folder
    base(place / "base")
    records_file(place / "records.csv")
