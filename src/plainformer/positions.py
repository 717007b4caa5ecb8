"""How order gets in: a signal added to the embedding, or a turn of every query and key."""

import numpy as np

from plainformer.engines import array_namespace, on_engine_of
from plainformer.settings import one_of, positive
from plainformer.shapes import shaped


@shaped("T, E -> (T, E)")
def sinusoidal(length, width):
    """Sine and cosine waves of falling frequency, side by side in pairs (Vaswani et al. 2017, section 3.5). A
    NumPy array.

    Pair i turns by 10000^(-2i/E) a position. Raises ValueError for an odd width.
    """
    if width % 2:
        raise ValueError(f"sinusoidal: width must be even, got {width}")
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)


@shaped("(H, W), T, S -> (H, T, S)")
def relative_bias(table, queries, keys):
    """A number for each head and distance, to be added to the scores (after Shaw et al. 2018; Raffel et al.
    2020).

    The table holds W numbers a head. Column j is for the key j places before the query; the last column is
    for all that are farther back, the first for the query itself and all keys after it. The queries are the
    last positions, as in ``causal_mask``. Raises ValueError for more queries than keys.
    """
    if table.shape[-1] == 0:
        raise ValueError("relative_bias: table must hold at least one number a head, got W = 0")
    if queries > keys:
        raise ValueError(f"relative_bias: queries = {queries} must not exceed keys = {keys}")
    distance = np.arange(keys - queries, keys)[:, None] - np.arange(keys)
    columns = np.clip(distance, 0, table.shape[-1] - 1)
    return table[:, columns]


PAIRING = one_of("neighbours", "halves")


@shaped("(..., T, D), (T) -> (..., T, D)", base=positive, pairing=PAIRING)
def rope(x, positions, base=10000.0, pairing="neighbours"):
    """Turn each query or key by its position, so that positions enter their dot product as a distance.

    Su et al. 2021. Pair i turns by base^(-2i/D) a position. ``pairing`` says which numbers make a pair:
    "neighbours" (0 with 1, 2 with 3: the paper, GGUF files) or "halves" (0 with D/2, 1 with D/2 + 1: Hugging
    Face's files). Raises ValueError for another pairing, an odd width, or a base that is not positive.
    """
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"rope: x must have an even width D, got D = {width}")
    angles = np.asarray(positions)[:, None] * base ** (
        -np.arange(0, width, 2) / width
    )  # (T, D/2), in float64
    cos, sin = on_engine_of(x, np.cos(angles), x.dtype), on_engine_of(x, np.sin(angles), x.dtype)
    if pairing == "neighbours":
        first, second = slice(0, None, 2), slice(1, None, 2)
    else:
        first, second = slice(width // 2), slice(width // 2, None)
    a, b, turned = x[..., first], x[..., second], array_namespace(x).empty_like(x)
    turned[..., first] = a * cos - b * sin
    turned[..., second] = a * sin + b * cos
    return turned
