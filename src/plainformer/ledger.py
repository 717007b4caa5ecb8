"""Where a model's parameters are: the ledger of its arrays."""
import math
from typing import NamedTuple

from array_api_compat import is_torch_array


class Entry(NamedTuple):
    """One array of a model."""
    name: str  # the path to it: "blocks.0.attention.query"
    shape: tuple[int, ...]
    count: int  # how many numbers it holds
    share: float  # of all the model's numbers


def parameter_ledger(model):
    """One ``Entry`` for each array of a model's nested parameter tuples, in their order.

    An array that serves twice, such as an embedding that is the head too, is listed where it comes first.
    """
    arrays = {}
    for name, array in named_arrays(model):
        arrays.setdefault(memory(array), (name, tuple(array.shape), math.prod(array.shape)))
    total = sum(count for _, _, count in arrays.values())
    return [Entry(name, shape, count, count / total) for name, shape, count in arrays.values()]


def named_arrays(parameters, path=""):
    """The arrays of nested parameter tuples with their paths; settings and missing biases are left out."""
    if isinstance(parameters, tuple):
        names = getattr(parameters, "_fields", range(len(parameters)))
        return [pair for name, part in zip(names, parameters) for pair in named_arrays(part, f"{path}.{name}")]
    return [(path.lstrip("."), parameters)] if hasattr(parameters, "shape") else []


def memory(array):
    """What two arrays with the same numbers in the same place have in common: address and count."""
    if is_torch_array(array):
        return array.data_ptr(), array.numel()
    return array.ctypes.data, array.size
