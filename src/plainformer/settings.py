"""Checks of settings: the plain numbers beside the arrays."""

import contextlib
import functools
import math
import numbers
import operator

import numpy as np


def whole(function, name, value, least=1, most=math.inf):
    """Return ``value`` as an int; ValueError unless it is a whole number from ``least`` to ``most``."""
    with contextlib.suppress(TypeError):
        if not isinstance(value, bool) and least <= operator.index(value) <= most:
            return operator.index(value)
    bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
    raise ValueError(f"{function}: {name} must be a whole number {bounds}, got {value!r}")


def token_ids(function, name, values, vocabulary=math.inf):
    """Return ``values`` as a list of ints; an error that names the first that is no id of the
    ``vocabulary``.
    """
    rows = values.tolist() if hasattr(values, "tolist") else values  # an array's numbers, as Python's
    if not hasattr(rows, "__iter__"):
        raise TypeError(f"{function}: {name} must be a list of token ids, got {values!r}")
    return [whole(function, f"{name}[{i}]", value, 0, vocabulary - 1) for i, value in enumerate(rows)]


def listed(function, name, value):
    """A list of whole numbers as an array; an empty one has no type of its own. ValueError for rows of
    several lengths.
    """
    if not isinstance(value, list | tuple):
        return value
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"{function}: {name} must be whole numbers in rows of one length, got {value!r:.80}"
        ) from None
    return array if array.size else array.astype(int)


def number(function, name, value, low=0.0, high=math.inf, *, above=False, below=False):
    """Return ``value`` as a float; ValueError unless low ≤ value ≤ high.

    With ``above`` also value > low, with ``below`` also value < high. Infinity and NaN are never settings.
    """
    try:
        real = (
            float(value)
            if isinstance(value, (float, numbers.Real)) and not isinstance(value, bool)
            else math.nan
        )
    except OverflowError:  # a whole number of more than 308 digits
        real = math.inf
    if (
        math.isfinite(real)
        and low <= real <= high
        and not (above and real == low)
        and not (below and real == high)
    ):
        return real
    lower = f"greater than {low:g}" if above else f"at least {low:g}"
    upper = "" if high == math.inf else f" and less than {high:g}" if below else f" and at most {high:g}"
    raise ValueError(f"{function}: {name} must be a finite number, {lower}{upper}, got {value!r}")


def generator(function, name, value):
    """Return ``value``; TypeError unless it is a ``numpy.random.Generator``."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(f"{function}: {name} must be a numpy.random.Generator, got {type(value).__name__}")
    return value


def callback(function, name, value):
    """Return ``value``; TypeError unless it can be called."""
    if not callable(value):
        raise TypeError(f"{function}: {name} must be a function, got {type(value).__name__}")
    return value


def one_of(*choices):
    """A check: ValueError unless a setting is one of these words."""

    def check(function, name, value):
        if not isinstance(value, str) or value not in choices:
            expected = " or ".join(f'"{choice}"' for choice in choices)
            raise ValueError(f"{function}: {name} must be {expected}, got {value!r}")
        return value

    return check


positive = functools.partial(number, above=True)


def axis_number(function, name, value):
    """Return ``value`` as an int; ValueError unless it is one. The engines know which axes there are."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{function}: {name} must be a whole number, the place of an axis, got {value!r}")
    return int(value)
