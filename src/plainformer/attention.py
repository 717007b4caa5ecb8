"""Attention: how one token reads the others."""

import math
from typing import Annotated, NamedTuple

import numpy as np
from array_api_compat import device, is_numpy_array

from plainformer.activations import softmax
from plainformer.engines import array_namespace
from plainformer.linear import linear, linears
from plainformer.shapes import Array, shaped


@shaped("(..., T, D), (..., S, D), (..., T, S)? -> (..., T, S)")
def attention_weights(query, key, mask=None):
    """How much each query looks at each key: ``softmax(query @ keyᵀ / √D)``, every row summing to 1.

    The mask is boolean, True where a query may look. A query that may look at nothing gets weights of zero.
    """
    xp = array_namespace(query)
    # Dividing before the product keeps the scores small.
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT
    if mask is not None:
        mask = np.array(mask) if is_numpy_array(mask) else mask  # PyTorch takes no views with negative steps
        mask = xp.asarray(mask, device=device(scores))
        scores = xp.where(mask, scores, -math.inf)
    return softmax(scores)


@shaped("(..., T, D), (..., S, D), (..., S, E), (..., T, S)? -> (..., T, E)")
def attention(query, key, value, mask=None):
    """Mix the values by the weights: ``attention_weights(query, key, mask) @ value`` (Vaswani et al. 2017,
    equation 1).
    """
    return attention_weights(query, key, mask) @ value


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
    """Let each key/value head serve ``times`` query heads: heads 0, 1 become 0, 0, 1, 1 (Ainslie et al.
    2023).
    """
    xp = array_namespace(x)
    return xp.repeat(x, times, axis=-3)


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


class Attention(NamedTuple):
    """Parameters of multi-head attention: H query heads and G key/value heads of width D."""

    query: Annotated[Array, "(E, H*D)"]
    key: Annotated[Array, "(C, G*D)"]
    value: Annotated[Array, "(C, G*D)"]
    output: Annotated[Array, "(H*D, E)"]
    query_bias: Annotated[Array, "(H*D)?"] = None
    key_bias: Annotated[Array, "(G*D)?"] = None
    value_bias: Annotated[Array, "(G*D)?"] = None
    output_bias: Annotated[Array, "(E)?"] = None


@shaped("(..., T, E), Attention, H, (..., T, S)?, (..., S, C)? -> (..., T, E)")
def multi_head_attention(x, params, heads, mask=None, context=None):
    """Let every position of x read all positions of ``context`` (x itself if None), with ``heads`` heads at
    once.

    Fewer key/value heads than query heads are shared in groups (grouped-query attention, Ainslie et al.
    2023). Each head attends in its own slice of width D; the output map mixes the slices (Vaswani et al.
    2017, section 3.2.2). Raises ValueError if the query heads are no multiple of the key/value heads.
    """
    if context is None:
        return multi_head_attention(x, params, heads, mask, x)  # checks the shapes with x as the context
    query, key, value = project(x, context, params, heads)
    return linear(attend_heads(query, key, value, mask), params.output, params.output_bias)


def project(x, context, params, heads):
    """Queries of x, (..., H, T, D), keys and values of the context, (..., G, S, D)."""
    groups = params.key.shape[-1] * heads // params.query.shape[-1]
    if groups == 0 or heads % groups:
        facts = f"heads = {heads} must be a multiple of the key/value heads, G = {groups}"
        raise ValueError(f"multi_head_attention: {facts}")
    weights, biases = (
        (params.query, params.key, params.value),
        (params.query_bias, params.key_bias, params.value_bias),
    )
    if context is x:
        query, key, value = linears(x, weights, biases)
    else:
        query, (key, value) = linear(x, weights[0], biases[0]), linears(context, weights[1:], biases[1:])
    return split_heads(query, heads), split_heads(key, groups), split_heads(value, groups)


@shaped("(..., G*N, T, D), (..., G, S, D), (..., G, S, D), (..., T, S)? -> (..., T, G*N*D)")
def attend_heads(query, key, value, mask=None):
    """Attend in every head and put the results side by side. Each key/value head serves N query heads.

    The same as with ``repeat_heads(key, N)``, but without the copies: the N heads of a group broadcast.
    """
    groups, (heads, positions, width) = key.shape[-3], query.shape[-3:]
    grouped = query.reshape((*query.shape[:-3], groups, heads // groups, positions, width))
    if mask is not None:
        mask = mask[..., None, None, :, :]  # one mask serves all heads: it gets axes where they have theirs
    mixed = attention(grouped, key[..., None, :, :], value[..., None, :, :], mask)
    # A mask may have brought leading axes of its own.
    return merge_heads(mixed.reshape((*mixed.shape[:-4], *query.shape[-3:])))
