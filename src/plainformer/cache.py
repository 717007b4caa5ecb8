"""The key/value cache: what every position has computed once and later positions read again."""

import threading
from typing import NamedTuple

import numpy as np
from array_api_compat import device

from plainformer.attention import attend_heads, causal_mask, project
from plainformer.engines import array_namespace
from plainformer.ledger import named_arrays
from plainformer.linear import linear
from plainformer.settings import listed, whole
from plainformer.shapes import Array

LOCK = threading.Lock()


class Store(NamedTuple):
    """Room for the keys and values of one layer. ``written`` holds one number: how many positions are
    filled.
    """

    keys: Array  # (..., G, capacity, D)
    values: Array  # (..., G, capacity, D)
    written: list


class Cache(NamedTuple):
    """The stores of all layers, and how many positions this cache has read.

    A cache is a value: going on from it gives a new one and leaves it as it was, so that one prompt can be
    continued in several ways. Continuations share their arrays as far as they can.
    """

    length: int = 0
    stores: tuple[Store, ...] = ()
    exact: bool = (
        False  # whether all of the model is of one precision in which to compute, as its first pass has found
    )

    def store(self, layer):
        """The store of one layer; None before the first tokens."""
        return self.stores[layer] if self.stores else None


def append(store, length, keys, values):
    """Add keys and values, (..., G, T, D), after the first ``length`` positions; return the store to go on
    with.

    Raises ValueError unless they are like those in the store.
    """
    end = length + keys.shape[-2]
    if length == 0:
        return Store(keys, values, [end])
    old, new = (
        (type(array).__name__, array.dtype, *array.shape[:-2], array.shape[-1])
        for array in (store.keys, keys)
    )
    if old != new:
        raise ValueError(
            f"cache: it holds keys of {old}, the new ones are {new}: was it made by another model or batch?"
        )
    # Where gradients flow, nothing is written over.
    fits = end <= store.keys.shape[-2] and not getattr(keys, "requires_grad", False)
    with LOCK:  # one continuation alone may have the room behind these positions
        fits = fits and store.written[0] == length
        if fits:
            store.written[0] = end
    if not fits:
        room = max(64, 2 * end)
        return Store(
            enlarged(store.keys, length, keys, room), enlarged(store.values, length, values, room), [end]
        )
    store.keys[..., length:end, :] = keys
    store.values[..., length:end, :] = values
    return store


def enlarged(array, length, new, room):
    """A copy of the first ``length`` positions and the new ones, with room for ``room`` positions in all."""
    xp = array_namespace(array)
    rest = (*array.shape[:-2], room - length - new.shape[-2], array.shape[-1])
    return xp.concat(
        [array[..., :length, :], new, xp.zeros(rest, dtype=array.dtype, device=device(array))], axis=-2
    )


def cached_attention(x, params, heads, cache, layer, turn=None):
    """Causal multi-head attention of new rows x, (..., T, E), to themselves and all positions in the cache.

    ``turn`` is applied to queries and keys before they are compared: the rotary positions. Returns the rows,
    (..., T, E), and the layer's store with the new keys and values.
    """
    query, key, value = project(x, x, params, heads)
    if turn is not None:
        query, key = turn(query), turn(key)
    end = cache.length + x.shape[-2]
    store = append(cache.store(layer), cache.length, key, value)
    mask = causal_mask(x.shape[-2], end) if x.shape[-2] > 1 else None
    mixed = attend_heads(query, store.keys[..., :end, :], store.values[..., :end, :], mask)
    return linear(mixed, params.output, params.output_bias), store


def begin(function, ids, model, kind, cache):
    """What a forward pass begins with: the cache, an empty one for None, and the positions of the ids, (T,).

    Raises TypeError for a model that is not of the class ``kind`` and for what is no cache, ValueError for a
    cache of another depth, for no ids, and for more of them than the context holds.
    """
    if not isinstance(model, kind):
        raise TypeError(f"{function}: model must be {kind.__name__}(...), got {type(model).__name__}")
    whole(function, "config.heads", model.config.heads)
    whole(function, "the count of blocks", len(model.blocks))
    cache = Cache() if cache is None else cache
    if not isinstance(cache, Cache):
        raise TypeError(f"{function}: cache must be a Cache or None, got {type(cache).__name__}")
    if cache.stores and len(cache.stores) != len(model.blocks):
        facts = f"cache has {len(cache.stores)} layers, the model {len(model.blocks)}"
        raise ValueError(f"{function}: {facts}: they must be equal")
    return cache, next_positions(function, listed(function, "ids", ids), cache, model.config.context)


def next_positions(function, ids, cache, context):
    """The positions, (T,), of ids that come after the cache. ValueError if there are none, or more than the
    context.
    """
    tokens = np.shape(ids)[-1] if np.ndim(ids) else 0
    if tokens == 0:
        raise ValueError(f"{function}: ids must hold at least one token, got shape {tuple(np.shape(ids))}")
    end = cache.length + tokens
    if end > context:
        raise ValueError(f"{function}: {end} tokens do not fit into the model's context of {context}")
    return np.arange(cache.length, end)


def exact(model):
    """Whether all arrays of a model have one precision, of at least 32 bits: then nothing is ever to be
    converted.
    """
    dtypes, xp = {array.dtype for _, array in named_arrays(model)}, array_namespace(model.embedding)
    return len(dtypes) == 1 and all(
        xp.isdtype(dtype, "real floating") and xp.finfo(dtype).bits >= 32 for dtype in dtypes
    )
