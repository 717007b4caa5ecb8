"""Attention: how one token reads the others."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from plainformer.activations import softmax
from plainformer.engines import array_namespace
from plainformer.linear import Linear, linear
from plainformer.shapes import shaped


@shaped("(..., T, D), (..., S, D), (..., T, S)? -> (..., T, S)")
def attention_weights(query, key, mask=None):
    """How much each query looks at each key: ``softmax(query @ keyᵀ / √D)``, every row summing to 1.

    The mask is boolean, True where a query may look. A query that may look at nothing gets weights of zero.
    """
    xp = array_namespace(query)
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT  # divided first, so that no product overflows
    if mask is not None:
        scores = xp.where(mask, scores, -math.inf)
    return softmax(scores)


@shaped("(..., T, D), (..., S, D), (..., S, E), (..., T, S)? -> (..., T, E)")
def attention(query, key, value, mask=None):
    """Mix the values by the weights: ``attention_weights(query, key, mask) @ value``.

    Vaswani et al. 2017, equation 1.
    """
    return attention_weights(query, key, mask) @ value


@shaped("T, S? -> (T, S)")
def causal_mask(queries, keys=None):
    """A NumPy mask in which each position may look at itself and at what came before it.

    With more keys than queries the queries are the last positions, as in decoding with a cache.
    Raises ValueError for more queries than keys: the first ones would have nothing to look at.
    """
    keys = queries if keys is None else keys
    if queries > keys:
        raise ValueError(f"causal_mask: queries = {queries} must not exceed keys = {keys}")
    return np.arange(keys) <= np.arange(keys - queries, keys)[:, None]


@shaped("(..., T, H*D), H -> (..., H, T, D)")
def split_heads(x, heads):
    """Cut each row into ``heads`` pieces of width D and put the heads before the positions."""
    return x.reshape((*x.shape[:-1], heads, x.shape[-1] // heads)).swapaxes(-2, -3)


@shaped("(..., H, T, D) -> (..., T, H*D)")
def merge_heads(x):
    """Put the pieces of each row side by side again: the inverse of ``split_heads``."""
    rows = x.swapaxes(-3, -2)
    return rows.reshape((*rows.shape[:-2], rows.shape[-2] * rows.shape[-1]))


@shaped("(..., G, S, D), N -> (..., G*N, S, D)")
def repeat_heads(x, times):
    """Let each key/value head serve ``times`` query heads: 0, 1 become 0, 0, 1, 1 (Ainslie et al. 2023)."""
    return x if times == 1 else array_namespace(x).repeat(x, times, axis=-3)


class Attention(NamedTuple):
    """Parameters of multi-head attention: H query heads and G key/value heads of width D."""

    query: Annotated[Linear, "(E, H*D)"]
    key: Annotated[Linear, "(C, G*D)"]
    value: Annotated[Linear, "(C, G*D)"]
    output: Annotated[Linear, "(H*D, E)"]


@shaped("(..., T, E), Attention, H, (..., T, S)?, (..., S, C)=x -> (..., T, E)")
def multi_head_attention(x, params, heads, mask=None, context=None):
    """Let every position of x read all positions of ``context`` (x itself if None), in several heads at once.

    Each head attends in its own slice of width D, and the output map mixes the slices (Vaswani et al. 2017,
    section 3.2.2). Fewer key/value heads than query heads are shared in groups (Ainslie et al. 2023).
    Raises ValueError if the query heads are no multiple of the key/value heads.
    """
    context = x if context is None else context
    query, key, value = project(x, context, params, heads)
    mixed = attend_heads(query, key, value, mask)
    return linear(mixed, *params.output)


@shaped("(..., T, E), (..., S, C), Attention, H -> (..., H, T, D), (..., G, S, D), (..., G, S, D)")
def project(x, context, params, heads):
    """Queries of x, keys and values of the context: three linear maps, each cut into heads."""
    groups = key_value_heads(params, heads)
    query = split_heads(linear(x, *params.query), heads)  # (..., H, T, D)
    key = split_heads(linear(context, *params.key), groups)  # (..., G, S, D)
    value = split_heads(linear(context, *params.value), groups)  # (..., G, S, D)
    return query, key, value


@shaped("(..., G*N, T, D), (..., G, S, D), (..., G, S, D), (..., T, S)? -> (..., T, G*N*D)")
def attend_heads(query, key, value, mask=None):
    """Attend in every head and put the results side by side. Each key/value head serves N query heads."""
    times = query.shape[-3] // key.shape[-3]
    key, value = repeat_heads(key, times), repeat_heads(value, times)  # (..., H, S, D)
    mask = None if mask is None else mask[..., None, :, :]  # one mask for all heads
    return merge_heads(attention(query, key, value, mask))


def key_value_heads(params, heads):
    """G, which the weights tell. ValueError if the query heads are no multiple of it."""
    groups = params.key.weight.shape[-1] * heads // params.query.weight.shape[-1]
    if groups == 0 or heads % groups:
        facts = f"heads = {heads} must be a multiple of the key/value heads, G = {groups}"
        raise ValueError(f"multi_head_attention: {facts}")
    return groups
