"""GPT-2's decoder: LayerNorm, learned positions, multi-head attention, GELU (Radford et al. 2019)."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from plainformer.attention import Attention
from plainformer.cache import Kept, begin, causal_attention
from plainformer.embedding import embed
from plainformer.linear import Linear, linear
from plainformer.mlp import MLP, mlp
from plainformer.normalization import LayerNorm, layer_norm
from plainformer.settings import generator, number, whole
from plainformer.shapes import Array, shaped


class Config(NamedTuple):
    """The settings that the weights do not tell."""

    context: Annotated[int, whole]  # the longest sequence
    heads: Annotated[int, "H"]
    eps: Annotated[float, number]


class Block(NamedTuple):
    """One of the L layers."""

    attention_norm: LayerNorm
    attention: Annotated[Attention, "C=E"]
    mlp_norm: LayerNorm
    mlp: MLP


class GPT2(NamedTuple):
    """The whole model."""

    config: Config
    embedding: Annotated[Array, "(V, E)"]
    positions: Annotated[Array, "(T, E)"]
    blocks: tuple[Block, ...]
    norm: LayerNorm
    head: Annotated[Array, "(E, V)?"] = None  # None: tied to the embedding, which is then the head too


def forward(ids, model, cache=None, last=False):
    """Read token ids, (..., T); return the logits of what comes next, (..., T, V), and the cache to go on
    with.

    ``cache`` is what an earlier call returned: it holds the positions before these. ``last`` gives the logits
    of the last position only, (..., 1, V). Raises ValueError for ids out of range, more tokens than the
    context, and the cache of another model or batch, TypeError for another kind of model or cache.
    """
    cache, positions = begin("gpt2.forward", ids, model, GPT2, cache)
    x = embed(ids, model.embedding) + embed(positions, model.positions)
    kept = []
    for params, past in zip(model.blocks, cache):
        x, now = block(x, params, model.config, past)
        kept.append(now)
    return logits(x[..., -1:, :] if last else x, model), tuple(kept)


@shaped("(..., T, E), Block, Config, Kept? -> (..., T, E), (..., G, S+T, D), (..., G, S+T, D)")
def block(x, params, config, past: Kept | None = None):
    """One layer: each position reads those before it, then thinks by itself; both are added to the stream.

    ``past`` is what this layer kept of the positions before x. Returns the rows and the Kept to go on with.
    """
    normed = layer_norm(x, *params.attention_norm, config.eps)
    mixed, kept = causal_attention(normed, params.attention, config.heads, past)
    x = x + mixed
    x = x + mlp(layer_norm(x, *params.mlp_norm, config.eps), params.mlp)
    return x, kept


def logits(x, model):
    """What rows of the stream, (..., E), say of the next token, (..., V): the last norm, then the head."""
    x = layer_norm(x, *model.norm, model.config.eps)
    return linear(x, model.embedding.T if model.head is None else model.head)


def initialize(config, vocabulary, width, layers, rng, std=0.02):
    """A model of NumPy arrays to begin training with; head and embedding are tied, F = 4E.

    Matrices are normal with deviation ``std``, those that add to the residual stream with std/√(2L), since 2L
    of them add up (Radford et al. 2019, section 2.3); gains are 1, biases 0. ``rng`` is a
    ``numpy.random.Generator``; TypeError for anything else, ValueError for sizes that do not fit.
    """
    generator("gpt2.initialize", "rng", rng)
    sizes = {"vocabulary": vocabulary, "width": width, "layers": layers, "config.heads": config.heads}
    for name, size in sizes.items():
        whole("gpt2.initialize", name, size)
    if width % config.heads:
        facts = f"width = {width} must be a multiple of config.heads = {config.heads}"
        raise ValueError(f"gpt2.initialize: {facts}")
    residual = number("gpt2.initialize", "std", std) / math.sqrt(2 * layers)
    embedding, positions = (
        rng.normal(scale=std, size=(rows, width)) for rows in (vocabulary, config.context)
    )
    blocks = tuple(random_block(width, std, residual, rng) for _ in range(layers))
    return GPT2(config, embedding, positions, blocks, plain_norm(width))


def random_block(width, std, residual, rng):
    """A block to begin training with; the maps that add to the stream have the deviation ``residual``."""

    def linear_map(rows, columns, std=std):
        return Linear(rng.normal(scale=std, size=(rows, columns)), np.zeros(columns))

    query, key, value = (linear_map(width, width) for _ in range(3))
    attention = Attention(query, key, value, linear_map(width, width, residual))
    mlp = MLP(linear_map(width, 4 * width), linear_map(4 * width, width, residual))
    return Block(plain_norm(width), attention, plain_norm(width), mlp)


def plain_norm(width):
    """The layer norm that training begins with: it only normalizes."""
    return LayerNorm(np.ones(width), np.zeros(width))
