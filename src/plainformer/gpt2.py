"""GPT-2's decoder: LayerNorm, learned positions, multi-head attention, an MLP with GELU (Radford et al.
2019).
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from plainformer.attention import Attention
from plainformer.cache import Cache, begin, cached_attention, exact
from plainformer.embedding import embed
from plainformer.linear import linear
from plainformer.mlp import MLP, mlp
from plainformer.normalization import LayerNorm, layer_norm
from plainformer.settings import generator, number, whole
from plainformer.shapes import Array, trusted


class Config(NamedTuple):
    """The settings that the weights do not tell."""

    context: int  # the longest sequence
    heads: int
    eps: float


class Block(NamedTuple):
    """One of the L layers."""

    attention_norm: LayerNorm
    attention: Attention
    mlp_norm: LayerNorm
    mlp: MLP


class GPT2(NamedTuple):
    """The whole model. Where embedding and head are tied, the head is a view of the embedding."""

    config: Config
    embedding: Annotated[Array, "(V, E)"]
    positions: Annotated[Array, "(T, E)"]
    blocks: tuple[Block, ...]
    norm: LayerNorm
    head: Annotated[Array, "(E, V)"]


def forward(ids, model, cache=None, last=False):
    """Read token ids, (..., T), and return the logits of what comes next, (..., T, V), and the cache to go on
    with.

    ``cache`` holds the positions read before; ``last`` gives the logits of the last position only, (..., 1,
    V). Raises ValueError for ids out of range, more tokens than the context, and a cache that another model
    or batch has made, TypeError for another kind of model or cache.
    """
    cache, positions = begin("gpt2.forward", ids, model, GPT2, cache)
    config, stores = model.config, []
    x = embed(ids, model.embedding) + embed(positions, model.positions)
    with trusted(cache.exact):
        for layer, block in enumerate(model.blocks):
            normed = layer_norm(x, *block.attention_norm, config.eps)
            mixed, store = cached_attention(normed, block.attention, config.heads, cache, layer)
            x = x + mixed
            x = x + mlp(layer_norm(x, *block.mlp_norm, config.eps), block.mlp)
            stores.append(store)
        x = layer_norm(x[..., -1:, :] if last else x, *model.norm, config.eps)
        return linear(x, model.head), Cache(
            cache.length + len(positions), tuple(stores), cache.exact or exact(model)
        )


def initialize(config, vocabulary, width, layers, rng, std=0.02):
    """A model of NumPy arrays to begin training with; head and embedding are tied, F = 4E.

    Matrices are normal with deviation ``std``, those that add to the residual stream with std/√(2L), since 2L
    of them add up (Radford et al. 2019, section 2.3); gains are 1, biases 0. ``rng`` is a
    ``numpy.random.Generator``; TypeError for anything else.
    """
    generator("gpt2.initialize", rng)
    for name, size in {"vocabulary": vocabulary, "width": width, "layers": layers}.items():
        whole("gpt2.initialize", name, size)
    zeros, hidden, residual = (
        np.zeros,
        4 * width,
        number("gpt2.initialize", "std", std) / math.sqrt(2 * layers),
    )

    def norm():
        return LayerNorm(np.ones(width), zeros(width))

    def block():
        query, key, value = rng.normal(scale=std, size=(3, width, width))
        output = rng.normal(scale=residual, size=(width, width))
        up, down = (
            rng.normal(scale=std, size=(width, hidden)),
            rng.normal(scale=residual, size=(hidden, width)),
        )
        attention = Attention(query, key, value, output, *(zeros(width) for _ in range(4)))
        return Block(norm(), attention, norm(), MLP(up, zeros(hidden), down, zeros(width)))

    embedding, positions = (
        rng.normal(scale=std, size=(rows, width)) for rows in (vocabulary, config.context)
    )
    return GPT2(config, embedding, positions, tuple(block() for _ in range(layers)), norm(), embedding.T)
