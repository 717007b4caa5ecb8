"""A tiny model as GGUF and Hugging Face's folders hold it."""

import gguf
import numpy as np
from tokenizers import pre_tokenizers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ the", "2 0"]
TOKENS = SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet()) + [merge.replace(" ", "") for merge in MERGES]


def tiny_fields():
    """What a GGUF file says of a tiny Llama with the tokenizer of SmolLM2's kind."""
    return {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.context_length": 32,
        "llama.embedding_length": 8,
        "llama.feed_forward_length": 12,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 100000.0,
        "llama.rope.dimension_count": 6,
        "llama.vocab_size": len(TOKENS),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)),
        "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
    }


def tiny_tensors():
    """Random tensors of the sizes that ``tiny_fields`` tells, (out, in), in the order of the real file."""
    shapes = {"token_embd": (len(TOKENS), 8), "output_norm": (8,)}
    for layer in range(2):
        shapes |= {
            f"blk.{layer}.{name}": shape
            for name, shape in {
                "attn_norm": (8,),
                "ffn_down": (8, 12),
                "ffn_gate": (12, 8),
                "ffn_up": (12, 8),
                "ffn_norm": (8,),
                "attn_k": (12, 8),
                "attn_output": (8, 24),
                "attn_q": (24, 8),
                "attn_v": (12, 8),
            }.items()
        }
    rng = np.random.default_rng(0)
    return {f"{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_gguf(path, fields, tensors):
    """Write a GGUF file."""
    writer = gguf.GGUFWriter(path, fields["general.architecture"])
    kinds = {
        bool: writer.add_bool,
        int: writer.add_uint32,
        float: writer.add_float32,
        str: writer.add_string,
        list: writer.add_array,
    }
    for key, value in fields.items():
        if key != "general.architecture":
            kinds[type(value)](key, value)
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
