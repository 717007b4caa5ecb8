"""Llama models in GGUF, the file format of llama.cpp: settings, quantized tensors and the tokenizer in one
file.
"""

from pathlib import Path

import numpy as np

from plainformer.llama import Config
from plainformer.pretrained.weights import Names, Sizes, Weights, llama, setting, size
from plainformer.settings import number

NAMES = Names(
    "token_embd",
    "blk.{}.attn_norm",
    "blk.{}.attn_q",
    "blk.{}.attn_k",
    "blk.{}.attn_v",
    "blk.{}.attn_output",
    "blk.{}.ffn_norm",
    "blk.{}.ffn_gate",
    "blk.{}.ffn_up",
    "blk.{}.ffn_down",
    "output_norm",
    "output",
)


def read(path):
    """The file's fields and its tensors: two dictionaries. The tensors are dequantized to float32, (out, in).

    Raises ValueError for a file that is not GGUF, is cut short, or is quantized in a way that is not known.
    """
    import gguf  # takes a third of a second, and a model that was kept does not need it

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        reader = gguf.GGUFReader(path)
        fields = {
            name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")
        }
        tensors = {
            tensor.name: np.array(gguf.dequantize(tensor.data, tensor.tensor_type))
            for tensor in reader.tensors
        }
    except (ValueError, LookupError, OverflowError, NotImplementedError) as error:
        raise ValueError(f"{path}: not a whole GGUF file: {error}") from error
    return fields, tensors


def model(file, fields, tensors):
    """The Llama that fields and tensors, as ``read`` gives them, describe. The ``file`` is named in errors.

    Raises ValueError for another architecture, a missing key, a setting that our Llama does not have, or
    wrong tensors.
    """
    architecture = setting(file, fields, "general.architecture")
    if architecture != "llama":
        raise ValueError(f"{file}: general.architecture must be llama, got {architecture}")
    for key in fields:
        if key.startswith(("llama.rope.scaling", "llama.attention.sliding_window", "llama.expert")):
            raise ValueError(f"{file}: the setting {key} is not supported")
    heads, groups, width = (
        size(file, fields, f"llama.{key}")
        for key in ("attention.head_count", "attention.head_count_kv", "rope.dimension_count")
    )
    eps, base = (
        number(str(file), f"llama.{key}", setting(file, fields, f"llama.{key}"), above=True)
        for key in ("attention.layer_norm_rms_epsilon", "rope.freq_base")
    )
    layers, vocabulary, rows, hidden, context = (
        size(file, fields, f"llama.{key}")
        for key in ("block_count", "vocab_size", "embedding_length", "feed_forward_length", "context_length")
    )
    sizes = Sizes(layers, vocabulary, rows, hidden, groups * width, heads * width)
    config = Config(context, heads, eps, base, pairing="neighbours")
    return llama(Weights(file, tensors), NAMES, sizes, config, tied="output.weight" not in tensors)
