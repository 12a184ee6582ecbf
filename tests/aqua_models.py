"""Tiny models in the published layout, for the tests and to try things by hand: python
tests/aqua_models.py FOLDER [--older].

An encoder with 2 layers of width 32, twenty adapters with heads, and a MarianMT model that has
learnt to translate WORDS. Weights are random where nothing is learnt, so labels mean nothing;
everything else is as it is with the real ones.
"""

import argparse
import json
import logging
import random
from pathlib import Path

import sentencepiece
import torch
from adapters import BertAdapterModel, SeqBnConfig
from transformers import BertConfig, BertTokenizerFast, MarianConfig, MarianMTModel, MarianTokenizer

from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua.setup import FOLDERS

torch.set_num_threads(1)  # so small, they are slower in two, and very slow beside other work

WORDS = dict(
    zip(
        "the bus is late we want a tram it costs money people need schools roads are loud i agree".split(),
        "der bus ist spät wir wollen eine bahn sie kostet geld menschen brauchen schulen straßen"
        " sind laut ich zustimme".split(),
        strict=True,
    )
)
"""What the translator knows, word by word; "it" and "i" are two words."""
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ0123456789.,;:!?'\"()-–"


def encoder(folder: Path, seed: int = 1) -> BertAdapterModel:
    """A tiny encoder with its tokeniser, saved in a folder as models are on the Hub."""
    torch.manual_seed(seed)
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *LETTERS,
        *(f"##{letter}" for letter in LETTERS),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(
        str(folder / "vocab.txt"), do_lower_case=False, model_max_length=128
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        initializer_range=0.2,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    model = BertAdapterModel(config)
    model.save_pretrained(folder)
    return model


def with_adapters(model: BertAdapterModel, names=INDICATORS) -> BertAdapterModel:
    """The encoder with an adapter and a head for each indicator, loud enough that labels differ."""
    for name in names:
        model.add_adapter(name, config=SeqBnConfig(reduction_factor=4))
        model.add_classification_head(name, num_labels=4, layers=2)
    for key, parameter in model.named_parameters():
        if ".adapters." in key or key.startswith("heads."):
            torch.nn.init.normal_(parameter, std=0.4)
    return model.eval()


def save(
    model: BertAdapterModel, folder: Path, older: bool = False, safetensors: bool = False
) -> None:
    """One folder an indicator: as the authors' repository has them now, or, `older`, as
    adapter-transformers 3 wrote them.
    """
    for name in INDICATORS:
        place = folder / (name if older else FOLDERS[name])
        place.mkdir(parents=True)
        model.save_adapter(str(place), name, with_head=True, use_safetensors=safetensors)
        if older:
            _age(place)


def _age(place: Path) -> None:
    """Make what adapters 1 saved what adapter-transformers 3.2.1 saved: version, class, options and
    names of weights.
    """
    for file in ("adapter_config.json", "head_config.json"):
        plain = json.loads((place / file).read_text(encoding="utf-8"))
        plain |= {"version": "3.2.1", "model_class": "BertModelWithHeads"}
        for option in ("init_weights_seed", "dropout", "stochastic_depth", "dropout_prob"):
            plain["config"].pop(option, None)
        (place / file).write_text(json.dumps(plain), encoding="utf-8")
    file = place / "pytorch_adapter.bin"
    weights = torch.load(file, weights_only=True)
    torch.save(
        {
            key.replace(".output.adapters.", ".output.layer_text_task_adapters."): value
            for key, value in weights.items()
        },
        file,
    )


def translator(folder: Path, seed: int = 1) -> None:
    """A MarianMT model that translates WORDS word by word, trained here in a few seconds."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    folder.mkdir(parents=True)
    pairs = [draw.choices(list(WORDS), k=draw.randint(1, 5)) for _ in range(3000)]
    lines = [
        [" ".join(words) + ".", " ".join(WORDS[word] for word in words) + "."] for words in pairs
    ]
    vocabulary = {"</s>": 0, "<unk>": 1}
    for side, name in enumerate(("source", "target")):
        (folder / f"{name}.txt").write_text(
            "\n".join(line[side] for line in lines), encoding="utf-8"
        )
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / f"{name}.txt"), model_prefix=str(folder / name), vocab_size=70, model_type="unigram",
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
        for i in range(pieces.get_piece_size()):
            vocabulary.setdefault(pieces.id_to_piece(i), len(vocabulary))
        (folder / f"{name}.model").rename(folder / f"{name}.spm")
        for rest in ("txt", "vocab"):
            (folder / f"{name}.{rest}").unlink()
    vocabulary["<pad>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="de",
    )
    size, pad = len(vocabulary), vocabulary["<pad>"]
    config = MarianConfig(
        vocab_size=size, d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=64, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None, init_std=0.1,
    )  # fmt: skip
    model = MarianMTModel(config)
    _train(model, tokenizer, lines, pad)
    model.generation_config.update(num_beams=2, max_length=64)
    tokenizer.save_pretrained(folder)
    model.eval().save_pretrained(folder)


def _train(model, tokenizer, lines, pad, steps=300):
    given = tokenizer(
        [source for source, _ in lines],
        text_target=[target for _, target in lines],
        return_tensors="pt",
        padding=True,
    )
    given["labels"][given["labels"] == pad] = -100
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 2e-3, total_steps=steps, pct_start=0.1
    )
    for _ in range(steps):
        batch = torch.randint(0, len(lines), (64,))
        loss = model(**{name: rows[batch] for name, rows in given.items()}).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    assert loss.item() < 0.1, "the translator has learnt nothing"


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    reader = argparse.ArgumentParser()
    reader.add_argument("folder", type=Path)
    reader.add_argument("--older", action="store_true")
    asked = reader.parse_args()
    save(
        with_adapters(encoder(asked.folder / "bert-base-multilingual-cased")),
        asked.folder / "trained adapters",
        asked.older,
    )
    translator(asked.folder / "opus-mt-en-de")
    print(f"tiny models in {asked.folder}")  # noqa: T201
