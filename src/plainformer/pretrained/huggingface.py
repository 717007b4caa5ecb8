"""Models in local folders, as Hugging Face's ``save_pretrained`` writes them."""

import json
import re
from pathlib import Path

import numpy as np

from plainformer import gpt2, llama
from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.mlp import MLP
from plainformer.normalization import LayerNorm
from plainformer.pretrained import safetensors_file, tokenizer, weights
from plainformer.pretrained.weights import Names, Sizes, Weights, head_sizes, setting, size
from plainformer.settings import number, token_ids

# Settings that change the arithmetic: the one value that our models have. A file may leave them out.
GPT2_FIXED = {
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
LLAMA_FIXED = {"mlp_bias": False, "sliding_window": None, "quantization_config": None}
# Constants that old files hold beside the weights: the causal mask and the rotary frequencies.
CONSTANTS = re.compile(r"\.attn\.(masked_)?bias$|\.rotary_emb\.inv_freq$")

LAYER = "model.layers.{}."
NAMES = Names(
    "model.embed_tokens",
    LAYER + "input_layernorm",
    LAYER + "self_attn.q_proj",
    LAYER + "self_attn.k_proj",
    LAYER + "self_attn.v_proj",
    LAYER + "self_attn.o_proj",
    LAYER + "post_attention_layernorm",
    LAYER + "mlp.gate_proj",
    LAYER + "mlp.up_proj",
    LAYER + "mlp.down_proj",
    "model.norm",
    "lm_head",
)


def load(folder, dtype=np.float32):
    """The model and tokenizer of a folder with a GPT-2 or a Llama; see ``load_gpt2`` and ``load_llama``."""
    file, config = read_config(folder)
    loaders = {"gpt2": load_gpt2, "llama": load_llama}
    kind = setting(file, config, "model_type")
    if kind not in list(loaders):  # a list may hold what cannot be a key
        raise ValueError(f"{file}: model_type must be gpt2 or llama, got {kind}")
    return loaders[kind](folder, dtype)


def load_gpt2(folder, dtype=np.float32):
    """The ``gpt2.GPT2`` of a folder, and its tokenizer (None if there is no tokenizer.json).

    Every constant comes from config.json. Weights stored in ``dtype`` stay in the file and are mapped into
    memory. Raises OSError if a file is missing, ValueError for a missing key, a setting that our GPT-2 does
    not have, and wrong tensors.
    """
    file, config = read_config(folder)
    fixed(file, config, {"model_type": "gpt2", "activation_function": "gelu_new"}, GPT2_FIXED)
    layers, width, heads, vocabulary, context = (
        size(file, config, key) for key in ("n_layer", "n_embd", "n_head", "vocab_size", "n_positions")
    )
    hidden = 4 * width if config.get("n_inner") is None else size(file, config, "n_inner")
    eps = number(file, "layer_norm_epsilon", setting(file, config, "layer_norm_epsilon"))
    head_width(file, width, heads)
    source, tied = read_weights(folder, config, dtype)
    settings = gpt2.Config(context, heads, eps)
    return gpt2_model(source, settings, layers, vocabulary, width, hidden, tied), read_tokenizer(
        folder, config
    )


def gpt2_model(source, settings, layers, vocabulary, width, hidden, tied):
    """The model of a file. With ``tied`` there is no head beside the embedding."""
    prefix = (
        "transformer." if "transformer.wte.weight" in source.tensors else ""
    )  # saved with its head, or without
    embedding = source.take(f"{prefix}wte.weight", vocabulary, width)
    positions = source.take(f"{prefix}wpe.weight", settings.context, width)
    blocks = tuple(gpt2_block(source, f"{prefix}h.{layer}", width, hidden) for layer in range(layers))
    norm = layer_norm(source, f"{prefix}ln_f", width)
    head = None if tied else source.take("lm_head.weight", vocabulary, width).T
    source.finish()
    return gpt2.GPT2(settings, embedding, positions, blocks, norm, head)


def gpt2_block(source, name, width, hidden):
    """One layer. GPT-2's matrices are stored (in, out), those of queries, keys and values side by side."""

    def linear(part, inputs, outputs):
        weight = source.take(f"{name}.{part}.weight", inputs, outputs)
        return Linear(weight, source.take(f"{name}.{part}.bias", outputs))

    weight, bias = linear("attn.c_attn", width, 3 * width)
    inputs = map(Linear, np.split(weight, 3, axis=1), np.split(bias, 3))  # views
    attention = Attention(*inputs, linear("attn.c_proj", width, width))
    mlp = MLP(linear("mlp.c_fc", width, hidden), linear("mlp.c_proj", hidden, width))
    norms = (layer_norm(source, f"{name}.{part}", width) for part in ("ln_1", "ln_2"))
    return gpt2.Block(next(norms), attention, next(norms), mlp)


def layer_norm(source, name, width):
    """Gain and bias of one norm."""
    return LayerNorm(source.take(f"{name}.weight", width), source.take(f"{name}.bias", width))


def load_llama(folder, dtype=np.float32):
    """The ``llama.Llama`` of a folder, and its tokenizer; otherwise as ``load_gpt2``."""
    file, config = read_config(folder)
    fixed(file, config, {"model_type": "llama", "hidden_act": "silu"}, LLAMA_FIXED)
    width, heads, groups, hidden = (
        size(file, config, key)
        for key in ("hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size")
    )
    layers, vocabulary, context = (
        size(file, config, key) for key in ("num_hidden_layers", "vocab_size", "max_position_embeddings")
    )
    each = (
        head_width(file, width, heads) if config.get("head_dim") is None else size(file, config, "head_dim")
    )
    eps = number(file, "rms_norm_eps", setting(file, config, "rms_norm_eps"))
    settings = llama.Config(context, heads, eps, rotary_base(file, config), pairing="halves")
    sizes = Sizes(layers, vocabulary, width, hidden, *head_sizes(file, heads, groups, each))
    source, tied = read_weights(folder, config, dtype)
    bias = switch(file, config, "attention_bias")
    return weights.llama(source, NAMES, sizes, settings, tied, bias), read_tokenizer(folder, config)


def rotary_base(file, config):
    """The base of the rotary angles: in an object of its own, or in older files beside the other keys."""
    places = {str(file): config}
    for key in ("rope_parameters", "rope_scaling"):
        if config.get(key) is not None:
            places[f"{file}: {key}"] = rotary_object(file, key, config[key])
    for place, rotary in places.items():
        fixed(place, rotary, {}, {"partial_rotary_factor": 1.0})
    bases = {
        number(place, "rope_theta", rotary["rope_theta"], above=True)
        for place, rotary in places.items()
        if rotary.get("rope_theta") is not None
    }
    if len(bases) > 1:
        raise ValueError(f"{file}: rope_theta must be one number, got {sorted(bases)}")
    return bases.pop() if bases else setting(file, config, "rope_theta")


def rotary_object(file, key, rotary):
    """The settings of rotary positions in an object, of which ours are the default."""
    if not isinstance(rotary, dict):
        raise ValueError(f"{file}: {key} must be an object, got {rotary!r}")
    kind = "type" if "type" in rotary and "rope_type" not in rotary else "rope_type"  # its older name
    fixed(f"{file}: {key}", rotary, {kind: "default"}, {})
    return rotary


def read_config(folder):
    """The path of a folder's config.json and what stands in it."""
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: no folder of a model: it holds no config.json")
    if path.with_name("adapter_config.json").exists():
        raise ValueError(f"{folder}: an adapter lies beside the model: merge it into the weights first")
    return path, read_json(path)


def read_json(path):
    """The object in a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: must hold an object, got {type(content).__name__}")
    return content


def fixed(file, config, required, optional):
    """ValueError unless the settings have the values that our models have; optional ones may be left out."""
    for key, value in (required | optional).items():
        given = setting(file, config, key) if key in required else config.get(key, value)
        if given != value:
            raise ValueError(f"{file}: {key} must be {value}, got {given}: another kind of model")


def switch(file, config, key):
    """A setting that is true or false; None if it is left out."""
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{file}: {key} must be true or false, got {value!r}")
    return value


def head_width(file, width, heads):
    """The width of one head."""
    if width % heads:
        raise ValueError(f"{file}: {heads} heads do not divide a width of {width}")
    return width // heads


def read_weights(folder, config, dtype):
    """The tensors of a folder, and whether the head is the embedding: as the config says, else if there is no
    head.
    """
    file, tensors = read_tensors(folder, dtype)
    tied = switch(Path(folder) / "config.json", config, "tie_word_embeddings")
    tied = "lm_head.weight" not in tensors if tied is None else tied
    if tied:
        tensors.pop("lm_head.weight", None)
    return Weights(file, tensors), tied


def read_tensors(folder, dtype):
    """The path of a folder's safetensors file and its tensors; those of all its parts if it was cut into
    several.
    """
    path = Path(folder) / "model.safetensors"
    index = path.with_name("model.safetensors.index.json")
    if path.exists() or not index.exists():
        return path, safetensors_file.read(path, dtype, skip=CONSTANTS)[0]
    places = part_names(index)
    tensors = {}
    for part in sorted(set(places.values())):
        for name, tensor in safetensors_file.read(index.with_name(part), dtype, skip=CONSTANTS)[0].items():
            if places.get(name) != part:
                facts = f"stands in {part}, its place in the index is {places.get(name)}"
                raise ValueError(f"{index}: the tensor {name} {facts}")
            tensors[name] = tensor
    return index, tensors


def part_names(index):
    """For each tensor the name of its file, as an index tells it."""
    names = setting(index, read_json(index), "weight_map")
    if not isinstance(names, dict):
        raise ValueError(f"{index}: weight_map must be an object, got {names!r}")
    for name in names.values():
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise ValueError(f"{index}: weight_map must name files of its folder, got {name!r}")
    return names


def read_tokenizer(folder, config):
    """The tokenizer of a folder, None if it has no tokenizer.json."""
    path = Path(folder) / "tokenizer.json"
    stop = stop_ids(path, config)
    return tokenizer.from_file(path, stop) if path.exists() else None


def stop_ids(path, config):
    """The ids that end a text: as generation_config.json says, which lies beside ``path``, else as the config
    says.
    """
    file = path.with_name("generation_config.json")
    settings = read_json(file) if file.is_file() else {}
    if settings.get("eos_token_id") is None:
        file, settings = path.with_name("config.json"), config
    stop = settings.get("eos_token_id")
    stop = [] if stop is None else stop if isinstance(stop, list) else [stop]
    return token_ids(file, "eos_token_id", stop)
