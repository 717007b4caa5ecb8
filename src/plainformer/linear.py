"""The linear map: what one weight matrix does to each row."""

import itertools

import numpy as np
from numpy.lib.stride_tricks import as_strided

from plainformer.shapes import shaped


@shaped("(..., E), (E, F), (F)? -> (..., F)")
def linear(x, weight, bias=None):
    """Map every row of width E to a row of width F: ``x @ weight + bias``.

    Output component j is the dot product of the row with column j of the weight. Rows do not see one another.
    """
    y = x @ weight
    return y if bias is None else y + bias


def linears(x, weights, biases):
    """Several linear maps of the same rows, ``[linear(x, weight, bias), ...]``, in one product where that is
    possible.

    It is where the weights lie side by side in memory: one wide matrix is read faster than several narrow
    ones.
    """
    wide = side_by_side(weights)
    if wide is None:
        return [linear(x, weight, bias) for weight, bias in zip(weights, biases)]
    y, ends = linear(x, wide), itertools.accumulate(weight.shape[1] for weight in weights)
    parts = [y[..., end - weight.shape[1] : end] for weight, end in zip(weights, ends)]
    return [part if bias is None else part + bias for part, bias in zip(parts, biases)]


def side_by_side(weights):
    """The matrix (E, F1 + F2 + ...) whose columns are these matrices, (E, F1), (E, F2), ...: a view, nothing
    is copied.

    None unless they are NumPy arrays that lie so in memory.
    """
    first, place, width = weights[0], None, 0
    for weight in weights:
        if type(weight) is not np.ndarray or weight.dtype != first.dtype or len(weight) != len(first):
            return None
        start = weight.__array_interface__["data"][0]
        if weight.strides != first.strides or start != (place or start):
            return None
        place, width = start + weight.shape[1] * weight.strides[1], width + weight.shape[1]
    return as_strided(first, (len(first), width), first.strides, writeable=False)
