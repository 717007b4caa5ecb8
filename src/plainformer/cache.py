"""The key/value cache: what every position has computed once and later positions read again."""

from typing import Annotated, NamedTuple

import numpy as np

from plainformer.attention import Attention, attend_heads, causal_mask, project
from plainformer.engines import array_namespace, on_engine_of
from plainformer.linear import linear
from plainformer.settings import listed, whole
from plainformer.shapes import Array, shaped


class Kept(NamedTuple):
    """What one layer has kept of the S positions it has read: a key and a value in each key/value head."""

    keys: Annotated[Array, "(..., G, S, D)"]
    values: Annotated[Array, "(..., G, S, D)"]


def keep(past, keys, values):
    """What was kept before, and behind it the new keys and values, (..., G, T, D). ``past`` stays as it was.

    Raises ValueError for a past of another batch.
    """
    if past is None:
        return Kept(keys, values)
    if past.keys.shape[:-2] != keys.shape[:-2]:
        old, new = tuple(past.keys.shape[:-2]), tuple(keys.shape[:-2])
        facts = f"it holds keys with the leading axes {old}, the new ones have {new}"
        raise ValueError(f"cache: {facts}: was it made by another model or batch?")
    xp = array_namespace(keys)
    return Kept(xp.concat([past.keys, keys], axis=-2), xp.concat([past.values, values], axis=-2))


def length(past):
    """How many positions were kept."""
    return 0 if past is None else past.keys.shape[-2]


@shaped("(..., T, E), Attention(C=E), H, Kept? -> (..., T, E), (..., G, S+T, D), (..., G, S+T, D)")
def causal_attention(x, params: Attention, heads, past: Kept | None = None, turn=None):
    """Multi-head attention of new rows to themselves and to all positions before them.

    ``past`` is what this layer kept of those before. Returns the rows and the Kept to go on with.
    ``turn(rows, positions)`` is applied to queries and keys before they are compared: the rotary positions.
    """
    query, key, value = project(x, x, params, heads)
    if turn is not None:
        positions = np.arange(length(past), length(past) + x.shape[-2])
        query, key = turn(query, positions), turn(key, positions)
    kept = keep(past, key, value)
    mask = on_engine_of(x, causal_mask(x.shape[-2], length(kept)))
    return linear(attend_heads(query, *kept, mask), *params.output), kept


def begin(function, ids, model, kind, cache):
    """What a forward pass begins with: what each layer has kept, and the positions of the ids, (T,).

    Raises TypeError for a model that is not of the class ``kind`` and for what is no cache, ValueError for a
    cache of another depth, for no ids, and for more of them than the context holds.
    """
    if not isinstance(model, kind):
        raise TypeError(f"{function}: model must be {kind.__name__}(...), got {type(model).__name__}")
    layers = whole(function, "the count of blocks", len(model.blocks))
    if cache is None:
        cache = (None,) * layers
    if not isinstance(cache, tuple) or not all(isinstance(past, Kept | None) for past in cache):
        raise TypeError(
            f"{function}: cache must be what forward returned, or None, got {type(cache).__name__}"
        )
    if len(cache) != layers:
        raise ValueError(f"{function}: cache has {len(cache)} layers, the model {layers}: they must be equal")
    ids = listed(function, "ids", ids)
    return cache, next_positions(function, ids, length(cache[0]), model.config.context)


def next_positions(function, ids, start, context):
    """The positions, (T,), of ids after ``start`` others; ValueError for none, or more than the context."""
    tokens = np.shape(ids)[-1] if np.ndim(ids) else 0
    if tokens == 0:
        raise ValueError(f"{function}: ids must hold at least one token, got shape {tuple(np.shape(ids))}")
    end = start + tokens
    if end > context:
        raise ValueError(f"{function}: {end} tokens do not fit into the model's context of {context}")
    return np.arange(start, end)
