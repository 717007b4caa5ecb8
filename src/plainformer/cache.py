"""The key/value cache: what every position has computed once and later positions read again."""
from typing import NamedTuple

import numpy as np
from array_api_compat import device

from plainformer.attention import attend_heads, causal_mask, project
from plainformer.engines import array_namespace
from plainformer.linear import linear
from plainformer.shapes import Array


class Store(NamedTuple):
    """Room for the keys and values of one layer. ``written`` holds one number: how many positions are filled."""
    keys: Array  # (..., G, capacity, D)
    values: Array  # (..., G, capacity, D)
    written: list


class Cache(NamedTuple):
    """The stores of all layers, and how many positions this cache has read.

    A cache is a value: going on from it gives a new one and leaves it as it was, so that one prompt can be continued in
    several ways. Continuations share their arrays as far as they can.
    """
    length: int = 0
    stores: tuple[Store, ...] = ()

    def store(self, layer):
        """The store of one layer; None before the first tokens."""
        return self.stores[layer] if self.stores else None


def append(store, length, keys, values):
    """Add keys and values, (..., G, T, D), after the first ``length`` positions; return the store to go on with."""
    end = length + keys.shape[-2]
    if length == 0:
        return Store(keys, values, [end])
    if store.written[0] != length or end > store.keys.shape[-2]:
        # The room is used up, or another continuation has written behind these positions: move out.
        room = max(64, 2 * end)
        store = Store(enlarged(store.keys, length, room), enlarged(store.values, length, room), [length])
    store.keys[..., length:end, :] = keys
    store.values[..., length:end, :] = values
    store.written[0] = end
    return store


def enlarged(array, length, room):
    """A copy of the first ``length`` positions, with room for ``room`` positions in all."""
    xp = array_namespace(array)
    larger = xp.zeros((*array.shape[:-2], room, array.shape[-1]), dtype=array.dtype, device=device(array))
    larger[..., :length, :] = array[..., :length, :]
    return larger


def cached_attention(x, params, heads, cache, layer, turn=None):
    """Causal multi-head attention of new rows x, (..., T, E), to themselves and all positions in the cache.

    ``turn`` is applied to queries and keys before they are compared: the rotary positions. Returns the rows, (..., T, E),
    and the layer's store with the new keys and values.
    """
    query, key, value = project(x, x, params, heads)
    if turn is not None:
        query, key = turn(query), turn(key)
    end = cache.length + x.shape[-2]
    store = append(cache.store(layer), cache.length, key, value)
    mask = causal_mask(x.shape[-2], end) if x.shape[-2] > 1 else None
    mixed = attend_heads(query, store.keys[..., :end, :], store.values[..., :end, :], mask)
    return linear(mixed, params.output, params.output_bias), store


def next_positions(function, ids, cache, context):
    """The positions, (T,), of ids that come after the cache. ValueError if there are none, or more than the context."""
    tokens = np.shape(ids)[-1] if np.ndim(ids) else 0
    if tokens == 0:
        raise ValueError(f"{function}: ids must hold at least one token, got shape {tuple(np.shape(ids))}")
    end = cache.length + tokens
    if end > context:
        raise ValueError(f"{function}: {end} tokens do not fit into the model's context of {context}")
    return np.arange(cache.length, end)
