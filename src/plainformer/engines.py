"""The two engines: NumPy, and PyTorch by the names of the Python array API."""

import array_api_compat
import numpy as np


def array_namespace(x):
    """The module with the functions for an array of its kind: ``array_namespace(x).exp(x)``.

    NumPy has the array API's names itself. To say so at once saves a decoded token some two hundred longer
    look-ups.
    """
    return np if isinstance(x, (np.ndarray, np.generic)) else array_api_compat.array_namespace(x)


def on_engine_of(x, array, dtype=None):
    """A NumPy array on the engine and the device of x."""
    if isinstance(x, np.ndarray):
        return np.asarray(array, dtype=dtype)
    xp = array_namespace(x)
    return xp.asarray(array, dtype=dtype, device=array_api_compat.device(x))
