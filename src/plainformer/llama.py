"""Llama's decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU (Touvron et al. 2023)."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from plainformer.attention import Attention
from plainformer.cache import Kept, begin, causal_attention
from plainformer.embedding import embed
from plainformer.linear import Linear, linear
from plainformer.mlp import SwiGLU, swiglu
from plainformer.normalization import rms_norm
from plainformer.positions import PAIRING, rope
from plainformer.settings import generator, number, positive, whole
from plainformer.shapes import Array, shaped


class Config(NamedTuple):
    """The settings that the weights do not tell."""

    context: Annotated[int, whole]  # the longest sequence
    heads: Annotated[int, "H"]
    eps: Annotated[float, number]
    base: Annotated[float, positive]  # of the rotary angles
    pairing: Annotated[str, PAIRING]  # "neighbours" or "halves", see positions.rope


class Block(NamedTuple):
    """One of the L layers."""

    attention_norm: Annotated[Array, "(E)"]
    attention: Annotated[Attention, "C=E"]
    mlp_norm: Annotated[Array, "(E)"]
    mlp: SwiGLU


class Llama(NamedTuple):
    """The whole model."""

    config: Config
    embedding: Annotated[Array, "(V, E)"]
    blocks: tuple[Block, ...]
    norm: Annotated[Array, "(E)"]
    head: Annotated[Array, "(E, V)?"] = None  # None: tied to the embedding, which is then the head too


def forward(ids, model, cache=None, last=False):
    """Read token ids, (..., T); return the logits of what comes next, (..., T, V), and the cache to go on
    with.

    ``cache`` is what an earlier call returned: it holds the positions before these. ``last`` gives the logits
    of the last position only, (..., 1, V). Raises ValueError for ids out of range, more tokens than the
    context, and the cache of another model or batch, TypeError for another kind of model or cache.
    """
    cache, _ = begin("llama.forward", ids, model, Llama, cache)
    x = embed(ids, model.embedding)
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

    def turn(rows, positions):
        return rope(rows, positions, config.base, config.pairing)

    normed = rms_norm(x, params.attention_norm, config.eps)
    mixed, kept = causal_attention(normed, params.attention, config.heads, past, turn)
    x = x + mixed
    x = x + swiglu(rms_norm(x, params.mlp_norm, config.eps), params.mlp)
    return x, kept


def logits(x, model):
    """What rows of the stream, (..., E), say of the next token, (..., V): the last norm, then the head."""
    x = rms_norm(x, model.norm, model.config.eps)
    return linear(x, model.embedding.T if model.head is None else model.head)


def initialize(config, vocabulary, width, layers, hidden, groups, rng, std=0.02):
    """A model of NumPy arrays to begin training with, its head tied, with ``groups`` key/value heads.

    Matrices are normal with deviation ``std``, those that add to the residual stream with std/√(2L), as in
    ``gpt2.initialize``; gains are 1. ``rng`` is a ``numpy.random.Generator``; TypeError for anything else,
    ValueError for sizes that do not fit.
    """
    generator("llama.initialize", "rng", rng)
    sizes = {"vocabulary": vocabulary, "width": width, "layers": layers, "hidden": hidden, "groups": groups}
    for name, size in {**sizes, "config.heads": config.heads}.items():
        whole("llama.initialize", name, size)
    if width % config.heads or config.heads % groups:
        facts = f"width = {width}, config.heads = {config.heads} and groups = {groups}"
        raise ValueError(f"llama.initialize: {facts}: each must be a multiple of the next")
    residual = number("llama.initialize", "std", std) / math.sqrt(2 * layers)
    keys = width // config.heads * groups
    embedding = rng.normal(scale=std, size=(vocabulary, width))
    blocks = tuple(random_block(width, keys, hidden, std, residual, rng) for _ in range(layers))
    return Llama(config, embedding, blocks, np.ones(width))


def random_block(width, keys, hidden, std, residual, rng):
    """A block to begin training with; the maps that add to the stream have the deviation ``residual``."""

    def matrix(rows, columns, std=std):
        return rng.normal(scale=std, size=(rows, columns))

    maps = matrix(width, width), matrix(width, keys), matrix(width, keys), matrix(width, width, residual)
    mlp = SwiGLU(matrix(width, hidden), matrix(width, hidden), matrix(hidden, width, residual))
    return Block(np.ones(width), Attention(*map(Linear, maps)), np.ones(width), mlp)
