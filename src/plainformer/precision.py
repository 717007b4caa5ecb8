"""In which precision a function computes: the widest float that came in, and never less than 32 bits.

Half precision (float16, bfloat16) is computed in float32 and comes back in its own dtype; whole numbers are
computed in the engine's default float. Both engines follow the one rule.
"""

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

from plainformer.engines import array_namespace

SELECTING = ("mask", "ids", "positions")  # arrays that select; all others are computed with
UNLIKE_ARRAYS = (
    np.matrix,
    np.ma.MaskedArray,
)  # * of a matrix is no product of elements; masks are lost on the way


class Precision(NamedTuple):
    """What a call does with its arrays."""

    xp: Any = None  # the engine's functions
    compute: Any = None  # the dtype to compute in; None: the arrays have it
    result: Any = None  # the dtype to return; None: as it was computed
    moved: bool = False  # whether a mask comes from NumPy while the numbers are tensors

    def cast(self, arguments, flat):
        """The arguments as the function takes them."""
        if self.compute is None and not self.moved:
            return flat
        where = next(device(v) for a, v in zip(arguments, flat) if numbers(a, v))
        cast = [self.converted(v) if numbers(a, v) else v for a, v in zip(arguments, flat)]
        masks = [is_numpy_array(v) and a.name == "mask" and self.moved for a, v in zip(arguments, flat)]
        # A copy: PyTorch takes no views with negative steps, and none that cannot be written to.
        return [self.xp.asarray(np.array(v), device=where) if m else v for m, v in zip(masks, cast)]

    def converted(self, array):
        """An array in the dtype to compute in."""
        return array if self.compute is None else self.xp.astype(array, self.compute, copy=False)

    def back(self, value):
        """A result, or several, in the dtype to return."""
        if self.result is None or value is None:
            return value
        if isinstance(value, tuple):
            parts = [self.back(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return self.xp.astype(value, self.result, copy=False)


def numbers(argument, value):
    """Whether the value of an argument is an array that is computed with."""
    return hasattr(value, "dtype") and not argument.check and argument.name not in SELECTING


def precision(function, arrays):
    """The Precision for these (name, array) pairs. TypeError for what is no array, holds no real numbers, or
    belongs to another engine than the first."""
    for name, value in arrays:
        if not (is_numpy_array(value) or is_torch_array(value)) or isinstance(value, UNLIKE_ARRAYS):
            kind = type(value).__name__
            raise TypeError(f"{function}: {name} must be a NumPy array or a PyTorch tensor, got {kind}")
        selecting(function, name, value)
    computed = [(name, value) for name, value in arrays if name not in SELECTING]
    if not computed:
        return Precision()
    first, value = computed[0]
    xp = array_namespace(value)
    for name, other in computed:
        if array_namespace(other) is not xp:
            facts = f"{name} is {type(other).__name__}, {first} is {type(value).__name__}"
            raise TypeError(f"{function}: {facts}: use one engine for both")
        if not xp.isdtype(other.dtype, ("real floating", "integral")):
            raise TypeError(f"{function}: {name} must hold real numbers, got {other.dtype}")
    moved = not is_numpy_array(value) and any(is_numpy_array(mask) for name, mask in arrays if name == "mask")
    return Precision(xp, *chosen(xp, {value.dtype for _, value in computed}), moved)


def chosen(xp, dtypes):
    """The dtype to compute in and the one to return, each None where nothing is to convert."""
    floats = [dtype for dtype in dtypes if xp.isdtype(dtype, "real floating")]
    result = xp.result_type(*floats) if floats else xp.asarray(0.0).dtype
    compute = xp.float32 if xp.finfo(result).bits == 16 else result
    return compute if dtypes != {compute} else None, result if result != compute else None


def selecting(function, name, value):
    """TypeError for a mask that is not boolean, and for ids or positions that are no whole numbers."""
    xp = array_namespace(value)
    if name == "mask" and not xp.isdtype(value.dtype, "bool"):
        raise TypeError(f"{function}: mask must be boolean (True = may look), got {value.dtype}")
    if name in ("ids", "positions") and not xp.isdtype(value.dtype, "integral"):
        raise TypeError(f"{function}: {name} must be whole numbers, got {value.dtype}")
