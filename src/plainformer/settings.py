"""Checks of settings: the plain numbers beside the arrays."""
import math
import numbers
import operator


def whole(function, name, value):
    """Return ``value`` as an int; ValueError unless it is a whole number of at least 1."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{function}: {name} must be a whole number of at least 1, got {value!r}")
    return number


def number(function, name, value, low=0.0, high=math.inf, *, above=False, below=False):
    """ValueError unless low ≤ value ≤ high; with ``above`` also value > low, with ``below`` also value < high.

    Infinity and NaN are never settings.
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    if real and low <= value <= high and not (above and value == low) and not (below and value == high):
        return
    lower = f"greater than {low:g}" if above else f"at least {low:g}"
    upper = "" if high == math.inf else f" and less than {high:g}" if below else f" and at most {high:g}"
    raise ValueError(f"{function}: {name} must be a finite number, {lower}{upper}, got {value!r}")
