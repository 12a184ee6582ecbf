"""The network beside what is written out by hand and what is published."""

import math

import pytest

pytest.importorskip(
    "torch", reason="the extra judge is not installed; make test-judge installs it and runs this"
)

import numpy as np
import torch
from transformers import DebertaV2Config, DebertaV2Model, get_linear_schedule_with_warmup

from delibsim.scorers.judge.checkpoint import base_encoder, base_tokenizer
from delibsim.scorers.judge.network import Judge, masked_huber, padded

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


def exact_gelu(x):
    return np.array([one * 0.5 * (1 + math.erf(one / math.sqrt(2))) for one in x])


@pytest.mark.parametrize("activation", ["sigmoid", "none"])
def test_the_scores_are_those_of_the_head_written_out(base, activation):
    judge = Judge(base_encoder(base), activation).eval()
    tokens = base_tokenizer(base)("the tram is late")["input_ids"]
    batch = padded([tokens], 0)
    with torch.no_grad():
        hidden = judge.encoder(**batch).last_hidden_state[0, 0].numpy().astype(float)
        found = judge(**batch)["scores"][0].numpy()
    first, second = judge.head[1], judge.head[4]
    inner = first.weight.detach().numpy() @ hidden + first.bias.detach().numpy()
    outer = second.weight.detach().numpy() @ exact_gelu(inner) + second.bias.detach().numpy()
    expected = 1 / (1 + np.exp(-outer)) if activation == "sigmoid" else outer
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_head_of_the_published_width_has_its_number_of_weights():
    config = DebertaV2Config(
        vocab_size=40,
        hidden_size=768,
        num_hidden_layers=1,
        num_attention_heads=12,
        intermediate_size=32,
    )
    judge = Judge(DebertaV2Model(config))
    assert sum(one.numel() for one in judge.head.parameters()) == 296_836


def test_golden_numbers_of_the_head_and_of_the_loss():
    gelu = 0.35 * 0.5 * (1 + math.erf(0.35 / math.sqrt(2)))
    assert gelu == pytest.approx(0.222891, abs=1e-6)
    assert 1 / (1 + math.exp(-(2 * gelu - 0.5))) == pytest.approx(0.486449, abs=1e-6)
    assert torch.nn.GELU()(torch.tensor(0.35)).item() == pytest.approx(gelu, abs=1e-6)
    zero = torch.zeros(1, 4)
    assert masked_huber(zero, torch.tensor([[0.1, -0.2, 0.3, 0.0]])).item() == pytest.approx(0.0175)
    for off, loss in ((0.25, 0.03125), (1.0, 0.5), (2.0, 1.5)):
        assert masked_huber(zero, torch.full((1, 4), off)).item() == pytest.approx(loss)


def test_a_missing_label_counts_nowhere():
    scores = torch.tensor([[0.5, 0.5, 0.5, 0.5]], requires_grad=True)
    labels = torch.tensor([[0.25, math.nan, 0.75, math.nan]])
    loss = masked_huber(scores, labels)
    loss.backward()
    assert loss.item() == pytest.approx(0.03125)
    assert scores.grad[0].tolist() == pytest.approx([0.125, 0.0, -0.125, 0.0])
    nothing = masked_huber(scores, torch.full((1, 4), math.nan))
    assert nothing.item() == 0


def test_the_schedule_is_the_published_one():
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=4e-5)
    rate = get_linear_schedule_with_warmup(optimizer, 2025, 13_500).lr_lambdas[0]
    found = [4e-5 * rate(step) for step in (1000, 2025, 7500, 13_500)]
    assert found == pytest.approx([1.975309e-5, 4e-5, 2.091503e-5, 0], abs=1e-11)


def test_padding_changes_no_score(base):
    judge = Judge(base_encoder(base)).eval()
    tokenizer = base_tokenizer(base)
    short, long = tokenizer("we pay")["input_ids"], tokenizer("people pay more " * 9)["input_ids"]
    with torch.no_grad():
        alone = judge(**padded([short], tokenizer.pad_token_id))["scores"][0]
        beside = judge(**padded([short, long], tokenizer.pad_token_id))["scores"][0]
    assert alone.tolist() == pytest.approx(beside.tolist(), abs=1e-5)


def test_the_encoder_gives_what_its_layers_written_out_give(base):
    """Disentangled attention, by its formulas in numpy: content to content, content to position and
    position to content (He et al. 2021, https://arxiv.org/abs/2006.03654).
    """
    encoder = base_encoder(base).double().eval()
    ids = torch.randint(4, 30, (1, 40), generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        found = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
    np.testing.assert_allclose(found.numpy(), written_out(encoder, ids[0].numpy()), atol=1e-6)


def written_out(encoder, ids):
    own = {key: value.double().numpy() for key, value in encoder.state_dict().items()}
    heads, span = encoder.config.num_attention_heads, encoder.config.position_buckets
    most = encoder.config.max_position_embeddings

    def dense(x, name):
        return x @ own[f"{name}.weight"].T + own[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-7)
        return x * own[f"{name}.weight"] + own[f"{name}.bias"]

    def parted(x):
        return x.reshape(len(x), heads, -1).transpose(1, 0, 2)

    x = norm(own["embeddings.word_embeddings.weight"][ids], "embeddings.LayerNorm")
    n = len(ids)
    table = norm(own["encoder.rel_embeddings.weight"], "encoder.LayerNorm")
    apart = np.arange(n)[:, None] - np.arange(n)[None]
    middle = span // 2
    far = np.maximum(np.abs(apart), 1)
    logs = (
        np.ceil(
            np.log(np.maximum(far, middle) / middle) / np.log((most - 1) / middle) * (middle - 1)
        )
        + middle
    )
    bucket = np.where(np.abs(apart) <= middle, apart, logs * np.sign(apart)).astype(int)
    for layer in range(encoder.config.num_hidden_layers):
        place = f"encoder.layer.{layer}"
        query, key, value = (
            parted(dense(x, f"{place}.attention.self.{name}_proj"))
            for name in ("query", "key", "value")
        )
        position_key = parted(dense(table, f"{place}.attention.self.key_proj"))
        position_query = parted(dense(table, f"{place}.attention.self.query_proj"))
        scale = np.sqrt(query.shape[-1] * 3)
        attention = query @ key.transpose(0, 2, 1) / scale
        to_place = np.clip(bucket + span, 0, 2 * span - 1)
        c2p = query @ position_key.transpose(0, 2, 1)
        p2c = key @ position_query.transpose(0, 2, 1)
        back = np.clip(-bucket + span, 0, 2 * span - 1)
        for head in range(heads):
            attention[head] += np.take_along_axis(c2p[head], to_place, 1) / scale
            attention[head] += np.take_along_axis(p2c[head], back, 1).T / scale
        shares = np.exp(attention - attention.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(n, -1)
        y = norm(
            dense(mixed, f"{place}.attention.output.dense") + x,
            f"{place}.attention.output.LayerNorm",
        )
        wide = dense(y, f"{place}.intermediate.dense")
        wide = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(dense(wide, f"{place}.output.dense") + y, f"{place}.output.LayerNorm")
    return x
