"""Where a model's parameters are: the ledger of its arrays."""

import math
from typing import NamedTuple

import numpy as np
from array_api_compat import is_torch_array


class Entry(NamedTuple):
    """One array of a model."""

    name: str  # the path to it: "blocks.0.attention.query"
    shape: tuple[int, ...]
    count: int  # how many numbers it holds
    share: float  # of all the model's numbers


def parameter_ledger(model):
    """One ``Entry`` for each array of a model's nested parameter tuples, in their order.

    An array that stands twice, as it is or transposed, is listed where it comes first.
    """
    first = {}
    for name, array in named_arrays(model):
        first.setdefault(place(array), (name, tuple(array.shape), math.prod(array.shape)))
    total = sum(count for _, _, count in first.values())
    return [Entry(name, shape, count, count / total) for name, shape, count in first.values()]


def place(array):
    """Where in memory an array begins: the same for an array and its transpose."""
    return array.data_ptr() if is_torch_array(array) else array.ctypes.data


def named_arrays(parameters, path=""):
    """The arrays of nested parameter tuples with their paths; settings and missing biases are left out."""
    if isinstance(parameters, tuple | list):
        names = getattr(parameters, "_fields", range(len(parameters)))
        return [
            pair for name, part in zip(names, parameters) for pair in named_arrays(part, f"{path}.{name}")
        ]
    return [(path.lstrip("."), parameters)] if is_array(parameters) else []


def is_array(part):
    """Whether a part of a model is an array; False for a setting and None. Anything else would be passed
    over: TypeError.
    """
    array = isinstance(part, np.ndarray) or is_torch_array(part)
    if not array and not isinstance(part, (type(None), str, int, float, np.generic)):
        raise TypeError(
            f"model must hold arrays, settings, None, and tuples or lists of them, got {type(part).__name__}"
        )
    return array
