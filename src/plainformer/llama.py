"""Llama's decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU (Touvron et al. 2023)."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from plainformer.attention import Attention
from plainformer.cache import Cache, begin, cached_attention, exact
from plainformer.embedding import embed
from plainformer.linear import linear
from plainformer.mlp import SwiGLU, swiglu
from plainformer.normalization import rms_norm
from plainformer.positions import rotate, rotations
from plainformer.settings import generator, number, whole
from plainformer.shapes import Array, trusted


class Config(NamedTuple):
    """The settings that the weights do not tell."""

    context: int  # the longest sequence
    heads: int
    eps: float
    base: float  # of the rotary angles
    pairing: str  # "neighbours" or "halves", see positions.rope


class Block(NamedTuple):
    """One of the L layers."""

    attention_norm: Annotated[Array, "(E)"]
    attention: Attention
    mlp_norm: Annotated[Array, "(E)"]
    mlp: SwiGLU


class Llama(NamedTuple):
    """The whole model. Where embedding and head are tied, the head is a view of the embedding."""

    config: Config
    embedding: Annotated[Array, "(V, E)"]
    blocks: tuple[Block, ...]
    norm: Annotated[Array, "(E)"]
    head: Annotated[Array, "(E, V)"]


def forward(ids, model, cache=None, last=False):
    """Read token ids, (..., T), and return the logits of what comes next, (..., T, V), and the cache to go on
    with.

    ``cache`` holds the positions read before; ``last`` gives the logits of the last position only, (..., 1,
    V). Raises ValueError for ids out of range, more tokens than the context, and a cache that another model
    or batch has made, TypeError for another kind of model or cache.
    """
    cache, positions = begin("llama.forward", ids, model, Llama, cache)
    config, stores = model.config, []
    x = embed(ids, model.embedding)
    cos, sin = rotations(positions, model.blocks[0].attention.query.shape[-1] // config.heads, config.base, x)
    with trusted(cache.exact):
        for layer, block in enumerate(model.blocks):
            normed = rms_norm(x, block.attention_norm, config.eps)
            mixed, store = cached_attention(
                normed,
                block.attention,
                config.heads,
                cache,
                layer,
                lambda rows: rotate(rows, cos, sin, config.pairing),
            )
            x = x + mixed
            x = x + swiglu(rms_norm(x, block.mlp_norm, config.eps), block.mlp)
            stores.append(store)
        x = rms_norm(x[..., -1:, :] if last else x, model.norm, config.eps)
        return linear(x, model.head), Cache(
            cache.length + len(positions), tuple(stores), cache.exact or exact(model)
        )


def initialize(config, vocabulary, width, layers, hidden, groups, rng, std=0.02):
    """A model of NumPy arrays to begin training with; head and embedding are tied; ``groups`` key/value
    heads.

    Matrices are normal with deviation ``std``, those that add to the residual stream with std/√(2L), as in
    ``gpt2.initialize``; gains are 1. ``rng`` is a ``numpy.random.Generator``; TypeError for anything else.
    """
    generator("llama.initialize", rng)
    for name, size in {
        "vocabulary": vocabulary,
        "width": width,
        "layers": layers,
        "hidden": hidden,
        "groups": groups,
    }.items():
        whole("llama.initialize", name, size)
    residual, keys = (
        number("llama.initialize", "std", std) / math.sqrt(2 * layers),
        width // config.heads * groups,
    )

    def matrix(rows, columns, std=std):
        return rng.normal(scale=std, size=(rows, columns))

    def block():
        query, key, value = matrix(width, width), matrix(width, keys), matrix(width, keys)
        attention = Attention(query, key, value, matrix(width, width, residual))
        mlp = SwiGLU(matrix(width, hidden), matrix(width, hidden), matrix(hidden, width, residual))
        return Block(np.ones(width), attention, np.ones(width), mlp)

    embedding = matrix(vocabulary, width)
    return Llama(config, embedding, tuple(block() for _ in range(layers)), np.ones(width), embedding.T)
