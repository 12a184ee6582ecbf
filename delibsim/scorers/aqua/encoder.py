"""The twenty adapters over one encoder in one pass, in which what they share is computed once."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from delibsim.scorers.neural import batches

DOUBT = 0.2
"""Logits: where the two best labels are closer than this in bfloat16, the label is computed again
in float32.
"""
TOKENS = {"cpu": 512, "cuda": 8192}
"""Tokens of text in one batch, padding included; every adapter has a copy of them."""


class Encoder:
    """The adapters `names` of an adapters.BertAdapterModel, and their heads, as one computation on
    one device.

    precision "float32" computes everything in it. "bfloat16" is faster where the processor has
    instructions for it: labels that are a near tie are computed again in float32, so that labels
    are those of float32.
    """

    def __init__(
        self, model: Any, names: Sequence[str], device: str = "cpu", precision: str = "float32"
    ) -> None:
        self._device = device
        self.longest: int = model.config.max_position_embeddings
        self._exact = _Stack(model, names, torch.float32, device)
        self._fast: _Stack | None = None
        if precision == "bfloat16":
            self._fast = _Stack(model, names, torch.bfloat16, device)
        self._tried = False

    def logits(
        self, texts: Sequence[Sequence[int]], tokens: int | None = None
    ) -> Iterator[tuple[list[int], Tensor]]:
        """For one batch after another, the shortest texts first: which texts, and their logits
        (texts by adapters by labels).

        `texts` are token ids with the special tokens; `tokens` is the size of a batch.
        """
        lengths = [len(text) for text in texts]
        for batch in batches(lengths, tokens or TOKENS[self._device]):
            with torch.inference_mode():
                ids = [torch.tensor(texts[i], device=self._device) for i in batch]
                logits = self._logits(ids).cpu()
                yield batch, logits

    def _logits(self, texts: list[Tensor]) -> Tensor:
        everybody = torch.arange(self._exact.adapters, device=self._device)
        if self._fast is None:
            return self._exact(texts, everybody)
        logits = self._fast(texts, everybody)
        best = logits.topk(2).values
        doubtful = best[..., 0] - best[..., 1] < DOUBT
        if not self._tried:
            # The first text of all is computed whole in both, to see how far they are apart.
            doubtful[0], self._tried = True, True
        again = logits.clone()
        for i, text in enumerate(texts):
            which = doubtful[i].nonzero().flatten()
            if len(which):
                again[i, which] = self._exact([text], which)[0]
        error = (again - logits).abs().max()
        if error > DOUBT / 2:  # bfloat16 errs more in this model than a near tie allows for
            self._fast = None
            return self._exact(texts, everybody)
        return again


class _Stack:
    """Embeddings, layers and heads in one number format."""

    def __init__(self, model: Any, names: Sequence[str], dtype: torch.dtype, device: str) -> None:
        self._embeddings = model.bert.embeddings.to(device)
        self._dtype = dtype
        self.adapters = len(names)
        self._layers = [_Layer(layer, names, dtype, device) for layer in model.bert.encoder.layer]
        heads = [model.heads[name] for name in names]
        self._hidden = _Each([head[1] for head in heads], torch.float32, device)
        self._labels = _Each([head[4] for head in heads], torch.float32, device)

    def __call__(self, texts: Sequence[Tensor], which: Tensor) -> Tensor:
        """Logits, texts by adapters of `which` by labels."""
        ids = torch.nn.utils.rnn.pad_sequence(list(texts), batch_first=True)
        lengths = torch.tensor([len(text) for text in texts], device=ids.device)
        mask = None
        if lengths.min() < ids.shape[1]:
            places = torch.arange(ids.shape[1], device=ids.device)
            mask = (places < lengths[:, None])[:, None, None]
        x = self._embeddings(input_ids=ids).to(self._dtype)[None]
        for i, layer in enumerate(self._layers):
            x = layer(x, mask, which, last=i == len(self._layers) - 1)
        first = x[:, :, 0].float()
        return self._labels(torch.tanh(self._hidden(first, which)), which).transpose(0, 1)


class _Layer:
    """One layer of BERT with the bottlenecks of all adapters behind its feed-forward part.

    With x before that part, y behind it and u = LN(y + x), the layer gives LN(up(relu(down(u))) + y
    + x); see Pfeiffer et al. (2021), AdapterFusion, https://arxiv.org/abs/2005.00247.
    """

    def __init__(self, layer: Any, names: Sequence[str], dtype: torch.dtype, device: str) -> None:
        attention = layer.attention.self
        bottlenecks = [layer.output.adapters[name] for name in names]

        def dense(*modules: Any) -> _Dense:
            weights = torch.cat([module.weight for module in modules])
            biases = torch.cat([module.bias for module in modules])
            return _Dense(weights, biases, dtype, device)

        self._attention_heads = attention.num_attention_heads
        self._query = dense(attention.query)
        self._key_value = dense(attention.key, attention.value)
        self._attended = dense(layer.attention.output.dense)
        self._wide = dense(layer.intermediate.dense)
        self._narrow = dense(layer.output.dense)
        self._norm_attended = _Norm(layer.attention.output.LayerNorm, dtype, device)
        self._norm = _Norm(layer.output.LayerNorm, dtype, device)
        self._down = _Each([b.adapter_down[0] for b in bottlenecks], dtype, device)
        self._up = _Each([b.adapter_up for b in bottlenecks], dtype, device)

    def __call__(self, x: Tensor, mask: Tensor | None, which: Tensor, last: bool) -> Tensor:
        """From (copies, texts, tokens, width) to (adapters of `which`, texts, tokens, width).

        The first layer has one copy, which all adapters share. Of the last only the first token is
        read, so no other is computed.
        """
        keys = self._by_head(self._key_value(x), 2)
        x_read = x[:, :, :1] if last else x
        query = self._by_head(self._query(x_read), 1)
        seen = None if mask is None else mask.repeat(len(x), 1, 1, 1)
        attended = F.scaled_dot_product_attention(query[0], keys[0], keys[1], attn_mask=seen)
        attended = attended.transpose(1, 2).reshape(x_read.shape)
        x = self._norm_attended(self._attended(attended) + x_read)
        y = self._narrow(F.gelu(self._wide(x))) + x
        y = y.expand(len(which), *y.shape[1:])
        bottleneck = F.relu(self._down(self._norm(y).flatten(1, 2), which))
        return self._norm(self._up(bottleneck, which).view(y.shape) + y)

    def _by_head(self, x: Tensor, parts: int) -> Tensor:
        """From (copies, texts, tokens, parts x width) to (parts, copies x texts, heads, tokens,
        width of a head).
        """
        copies, texts, tokens, _ = x.shape
        split = x.view(copies * texts, tokens, parts, self._attention_heads, -1)
        return split.permute(2, 0, 3, 1, 4)


class _Dense:
    """A dense layer.

    On a CPU in float32 it is a 1x1 convolution, which oneDNN computes up to twice as fast as
    `F.linear`.
    """

    convolve = True

    def __init__(self, weight: Tensor, bias: Tensor, dtype: torch.dtype, device: str) -> None:
        self._weight = weight.detach().to(device, dtype)
        self._bias = bias.detach().to(device, dtype)
        self._convolved = self.convolve and dtype == torch.float32 and device == "cpu"
        if self._convolved:
            layout = torch.channels_last
            self._weight = self._weight[:, :, None, None].contiguous(memory_format=layout)

    def __call__(self, x: Tensor) -> Tensor:
        if not self._convolved:
            return F.linear(x, self._weight, self._bias)
        rows = x.reshape(1, -1, 1, x.shape[-1]).permute(0, 3, 1, 2)
        columns = F.conv2d(rows, self._weight, self._bias)
        return columns.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


class _Each:
    """A dense layer of every adapter, each on its own copy: (adapters, rows, in) to (adapters,
    rows, out).
    """

    def __init__(self, modules: Sequence[Any], dtype: torch.dtype, device: str) -> None:
        self._weights = torch.stack([m.weight.detach().T for m in modules]).to(device, dtype)
        self._biases = torch.stack([m.bias.detach()[None] for m in modules]).to(device, dtype)

    def __call__(self, x: Tensor, which: Tensor) -> Tensor:
        if len(which) == len(self._weights):
            return torch.baddbmm(self._biases, x, self._weights)
        return torch.baddbmm(self._biases[which], x, self._weights[which])


class _Norm:
    """Layer normalisation."""

    def __init__(self, norm: Any, dtype: torch.dtype, device: str) -> None:
        self._weight = norm.weight.detach().to(device, dtype)
        self._bias = norm.bias.detach().to(device, dtype)
        self._eps = norm.eps

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], self._weight, self._bias, self._eps)
