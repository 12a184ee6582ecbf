"""A language model of random weights, as transformers and llama.cpp read it: it says words at
random, ends now and then, and knows nothing.

    python tests/servers/tiny.py FOLDER
"""

import sys
from pathlib import Path

import gguf
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).parents[2]
WIDTH, LAYERS, HEADS, WINDOW = 64, 2, 2, 32768
VOCABULARY = 2000
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
ENDS, QUOTES = 0.22, 0.4
"""The logits of the end of a reply and of a quotation mark; those of other tokens lie around 0, and
the largest forty, among which a server draws, around 0.4.
"""


def tokenizer() -> Tokenizer:
    """Byte pairs learned from the guide."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet
    )
    made.train([str(page) for page in sorted((ROOT / "docs").glob("*.md"))], trainer)
    return made


def network(words: Tokenizer) -> LlamaForCausalLM:
    """Random weights, but for one constant of the stream, which makes some tokens likelier."""
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=words.get_vocab_size(),
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=WINDOW,
        eos_token_id=words.token_to_id(SPECIAL[0]),
        bos_token_id=None,
        pad_token_id=words.token_to_id(SPECIAL[0]),
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.do_sample = True  # else transformers draws nothing
    with torch.no_grad():
        model.model.embed_tokens.weight[:, 0] = 1.0
        model.lm_head.weight[:, 0] = 0.0
        constant = (WIDTH**0.5) * 0.98  # of the stream after its norm
        model.lm_head.weight[words.token_to_id(SPECIAL[0]), 0] = ENDS / constant
        model.lm_head.weight[words.token_to_id('"'), 0] = QUOTES / constant
        for name in SPECIAL[1:]:
            model.lm_head.weight[words.token_to_id(name), 0] = -20.0 / constant
    return model


def write_gguf(model: LlamaForCausalLM, words: Tokenizer, file: Path) -> None:
    """The same weights for llama.cpp."""
    import json

    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_name("tiny")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(words.get_vocab_size())
    described = json.loads(words.to_str())["model"]
    by_id = sorted(described["vocab"], key=described["vocab"].get)
    kinds = [gguf.TokenType.CONTROL if one in SPECIAL else gguf.TokenType.NORMAL for one in by_id]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(by_id)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in described["merges"]])
    writer.add_eos_token_id(words.token_to_id(SPECIAL[0]))
    writer.add_pad_token_id(words.token_to_id(SPECIAL[0]))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, LAYERS)
    for name, weight in model.state_dict().items():
        own = names.get_name(name, try_suffixes=(".weight", ".bias"))
        writer.add_tensor(own, weight.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(folder: Path) -> None:
    """Write the model in both forms."""
    words = tokenizer()
    model = network(words)
    model.save_pretrained(folder)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token=SPECIAL[0], pad_token=SPECIAL[0]
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    write_gguf(model, words, folder / "tiny.gguf")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
