"""From the named tensors of a file to a model's parameters. Missing tensors are errors, and so are those left
over.
"""

from typing import NamedTuple

from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.llama import Block, Llama
from plainformer.mlp import SwiGLU
from plainformer.settings import whole


def setting(file, settings, key):
    """The value of a key; ValueError if the file does not have it: no constant is guessed."""
    if settings.get(key) is None:
        raise ValueError(f"{file}: the key {key} is missing")
    return settings[key]


def size(file, settings, key):
    """A setting that is a whole number of at least 1."""
    return whole(file, key, setting(file, settings, key))


def head_sizes(file, heads, groups, width):
    """The widths of all key/value heads and of all query heads together."""
    if heads % groups:
        raise ValueError(f"{file}: {heads} query heads must be a multiple of {groups} key/value heads")
    if width % 2:
        raise ValueError(f"{file}: a head with rotary positions must have an even width, got {width}")
    return groups * width, heads * width


class Weights:
    """The tensors of a file, a dictionary by name. Each is taken once, so that at the end none may be left
    over.
    """

    def __init__(self, file, tensors):
        self.file, self.tensors = file, dict(tensors)

    def take(self, name, *shape):
        """The tensor of this name; ValueError if it is missing or has another shape."""
        if name not in self.tensors:
            raise ValueError(f"{self.file}: the tensor {name} is missing")
        tensor = self.tensors.pop(name)
        if tensor.shape != shape:
            raise ValueError(f"{self.file}: the tensor {name} must have shape {shape}, got {tensor.shape}")
        return tensor

    def finish(self):
        """ValueError if a tensor was not taken: the file's model does something that ours does not."""
        if self.tensors:
            raise ValueError(f"{self.file}: the model has no place for {', '.join(sorted(self.tensors)[:3])}")


class Names(NamedTuple):
    """What a kind of file calls the tensors of a Llama. A layer's names hold ``{}`` for its number."""

    embedding: str
    attention_norm: str
    query: str
    key: str
    value: str
    output: str
    mlp_norm: str
    gate: str
    up: str
    down: str
    norm: str
    head: str


class Sizes(NamedTuple):
    """How large a Llama is, in the letters of the shapes: layers, V, E, F, G*D and H*D."""

    layers: int
    vocabulary: int
    width: int
    hidden: int
    keys: int
    queries: int


def llama(weights, names, sizes, config, tied, bias=False):
    """The model of a file. Its matrices, stored (out, in), become transposed views: nothing is copied.

    With ``tied`` there is no head beside the embedding. ``bias``: whether the attention has biases.
    """
    embedding = weights.take(f"{names.embedding}.weight", sizes.vocabulary, sizes.width)
    # One after the other: a file may tell of more layers than the memory has room for names.
    numbered = (Names(*(name.format(layer) for name in names)) for layer in range(sizes.layers))
    blocks = tuple(llama_block(weights, layer, sizes, bias) for layer in numbered)
    norm = weights.take(f"{names.norm}.weight", sizes.width)
    head = None if tied else weights.take(f"{names.head}.weight", sizes.vocabulary, sizes.width).T
    weights.finish()
    return Llama(config, embedding, blocks, norm, head)


def llama_block(weights, names, sizes, bias):
    """One layer; the names already carry its number."""

    def matrix(name, inputs, outputs):
        return weights.take(f"{name}.weight", outputs, inputs).T

    def linear(name, inputs, outputs):
        return Linear(matrix(name, inputs, outputs), weights.take(f"{name}.bias", outputs) if bias else None)

    width, hidden = sizes.width, sizes.hidden
    attention = Attention(
        query=linear(names.query, width, sizes.queries),
        key=linear(names.key, width, sizes.keys),
        value=linear(names.value, width, sizes.keys),
        output=linear(names.output, sizes.queries, width),
    )
    mlp = SwiGLU(
        matrix(names.gate, width, hidden), matrix(names.up, width, hidden), matrix(names.down, hidden, width)
    )
    norms = (weights.take(f"{name}.weight", width) for name in (names.attention_norm, names.mlp_norm))
    return Block(next(norms), attention, next(norms), mlp)
