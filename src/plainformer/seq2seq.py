"""The Transformer of 2017: an encoder reads the source, a decoder writes the target (Vaswani et al. 2017).

One attention function serves three times. What differs is who may look at whom: in the encoder every source
position at all of the source, in the decoder every target position at the target so far, and across from
there at all of the source. Post-norm: each result is added to its input, and the sum is normalized.
"""

import math
from typing import Annotated, NamedTuple

from plainformer.activations import relu
from plainformer.attention import Attention, causal_mask, multi_head_attention
from plainformer.embedding import embed
from plainformer.engines import array_namespace, on_engine_of
from plainformer.linear import linear
from plainformer.mlp import MLP, mlp
from plainformer.normalization import LayerNorm, layer_norm
from plainformer.positions import sinusoidal
from plainformer.shapes import Array, shaped


class Config(NamedTuple):
    """The settings that the weights do not tell."""

    heads: int
    eps: float


class EncoderBlock(NamedTuple):
    """One layer of the encoder."""

    attention: Attention
    attention_norm: LayerNorm
    mlp: MLP
    mlp_norm: LayerNorm


class DecoderBlock(NamedTuple):
    """One layer of the decoder: between its own attention and the MLP it attends to what the encoder made."""

    attention: Attention
    attention_norm: LayerNorm
    cross: Attention
    cross_norm: LayerNorm
    mlp: MLP
    mlp_norm: LayerNorm


class Seq2Seq(NamedTuple):
    """The whole model. In the paper the two embeddings and the head are one matrix (section 3.4)."""

    config: Config
    source: Annotated[Array, "(V, E)"]
    target: Annotated[Array, "(V, E)"]
    encoder: tuple[EncoderBlock, ...]
    decoder: tuple[DecoderBlock, ...]
    head: Annotated[Array, "(E, V)?"] = None  # None: tied to the embedding of the target


@shaped("(..., S), T -> (..., T, S)")
def padding_mask(mask, queries):
    """Let every query look at the keys where ``mask`` is True: False marks padding, which fills a batch's
    shorter rows.
    """
    xp = array_namespace(mask)
    return xp.broadcast_to(mask[..., None, :], (*mask.shape[:-1], queries, mask.shape[-1]))


def embed_with_positions(ids, table):
    """The embedding, scaled by √E, plus the sinusoids (sections 3.4 and 3.5)."""
    x = embed(ids, table)
    return x * math.sqrt(x.shape[-1]) + on_engine_of(x, sinusoidal(*x.shape[-2:]), x.dtype)


def encode(source, model, source_mask=None):
    """Read source ids, (..., S), and return a row for each, (..., S, E).

    ``source_mask``, (..., S), is boolean: True for a token, False for padding, which nobody looks at; None:
    no padding.
    """
    heads, eps = settings(model)
    x = embed_with_positions(source, model.source)
    mask = None if source_mask is None else padding_mask(source_mask, x.shape[-2])
    for block in model.encoder:
        x = layer_norm(x + multi_head_attention(x, block.attention, heads, mask), *block.attention_norm, eps)
        x = layer_norm(x + mlp(x, block.mlp, relu), *block.mlp_norm, eps)
    return x


def decode(target, memory, model, source_mask=None):
    """Read target ids, (..., T), and the encoder's rows, (..., S, E); return the logits of the next id, (...,
    T, V).
    """
    heads, eps = settings(model)
    x = embed_with_positions(target, model.target)
    past = causal_mask(x.shape[-2])
    across = None if source_mask is None else padding_mask(source_mask, x.shape[-2])
    for block in model.decoder:
        x = layer_norm(x + multi_head_attention(x, block.attention, heads, past), *block.attention_norm, eps)
        x = layer_norm(
            x + multi_head_attention(x, block.cross, heads, across, memory), *block.cross_norm, eps
        )
        x = layer_norm(x + mlp(x, block.mlp, relu), *block.mlp_norm, eps)
    return linear(x, model.target.T if model.head is None else model.head)


def forward(source, target, model, source_mask=None):
    """The logits, (..., T, V), of what follows each target id, given all source ids. ValueError for ids out
    of range.
    """
    return decode(target, encode(source, model, source_mask), model, source_mask)


def settings(model):
    """The settings of a model; TypeError for a model of another kind."""
    if not isinstance(model, Seq2Seq):
        raise TypeError(f"seq2seq: model must be Seq2Seq(...), got {type(model).__name__}")
    return model.config
