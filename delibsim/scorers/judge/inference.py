"""Scores of a trained judge: each triple once, in batches of like length, kept as they come."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.summary import DIMENSIONS, Triple
from delibsim.measures.summaries.prediction import normalised
from delibsim.scorers.judge.checkpoint import (
    LABELS,
    CheckpointRecord,
    base_tokenizer,
    encode,
    load_judge,
    read_record,
    unchanged,
)
from delibsim.scorers.neural import batches, key_of, need_device

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
