"""The network of a trained judge: an encoder, and a head that gives four scores.

First token of the last layer -> dropout -> linear to half the width -> GELU -> dropout -> linear to
4 -> sigmoid, or nothing. Source: Zhu et al. (2025), https://arxiv.org/abs/2510.05154.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from delibsim.domain.summary import DIMENSIONS

Activation = Literal["sigmoid", "none"]
DROPOUT = 0.1
DELTA = 1.0


class Judge(nn.Module):
    """Scores (texts x 4) of sequences of tokens.

    `encoder` gives `last_hidden_state` (texts x tokens x width).
    """

    def __init__(self, encoder: Any, activation: Activation = "sigmoid") -> None:
        super().__init__()
        width = encoder.config.hidden_size
        self.encoder = encoder
        self.activation = activation
        self.head = nn.Sequential(
            nn.Dropout(DROPOUT),
            nn.Linear(width, width // 2),
            nn.GELU(),
            nn.Dropout(DROPOUT),
            nn.Linear(width // 2, len(DIMENSIONS)),
        )

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor | None = None
    ) -> dict[str, Tensor]:
        """The scores and, where labels are given (NaN where missing), the loss."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        scores = self.head(hidden.last_hidden_state[:, 0])
        if self.activation == "sigmoid":
            scores = torch.sigmoid(scores)
        if labels is None:
            return {"scores": scores}
        return {"loss": masked_huber(scores, labels), "scores": scores}


def masked_huber(scores: Tensor, labels: Tensor) -> Tensor:
    """Huber's loss with delta 1, the mean over the labels that are there; 0 where none is."""
    there = ~torch.isnan(labels)
    wanted = torch.where(there, labels, scores.detach().to(labels.dtype))
    losses = nn.functional.huber_loss(
        scores.to(labels.dtype), wanted, reduction="none", delta=DELTA
    )
    return (losses * there).sum() / there.sum().clamp(min=1)


def padded(tokens: Sequence[Sequence[int]], padding: int) -> dict[str, Tensor]:
    """Sequences as one batch, as long as the longest of them."""
    longest = max(map(len, tokens))
    ids = torch.full((len(tokens), longest), padding, dtype=torch.long)
    mask = torch.zeros((len(tokens), longest), dtype=torch.long)
    for row, own in enumerate(tokens):
        ids[row, : len(own)] = torch.tensor(own, dtype=torch.long)
        mask[row, : len(own)] = 1
    return {"input_ids": ids, "attention_mask": mask}
